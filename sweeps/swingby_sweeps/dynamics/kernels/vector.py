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
    return memory(memory, types.intp), lambda _, builder, __, args: builder.gep(
        args[0], [builder.mul(args[1], ir.Constant(args[1].type, LANES))]
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


def _of_vectors(name: str, meaning: str, build: Any) -> Any:
    """A function of vectors of one type; `build` writes it, from the compiler's builder and their values."""

    def generate(_: Any, builder: Any, __: Any, args: Any) -> Any:
        return build(builder, *args)

    # Numba looks at the arguments of a definition, which are therefore written out.
    definitions: tuple[Any, ...] = (
        lambda _, a: (a(a), generate),
        lambda _, a, b: (a(a, a), generate),
        lambda _, a, b, c: (a(a, a, a), generate),
    )
    definition = definitions[build.__code__.co_argcount - 2]
    definition.__name__, definition.__doc__ = name, meaning
    return intrinsic(definition)


def _size(builder: Any, a: Any) -> Any:
    return builder.select(builder.fcmp_ordered("<", a, a.type(None)), builder.fneg(a), a)


def _larger(builder: Any, a: Any, b: Any) -> Any:
    return builder.select(builder.fcmp_ordered(">", a, b), a, b)


def _kept(sign: str) -> Any:
    """What writes: the first where the second compares so to the third, else 0."""
    return lambda builder, a, b, limit: builder.select(builder.fcmp_ordered(sign, b, limit), a, a.type(None))


add = _of_vectors("add", "a + b.", lambda builder, a, b: builder.fadd(a, b))
less = _of_vectors("less", "a - b.", lambda builder, a, b: builder.fsub(a, b))
less_one = _of_vectors("less_one", "a - 1.", lambda builder, a: builder.fsub(a, ir.Constant(a.type, [1.0] * LANES)))
times = _of_vectors("times", "a b.", lambda builder, a, b: builder.fmul(a, b, flags=_FUSE))
over = _of_vectors("over", "a / b.", lambda builder, a, b: builder.fdiv(a, b))
add_product = _of_vectors(
    "add_product",
    "a + b c, rounded once where the machine can.",
    lambda builder, a, b, c: builder.fadd(a, builder.fmul(b, c, flags=_FUSE), flags=_FUSE),
)
size = _of_vectors("size", "|a|; no number where a is none.", _size)
larger = _of_vectors("larger", "The larger of a and b; b where one is no number.", _larger)
larger_size = _of_vectors(
    "larger_size",
    "The larger of |a| and |b|; |b| where one is no number.",
    lambda builder, a, b: _larger(builder, _size(builder, a), _size(builder, b)),
)
up_to = _of_vectors("up_to", "a where b <= limit, else 0: also where one of these is no number.", _kept("<="))
beyond = _of_vectors("beyond", "a where b > limit, else 0: also where one of these is no number.", _kept(">"))
where = _of_vectors(
    "where",
    "a where the flag is not 0, else b.",
    lambda builder, flag, a, b: builder.select(builder.fcmp_ordered("!=", flag, flag.type(None)), a, b),
)
positive = _of_vectors(
    "positive",
    "a where it is positive, else 0; no number where a is none.",
    lambda builder, a: builder.select(builder.fcmp_ordered("<", a, a.type(None)), a.type(None), a),
)
passed = _of_vectors(
    "passed",
    "a where the gate is positive, else 0.",
    lambda builder, a, gate: builder.select(builder.fcmp_ordered(">", gate, gate.type(None)), a, gate.type(None)),
)
