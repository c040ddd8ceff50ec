"""Weighted sums of numbers picked from memory in pairs.

One load brings both numbers of a source; the compiler would load each by itself and
keep every sum in memory, which halves the speed. Here the loop is spelled out for it.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from oscsim._jit import FORWARDED
from oscsim.typing import FloatArray, IntArray

ROWS = 8
_INDEX = ir.IntType(64)
_PAIR = 2


def slice_sums(
    weights: FloatArray,
    columns: IntArray,
    first: int,
    last: int,
    pairs: FloatArray,
    sums: FloatArray,
) -> None:
    """Write sum_p w_pl (x, y)_j, j = columns_pl, for the eight rows of a slice.

    The terms of a row are added in order. Inside kernels nothing is checked.

    Parameters
    ----------
    weights : FloatArray, shape (n_slots, 8)
        Contiguous, as everything here; of the type of ``pairs`` and ``sums``.
    columns : IntArray, shape (n_slots, 8)
        Sources, uint32.
    first, last : int
        Slots of the slice.
    pairs : FloatArray, shape (n, 2)
        What is summed.
    sums : FloatArray, shape (8, 2)
        Overwritten.
    """
    sums[:] = 0.0
    for p in range(first, last):
        sums += weights[p, :, None] * pairs[columns[p]]


def _declare(
    context: Any,
    weights: Any,
    columns: Any,
    first: Any,
    last: Any,
    pairs: Any,
    sums: Any,
) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        at = [0, 1, 4, 5]
        data = [
            context.make_array(signature.args[k])(context, builder, values[k]).data
            for k in at
        ]
        item = context.get_data_type(signature.args[0].dtype)
        n_bytes = context.get_abi_sizeof(item)
        pair = ir.VectorType(item, _PAIR)
        _emit(builder, data, values[2], values[3], pair, n_bytes)
        return context.get_dummy_value()

    intp = types.intp
    return types.void(weights, columns, intp, intp, pairs, sums), generate


_sums_in_registers: Any = intrinsic(_declare)


def _emit(
    builder: Any, data: list[Any], first: Any, last: Any, pair: Any, n_bytes: int
) -> None:
    """Write the loop over the slots with all sums as values of the loop."""
    weights, columns, pairs, sums = data
    zero = ir.Constant(pair, None)
    before = builder.block
    test, body, after = (
        builder.append_basic_block(name) for name in ("slots", "slot", "done")
    )
    builder.branch(test)
    builder.position_at_end(test)
    p = builder.phi(_INDEX)
    p.add_incoming(first, before)
    totals = [builder.phi(pair) for _ in range(ROWS)]
    builder.cbranch(builder.icmp_signed("<", p, last), body, after)
    builder.position_at_end(body)
    start = builder.mul(p, ir.Constant(_INDEX, ROWS))
    for lane, total in enumerate(totals):
        total.add_incoming(zero, before)
        place = builder.add(start, ir.Constant(_INDEX, lane))
        source = builder.zext(builder.load(builder.gep(columns, [place])), _INDEX)
        term = _pair_at(builder, pairs, source, pair)
        term = builder.load(term, align=n_bytes)
        weight = builder.load(builder.gep(weights, [place]))
        product = builder.fmul(term, _twice(builder, weight, pair), flags=("contract",))
        total.add_incoming(builder.fadd(total, product, flags=("contract",)), body)
    p.add_incoming(builder.add(p, ir.Constant(_INDEX, 1)), body)
    builder.branch(test)
    builder.position_at_end(after)
    for lane, total in enumerate(totals):
        row = ir.Constant(_INDEX, lane)
        builder.store(total, _pair_at(builder, sums, row, pair), align=n_bytes)


def _pair_at(builder: Any, data: Any, index: Any, pair: Any) -> Any:
    at = builder.mul(index, ir.Constant(_INDEX, _PAIR))
    return builder.bitcast(builder.gep(data, [at]), pair.as_pointer())


def _twice(builder: Any, value: Any, pair: Any) -> Any:
    word = ir.IntType(32)
    vector = ir.Constant(pair, ir.Undefined)
    for k in range(_PAIR):
        vector = builder.insert_element(vector, value, ir.Constant(word, k))
    return vector


@overload(slice_sums, jit_options=FORWARDED)
def _sums_in_kernels(weights, columns, first, last, pairs, sums):  # type: ignore[no-untyped-def]
    return lambda weights, columns, first, last, pairs, sums: _sums_in_registers(  # noqa: PLW0108
        weights, columns, first, last, pairs, sums
    )
