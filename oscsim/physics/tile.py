"""Sums over the columns of a narrow matrix, held in vector registers.

The compiler would write every partial sum to memory and read it back, which halves
the speed for small networks; here the inner loop is spelled out for it.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from oscsim._jit import FORWARDED
from oscsim.physics.aligned import LINE
from oscsim.typing import FloatArray

WIDTHS = (8, 16, 32)
"""Bytes of a cache line and of the widest vectors."""
_INDEX = ir.IntType(64)


def tile_sums(
    weights: FloatArray,
    t: int,
    x: FloatArray,
    y: FloatArray,
    a: FloatArray,
    b: FloatArray,
) -> None:
    """Write sum_j w_jl x_j and sum_j w_jl y_j of one tile w, j in order.

    Each weight is read once for both. Inside kernels nothing is checked.

    Parameters
    ----------
    weights : FloatArray, shape (n_tiles, n, width)
        Contiguous; the width is one of ``WIDTHS``.
    t : int
        Which tile.
    x, y : FloatArray, shape (n,)
        Contiguous, as everything here and of one type.
    a, b : FloatArray, shape (n_tiles width or more,)
        The numbers from t width to (t + 1) width are overwritten.
    """
    width = weights.shape[2]
    a[t * width : (t + 1) * width] = x @ weights[t]
    b[t * width : (t + 1) * width] = y @ weights[t]


def _sums_in_registers(width: int) -> Any:
    """Return the function for one width, for use inside kernels."""

    def declare(
        context: Any, weights: Any, t: Any, x: Any, y: Any, a: Any, b: Any
    ) -> Any:
        return types.void(weights, types.intp, x, y, a, b), generate

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        kinds = [signature.args[0], *signature.args[2:]]
        arrays = [
            context.make_array(kind)(context, builder, value)
            for kind, value in zip(kinds, [values[0], *values[2:]], strict=True)
        ]
        item = context.get_data_type(kinds[0].dtype)
        n_bytes = context.get_abi_sizeof(item)
        lanes = min(width, LINE // n_bytes)
        n = builder.extract_value(arrays[0].shape, 1)
        _emit(
            builder,
            [array.data for array in arrays],
            n,
            values[1],
            ir.VectorType(item, lanes),
            width // lanes,
            n_bytes,
        )
        return context.get_dummy_value()

    return intrinsic(declare)


def _emit(
    builder: Any,
    data: list[Any],
    n: Any,
    t: Any,
    vector: Any,
    n_vectors: int,
    n_bytes: int,
) -> None:
    """Write the loop over the rows of tile t with all sums as values of the loop."""
    weights, x, y, a, b = data
    zero, width = (
        ir.Constant(vector, None),
        ir.Constant(_INDEX, n_vectors * vector.count),
    )
    begin, start = builder.mul(builder.mul(t, n), width), builder.mul(t, width)
    before = builder.block
    loop, after = (builder.append_basic_block(name) for name in ("rows", "done"))
    builder.branch(loop)
    builder.position_at_end(loop)
    j = builder.phi(_INDEX)
    j.add_incoming(ir.Constant(_INDEX, 0), before)
    sums = [builder.phi(vector) for _ in range(2 * n_vectors)]
    row = builder.add(begin, builder.mul(j, width))
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


@overload(tile_sums, jit_options=FORWARDED)
def _sums_in_kernels(weights, t, x, y, a, b):  # type: ignore[no-untyped-def]
    def chosen(weights, t, x, y, a, b):  # type: ignore[no-untyped-def]
        if weights.shape[2] == 8:
            _NARROW(weights, t, x, y, a, b)
        elif weights.shape[2] == 16:
            _MIDDLE(weights, t, x, y, a, b)
        else:
            _WIDE(weights, t, x, y, a, b)

    return chosen
