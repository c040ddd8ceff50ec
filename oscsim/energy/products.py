"""Prices as sums of products of component ids."""

from collections.abc import Sequence
from typing import TypeAlias

from oscsim.errors import ComponentError

Product: TypeAlias = tuple[str, ...]


def as_products(
    action: str, ids: Sequence[str] | Sequence[Sequence[str]]
) -> tuple[Product, ...]:
    """Return a price as a sum of products.

    Raises
    ------
    ComponentError
        If ``ids`` is neither a list of component ids nor a list of such lists.
    """
    products = [ids] if _is_product(ids) else ids
    is_list = isinstance(products, list | tuple) and len(products) > 0
    if not is_list or not all(map(_is_product, products)):
        raise ComponentError(
            f"price of {action!r}: a list of component ids, or a list of such "
            f"lists; got {ids!r}"
        )
    return tuple(tuple(map(str, product)) for product in products)


def _is_product(found: object) -> bool:
    """Return whether something is a list of component ids; a text is none."""
    if not isinstance(found, list | tuple) or len(found) == 0:
        return False
    return all(isinstance(name, str) for name in found)
