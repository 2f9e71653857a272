"""The language of `where`: conditions over parameters, read with `ast` and never executed as Python."""

from __future__ import annotations

import ast
import io
import math
import operator
import tokenize
import warnings
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

LONGEST = 2_000
"""Characters of an expression."""
ALLOWED = "comparisons, and, or, not, + - * / // % **, numbers, texts, parameters, entries of vectors such as rates.1"

_Env = Mapping[str, Any]
_Evaluate = Callable[[_Env], Any]
_CONSTANTS = {"true": True, "false": False, "null": None, "none": None}
_ARITHMETIC: dict[type[ast.operator], tuple[str, Callable[[Any, Any], Any]]] = {
    ast.Add: ("+", operator.add),
    ast.Sub: ("-", operator.sub),
    ast.Mult: ("*", operator.mul),
    ast.Div: ("/", operator.truediv),
    ast.FloorDiv: ("//", operator.floordiv),
    ast.Mod: ("%", operator.mod),
    # As floats: 9**9**9 in integers would not end.
    ast.Pow: ("**", lambda left, right: math.pow(left, right)),
}
_COMPARISONS: dict[type[ast.cmpop], tuple[str, Callable[[Any, Any], bool]]] = {
    ast.Eq: ("==", operator.eq),
    ast.NotEq: ("!=", operator.ne),
    ast.Lt: ("<", operator.lt),
    ast.LtE: ("<=", operator.le),
    ast.Gt: (">", operator.gt),
    ast.GtE: (">=", operator.ge),
}


class ExpressionError(ValueError):
    """A fault of an expression, or of its value at one point."""


@dataclass(frozen=True)
class Expression:
    """A condition over the parameters of a point.

    Attributes:
        text: as written.
        names: its parameters, each with None; an entry of a vector as (rates, 1).
    """

    text: str
    names: tuple[tuple[str, int | None], ...]
    _evaluate: _Evaluate

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Whether the condition holds at a point.

        Raises:
            ExpressionError: it is neither true nor false there, as with a text in a sum or a division by zero.
        """
        try:
            result = self._evaluate(values)
        except ZeroDivisionError:
            raise ExpressionError("divides by zero") from None
        except (OverflowError, ValueError) as error:
            if isinstance(error, ExpressionError):
                raise
            raise ExpressionError(f"cannot be computed: {error}") from None
        if not isinstance(result, bool):
            raise ExpressionError(f"is {result!r}; it must be a condition, true or false")
        return result


def parse(text: str, parts: Collection[str] = ()) -> Expression:
    """Read an expression.

    Args:
        parts: the parameters whose names have dots, such as `optim.lr`.

    Raises:
        ExpressionError: it is no expression of this language; the message says which part.
    """
    if len(text) > LONGEST:
        raise ExpressionError(f"{len(text):,} characters long; allowed: {LONGEST:,}")
    reader = _Reader(parts)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # such as "invalid escape sequence"
            tree = ast.parse(_entries_as_subscripts(f"({text}\n)"), mode="eval")
        evaluate = reader.read(tree.body)
    except ExpressionError:
        raise
    except (SyntaxError, tokenize.TokenError, ValueError) as error:
        reason = error.msg if isinstance(error, SyntaxError) else error.args[0]
        raise ExpressionError(f"cannot be read: {str(reason).lower()}") from None
    except (RecursionError, MemoryError):
        raise ExpressionError("nested too deeply") from None
    return Expression(text, tuple(dict.fromkeys(reader.names)), evaluate)


def _entries_as_subscripts(text: str) -> str:
    """Spells `rates.1`, a name and a number that touch, as `rates[1]`, which Python's parser takes."""
    tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    out: list[str] = []
    row, column = 1, 0
    for before, token in zip([None, *tokens], tokens, strict=False):
        out.append("\n" * (token.start[0] - row) if token.start[0] != row else " " * (token.start[1] - column))
        touches = before is not None and before.type == tokenize.NAME and before.end == token.start
        entry = touches and token.type == tokenize.NUMBER and token.string[0] == "." and token.string[1:].isdecimal()
        out.append(f"[{int(token.string[1:])}]" if entry else token.string)
        row, column = token.end
    return "".join(out).strip()


