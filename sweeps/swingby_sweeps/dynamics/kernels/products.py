"""Products of matrices whose entries are vectors over sixteen cells: rows of points or errors, columns of weights.

Eight sums at a time are held in registers. Each sum is taken in the order of its terms, whatever the sizes.
"""

from __future__ import annotations

from typing import Any

from numba import njit

from .vector import add, add_product, less, load, passed, positive, store, zero

PLAIN, HIDDEN, ERROR, DOWN = range(4)
"""What becomes of a product: itself; a rectified unit; less the target; an error that passes where a unit is active."""


@njit(cache=True, nogil=True, error_model="numpy")
def products(
    A: Any, a: int, row: int, P: Any, w: int, across: int, along: int, b: int, inner: int, out: int,
    M: Any, to: int, count: int, kind: int, T: Any, t: int, width: int, s: int,
) -> None:  # fmt: skip
    """A product of `count` rows with `out` columns of weights, each `inner` long, to place `to` of M: (count, out).

    Rows lie at place a of A, one every `row` places; weight i of column o at w + o across + i along of P, and the
    offset of column o at b + o, where b >= 0. `kind` says what becomes of an entry; what that takes (targets of the s
    first outputs, units that pass errors) lies at place t of T, one row every `width` places.

    Two columns of four rows at a time; of an odd number of columns the last is computed twice.
    """
    for o in range(0, out, 2):
        u = min(o + 1, out - 1)
        one, two = w + o * across, w + u * across
        for n in range(0, count, 4):
            i, j, k, m = a + n * row, a + (n + 1) * row, a + (n + 2) * row, a + (n + 3) * row
            x0 = load(P, b + o) if b >= 0 else zero(P)
            y0 = load(P, b + u) if b >= 0 else zero(P)
            x1, x2, x3, y1, y2, y3 = x0, x0, x0, y0, y0, y0
            for r in range(inner):
                p, q, h = load(P, one + r * along), load(P, two + r * along), load(A, i + r)
                x0, y0, h = add_product(x0, h, p), add_product(y0, h, q), load(A, j + r)
                x1, y1, h = add_product(x1, h, p), add_product(y1, h, q), load(A, k + r)
                x2, y2, h = add_product(x2, h, p), add_product(y2, h, q), load(A, m + r)
                x3, y3 = add_product(x3, h, p), add_product(y3, h, q)
            i = t + n * width
            j, k, m = i + width, i + 2 * width, i + 3 * width
            if kind == HIDDEN:
                x0, x1, x2, x3 = positive(x0), positive(x1), positive(x2), positive(x3)
                y0, y1, y2, y3 = positive(y0), positive(y1), positive(y2), positive(y3)
            elif kind == DOWN:
                x0, x1 = passed(x0, load(T, i + o)), passed(x1, load(T, j + o))
                x2, x3 = passed(x2, load(T, k + o)), passed(x3, load(T, m + o))
                y0, y1 = passed(y0, load(T, i + u)), passed(y1, load(T, j + u))
                y2, y3 = passed(y2, load(T, k + u)), passed(y3, load(T, m + u))
            elif kind == ERROR:
                if o < s:
                    x0, x1 = less(x0, load(T, i + o)), less(x1, load(T, j + o))
                    x2, x3 = less(x2, load(T, k + o)), less(x3, load(T, m + o))
                if u < s:
                    y0, y1 = less(y0, load(T, i + u)), less(y1, load(T, j + u))
                    y2, y3 = less(y2, load(T, k + u)), less(y3, load(T, m + u))
            i = to + n * out
            j, k, m = i + out, i + 2 * out, i + 3 * out
            store(M, i + o, x0)
            store(M, i + u, y0)
            store(M, j + o, x1)
            store(M, j + u, y1)
            store(M, k + o, x2)
            store(M, k + u, y2)
            store(M, m + o, x3)
            store(M, m + u, y3)


@njit(cache=True, nogil=True, error_model="numpy")
def add_outer(
    A: Any, a: int, wide: int, B: Any, b: int, row: int, narrow: int,
    M: Any, g: int, along: int, across: int, count: int,
) -> None:  # fmt: skip
    """Add, over `count` rows, all products of one of `wide` numbers of A and one of `narrow` of B to place g of M.

    That of the i-th and the j-th goes to g + i along + j across. Rows lie at a of A, one after the other, and at b of
    B, one every `row` places. Four numbers of A and two of B at a time; the last are taken twice if need be.
    """
    for i in range(0, wide, 4):
        i1, i2, i3 = min(i + 1, wide - 1), min(i + 2, wide - 1), min(i + 3, wide - 1)
        for j in range(0, narrow, 2):
            k = min(j + 1, narrow - 1)
            left, right = g + j * across, g + k * across
            p0, p1 = load(M, left + i * along), load(M, left + i1 * along)
            p2, p3 = load(M, left + i2 * along), load(M, left + i3 * along)
            q0, q1 = load(M, right + i * along), load(M, right + i1 * along)
            q2, q3 = load(M, right + i2 * along), load(M, right + i3 * along)
            for n in range(count):
                x, y, at = load(B, b + n * row + j), load(B, b + n * row + k), a + n * wide
                h = load(A, at + i)
                p0, q0, h = add_product(p0, h, x), add_product(q0, h, y), load(A, at + i1)
                p1, q1, h = add_product(p1, h, x), add_product(q1, h, y), load(A, at + i2)
                p2, q2, h = add_product(p2, h, x), add_product(q2, h, y), load(A, at + i3)
                p3, q3 = add_product(p3, h, x), add_product(q3, h, y)
            store(M, left + i * along, p0)
            store(M, right + i * along, q0)
            store(M, left + i1 * along, p1)
            store(M, right + i1 * along, q1)
            store(M, left + i2 * along, p2)
            store(M, right + i2 * along, q2)
            store(M, left + i3 * along, p3)
            store(M, right + i3 * along, q3)


@njit(cache=True, nogil=True, error_model="numpy")
def add_rows(M: Any, D: int, out: int, g: int, count: int) -> None:
    """Add the rows at D, (count, out), to the one at place g of M: four at a time, of which there are some."""
    for o in range(out):
        total = load(M, g + o)
        for n in range(D + o, D + o + count * out, 4 * out):
            a, b, c, d = load(M, n), load(M, n + out), load(M, n + 2 * out), load(M, n + 3 * out)
            total = add(add(total, add(a, b)), add(c, d))
        store(M, g + o, total)
