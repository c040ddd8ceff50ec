"""Sums over the columns of a narrow matrix, held in vector registers.

The compiler would write every partial sum to memory and read it back, which halves
the speed for small networks; here the inner loop is spelled out for it.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from oscsim.typing import FloatArray

WIDTHS = (8, 16, 32)
_VECTOR_BYTES = 64
_INDEX = ir.IntType(64)


def tile_sums(
    weights: FloatArray, x: FloatArray, y: FloatArray, a: FloatArray, b: FloatArray
) -> None:
    """Write a_l = sum_j w_jl x_j and b_l = sum_j w_jl y_j, j in order.

    Each weight is read once for both.

    Parameters
    ----------
    weights : FloatArray, shape (n, width)
        Contiguous; the width is one of ``WIDTHS``.
    x, y : FloatArray, shape (n,)
        Contiguous, as everything here and of one type.
    a, b : FloatArray, shape (width or more,)
        The first ``width`` numbers are overwritten.
    """
    width = weights.shape[1]
    a[:width] = x @ weights
    b[:width] = y @ weights


def _sums_in_registers(width: int) -> Any:
    """Return the function for one width, for use inside kernels."""

    def declare(context: Any, weights: Any, x: Any, y: Any, a: Any, b: Any) -> Any:
        return types.void(weights, x, y, a, b), _generate

    def _generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        arrays = [
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(signature.args, values, strict=True)
        ]
        item = context.get_data_type(signature.args[0].dtype)
        n_bytes = context.get_abi_sizeof(item)
        lanes = min(width, _VECTOR_BYTES // n_bytes)
        _emit(builder, arrays, ir.VectorType(item, lanes), width // lanes, n_bytes)
        return context.get_dummy_value()

    return intrinsic(declare)


def _emit(
    builder: Any, arrays: list[Any], vector: Any, n_vectors: int, n_bytes: int
) -> None:
    """Write the loop over the rows with all sums as values of the loop."""
    weights, x, y, a, b = (array.data for array in arrays)
    n = cgutils.unpack_tuple(builder, arrays[0].shape)[0]
    zero, lanes = ir.Constant(vector, None), vector.count
    before = builder.block
    loop, after = (builder.append_basic_block(name) for name in ("rows", "done"))
    builder.branch(loop)
    builder.position_at_end(loop)
    j = builder.phi(_INDEX)
    j.add_incoming(ir.Constant(_INDEX, 0), before)
    sums = [builder.phi(vector) for _ in range(2 * n_vectors)]
    row = builder.mul(j, ir.Constant(_INDEX, n_vectors * lanes))
    terms = [
        builder.load(_vector_at(builder, weights, row, k, vector), align=n_bytes)
        for k in range(n_vectors)
    ]
    for k, (source, term) in enumerate([(s, w) for s in (x, y) for w in terms]):
        factor = _everywhere(builder, builder.load(builder.gep(source, [j])), vector)
        product = builder.fmul(term, factor, flags=("contract",))
        total = builder.fadd(sums[k], product, flags=("contract",))
        sums[k].add_incoming(zero, before)
        sums[k].add_incoming(total, loop)
    totals = [total.incomings[1][0] for total in sums]
    following = builder.add(j, ir.Constant(_INDEX, 1))
    j.add_incoming(following, loop)
    builder.cbranch(builder.icmp_signed("<", following, n), loop, after)
    builder.position_at_end(after)
    start = ir.Constant(_INDEX, 0)
    for k, total in enumerate(totals):
        target = a if k < n_vectors else b
        place = _vector_at(builder, target, start, k % n_vectors, vector)
        builder.store(total, place, align=n_bytes)


def _vector_at(builder: Any, data: Any, start: Any, k: int, vector: Any) -> Any:
    at = builder.add(start, ir.Constant(_INDEX, k * vector.count))
    return builder.bitcast(builder.gep(data, [at]), vector.as_pointer())


def _everywhere(builder: Any, value: Any, vector: Any) -> Any:
    nothing = ir.Constant(vector, ir.Undefined)
    first = builder.insert_element(nothing, value, ir.Constant(ir.IntType(32), 0))
    lanes = ir.Constant(ir.VectorType(ir.IntType(32), vector.count), None)
    return builder.shuffle_vector(first, nothing, lanes)


_NARROW, _MIDDLE, _WIDE = (_sums_in_registers(width) for width in WIDTHS)


@overload(tile_sums)
def _sums_in_kernels(weights, x, y, a, b) -> Callable[..., None]:  # type: ignore[no-untyped-def]
    def chosen(weights, x, y, a, b):  # type: ignore[no-untyped-def]
        if weights.shape[1] == 8:
            _NARROW(weights, x, y, a, b)
        elif weights.shape[1] == 16:
            _MIDDLE(weights, x, y, a, b)
        else:
            _WIDE(weights, x, y, a, b)

    return chosen