class _Reader:
    """Turns a syntax tree into closures; any unknown node is a fault."""

    def __init__(self, parts: Collection[str]) -> None:
        self.names: list[tuple[str, int | None]] = []
        self._parts = parts

    def read(self, node: ast.expr) -> _Evaluate:
        reader = getattr(self, f"_read_{type(node).__name__.lower()}", None)
        if reader is None:
            raise ExpressionError(f"{_source(node)!r} is not allowed here; allowed: {ALLOWED}")
        return reader(node)

    def _read_constant(self, node: ast.Constant) -> _Evaluate:
        value = node.value
        if not (value is None or isinstance(value, bool | int | float | str)):
            raise ExpressionError(f"{_source(node)!r} is not allowed here; allowed: {ALLOWED}")
        if isinstance(value, int | float) and not math.isfinite(_as_float(value)):
            raise ExpressionError(f"{_source(node)!r} is not a finite number")
        return lambda values: value

    def _read_name(self, node: ast.Name) -> _Evaluate:
        name = node.id
        constant = name in _CONSTANTS
        if not constant:
            return self._named(name)
        return lambda values: _CONSTANTS[name]

    def _named(self, name: str) -> _Evaluate:
        self.names.append((name, None))
        return lambda values: _value(values, name)

    def _read_attribute(self, node: ast.Attribute) -> _Evaluate:
        name = self._spelled(node)
        if name is None:
            raise ExpressionError(f"{_source(node)!r} is not allowed here; allowed: {ALLOWED}")
        return self._named(name)

    def _spelled(self, node: ast.expr) -> str | None:
        """The parameter that a node names; None: it names none."""
        if isinstance(node, ast.Attribute) and (name := ast.unparse(node)) in self._parts:
            return name
        return node.id if isinstance(node, ast.Name) else None

    def _read_subscript(self, node: ast.Subscript) -> _Evaluate:
        entry = node.slice.value if isinstance(node.slice, ast.Constant) else None
        name, index = self._spelled(node.value), entry
        if name is None or type(index) is not int:
            raise ExpressionError(f"{_source(node)!r}: an entry of a vector is written rates.1")
        self.names.append((name, index))

        def evaluate(values: _Env) -> Any:
            vector = _value(values, name)
            if not isinstance(vector, list | tuple):
                raise ExpressionError(f"{name} is {vector!r} and has no entries")
            if not 0 <= index < len(vector):
                raise ExpressionError(f"speaks of {name}.{index}, but {name} has {len(vector)} entries, counted from 0")
            return vector[index]

        return evaluate

    def _read_boolop(self, node: ast.BoolOp) -> _Evaluate:
        parts = [(self.read(part), _source(part)) for part in node.values]
        word, stops = ("and", False) if isinstance(node.op, ast.And) else ("or", True)

        def evaluate(values: _Env) -> bool:
            for part, source in parts:
                if _condition(part(values), word, source) is stops:
                    return stops
            return not stops

        return evaluate

    def _read_unaryop(self, node: ast.UnaryOp) -> _Evaluate:
        part, source = self.read(node.operand), _source(node.operand)
        if isinstance(node.op, ast.Not):
            return lambda values: not _condition(part(values), "not", source)
        if isinstance(node.op, ast.USub):
            return lambda values: -_number(part(values), "-", source)
        if isinstance(node.op, ast.UAdd):
            return lambda values: _number(part(values), "+", source)
        raise ExpressionError(f"{_source(node)!r} is not allowed here; allowed: {ALLOWED}")

    def _read_binop(self, node: ast.BinOp) -> _Evaluate:
        if type(node.op) not in _ARITHMETIC:
            raise ExpressionError(f"{_source(node)!r} is not allowed here; allowed: {ALLOWED}")
        word, apply = _ARITHMETIC[type(node.op)]
        left, right = self.read(node.left), self.read(node.right)
        names = _source(node.left), _source(node.right)

        def evaluate(values: _Env) -> int | float:
            result = apply(_number(left(values), word, names[0]), _number(right(values), word, names[1]))
            if abs(result) < 2**200:
                return result
            if not math.isfinite(_as_float(result)):
                raise ExpressionError("is not finite")
            return float(result)  # so that products of integers cannot grow without end

        return evaluate

    def _read_compare(self, node: ast.Compare) -> _Evaluate:
        for op in node.ops:
            if type(op) not in _COMPARISONS:
                raise ExpressionError(f"{_source(node)!r}: allowed comparisons: == != < <= > >=")
        sides = [(self.read(side), _source(side)) for side in (node.left, *node.comparators)]
        comparisons = [_COMPARISONS[type(op)] for op in node.ops]

        def evaluate(values: _Env) -> bool:
            left, source = sides[0][0](values), sides[0][1]
            for (word, compare), (side, name) in zip(comparisons, sides[1:], strict=True):
                right = side(values)
                alike = type(left) is type(right) and isinstance(left, str | bool)
                equality = word in ("==", "!=") and (alike or left is None or right is None)
                if not (equality or (_is_number(left) and _is_number(right))):
                    comparison = f"{source} {word} {name} compares {left!r} with {right!r}"
                    raise ExpressionError(f"{comparison}; allowed: numbers, or == and != of alike")
                if not compare(left, right):
                    return False
                left, source = right, name
            return True

        return evaluate


def _source(node: ast.expr) -> str:
    text = ast.unparse(node)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _as_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _value(values: _Env, name: str) -> Any:
    if name not in values:
        raise ExpressionError(f"speaks of {name!r}, which is not set here")
    return values[name]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number(value: Any, word: str, source: str) -> Any:
    if not _is_number(value):
        raise ExpressionError(f"{source} is {value!r}, and {word!r} needs numbers")
    return value


def _condition(value: Any, word: str, source: str) -> bool:
    if not isinstance(value, bool):
        raise ExpressionError(f"{source} is {value!r}, and {word!r} needs conditions")
    return value
