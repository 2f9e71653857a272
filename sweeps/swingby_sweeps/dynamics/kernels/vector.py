"""A vector of sixteen numbers as a value inside kernels: an instruction or two, where a loop is checked and tried.

Numba leaves it to its compiler to find vector instructions in loops; over sixteen numbers the checks that this takes
(do the arrays overlap, is an index negative) cost ten times what they guard. These few functions say it outright.
They work on the memory of C-contiguous arrays of float32 or float64; places count whole vectors.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic as _intrinsic
from numba.extending import models, register_model

from . import LANES

_FUSE = ("contract",)
# Its first argument is the compiler's own: type checkers would ask every caller for it.
intrinsic: Any = _intrinsic


class Vector(types.Type):
    """The type of sixteen numbers of one float type."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = dtype
        super().__init__(name=f"Vector({dtype})")


@register_model(Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Vector) -> None:
        super().__init__(manager, kind, ir.VectorType(manager.lookup(kind.dtype).get_value_type(), LANES))


def _address(builder: Any, kind: Any, pointer: Any, place: Any) -> Any:
    first = builder.gep(pointer, [builder.mul(place, ir.Constant(place.type, LANES))])
    return builder.bitcast(first, kind.as_pointer())


@intrinsic
def memory(_: Any, array: Any) -> Any:
    """Where an array begins. It must outlive the kernel: an argument of it, and no array that it made."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return cgutils.create_struct_proxy(signature.args[0])(context, builder, value=arguments[0]).data

    return types.CPointer(array.dtype)(array), generate


@intrinsic
def move(_: Any, memory: Any, places: Any) -> Any:
    """The memory from some place on."""
    return memory(memory, types.intp), lambda _, builder, __, given: builder.gep(
        given[0], [builder.mul(given[1], ir.Constant(given[1].type, LANES))]
    )


@intrinsic
def load(_: Any, memory: Any, place: Any) -> Any:
    """The vector at a place."""
    vector, align = Vector(memory.dtype), memory.dtype.bitwidth // 8

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        return builder.load(_address(builder, context.get_value_type(vector), *arguments), align=align)

    return vector(memory, types.intp), generate


@intrinsic
def store(_: Any, memory: Any, place: Any, vector: Any) -> Any:
    """Put a vector at a place."""
    align = memory.dtype.bitwidth // 8

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        builder.store(arguments[2], _address(builder, arguments[2].type, *arguments[:2]), align=align)
        return context.get_dummy_value()

    return types.void(memory, types.intp, vector), generate


@intrinsic
def zero(_: Any, memory: Any) -> Any:
    """Sixteen zeros of the memory's type."""
    vector = Vector(memory.dtype)

    def generate(context: Any, _: Any, __: Any, ___: Any) -> Any:
        return ir.Constant(context.get_value_type(vector), None)

    return vector(memory), generate


@intrinsic
def add(_: Any, a: Any, b: Any) -> Any:
    """a + b."""
    return a(a, a), lambda _, builder, __, given: builder.fadd(*given)


@intrinsic
def add_product(_: Any, a: Any, b: Any, c: Any) -> Any:
    """a + b c, rounded once where the machine can."""

    def generate(_: Any, builder: Any, __: Any, given: Any) -> Any:
        return builder.fadd(given[0], builder.fmul(given[1], given[2], flags=_FUSE), flags=_FUSE)

    return a(a, a, a), generate


@intrinsic
def less_one(_: Any, a: Any) -> Any:
    """a - 1."""

    def generate(_: Any, builder: Any, __: Any, given: Any) -> Any:
        return builder.fsub(given[0], ir.Constant(given[0].type, [1.0] * LANES))

    return a(a), generate


@intrinsic
def fill(_: Any, memory: Any, number: Any) -> Any:
    """Sixteen times one number, of the memory's type."""
    vector = Vector(memory.dtype)

    def generate(context: Any, builder: Any, _: Any, arguments: Any) -> Any:
        number = arguments[1]
        kind = context.get_value_type(vector)
        one = builder.insert_element(ir.Constant(kind, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
        places = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        return builder.shuffle_vector(one, one, places)

    return vector(memory, memory.dtype), generate


@intrinsic
def times(_: Any, a: Any, b: Any) -> Any:
    """a b."""
    return a(a, a), lambda _, builder, __, given: builder.fmul(*given, flags=_FUSE)


@intrinsic
def over(_: Any, a: Any, b: Any) -> Any:
    """a / b."""
    return a(a, a), lambda _, builder, __, given: builder.fdiv(*given)


@intrinsic
def larger_size(_: Any, a: Any, b: Any) -> Any:
    """The larger of |a| and |b|; |b| where one is no number."""

    def generate(_: Any, builder: Any, __: Any, given: Any) -> Any:
        one, two = (builder.select(builder.fcmp_ordered("<", x, x.type(None)), builder.fneg(x), x) for x in given)
        return builder.select(builder.fcmp_ordered(">", one, two), one, two)

    return a(a, a), generate


@intrinsic
def size(_: Any, a: Any) -> Any:
    """|a|; no number where a is none."""

    def generate(_: Any, builder: Any, __: Any, given: Any) -> Any:
        (a,) = given
        return builder.select(builder.fcmp_ordered("<", a, a.type(None)), builder.fneg(a), a)

    return a(a), generate


@intrinsic
def larger(_: Any, a: Any, b: Any) -> Any:
    """The larger of a and b; b where one is no number."""
    return a(a, a), lambda _, builder, __, given: builder.select(builder.fcmp_ordered(">", *given), *given)


def _kept(sign: str) -> Any:
    """What writes: the first where the second compares so to the third, else 0."""

    def generate(_: Any, builder: Any, __: Any, given: Any) -> Any:
        a, b, limit = given
        return builder.select(builder.fcmp_ordered(sign, b, limit), a, a.type(None))

    return generate


@intrinsic
def up_to(_: Any, a: Any, b: Any, limit: Any) -> Any:
    """a where b <= limit, else 0: also where one of these is no number."""
    return a(a, a, a), _kept("<=")


@intrinsic
def beyond(_: Any, a: Any, b: Any, limit: Any) -> Any:
    """a where b > limit, else 0: also where one of these is no number."""
    return a(a, a, a), _kept(">")


@intrinsic
def where(_: Any, flag: Any, a: Any, b: Any) -> Any:
    """a where the flag is not 0, else b."""

    def generate(_: Any, builder: Any, __: Any, given: Any) -> Any:
        flag, a, b = given
        return builder.select(builder.fcmp_ordered("!=", flag, flag.type(None)), a, b)

    return flag(flag, flag, flag), generate


@intrinsic
def less(_: Any, a: Any, b: Any) -> Any:
    """a - b."""
    return a(a, a), lambda _, builder, __, given: builder.fsub(*given)


@intrinsic
def positive(_: Any, a: Any) -> Any:
    """a where it is positive, else 0; no number where a is none."""

    def generate(_: Any, builder: Any, __: Any, given: Any) -> Any:
        nothing = given[0].type(None)
        return builder.select(builder.fcmp_ordered("<", given[0], nothing), nothing, given[0])

    return a(a), generate


@intrinsic
def passed(_: Any, a: Any, gate: Any) -> Any:
    """a where the gate is positive, else 0."""

    def generate(_: Any, builder: Any, __: Any, given: Any) -> Any:
        nothing = given[0].type(None)
        return builder.select(builder.fcmp_ordered(">", given[1], nothing), given[0], nothing)

    return a(a, a), generate
