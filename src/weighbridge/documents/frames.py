"""The tensors of a model as a data frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weighbridge.core.errors import UsageError
from weighbridge.core.tree import list_rows

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


def columns(model: ModelValue) -> dict[str, list[Any]]:
    """Return the columns: name, shape, count, role, tied_to.

    >>> from weighbridge import model
    >>> columns(model("bert-tiny"))["count"][:2]
    [3906816, 65536]
    """
    rows = list_rows(model.tree)
    return {
        "name": [row.name for row in rows],
        "shape": [list(row.shape) for row in rows],
        "count": [row.count for row in rows],
        "role": [row.role for row in rows],
        "tied_to": [row.tied_to for row in rows],
    }


def pandas_frame(model: ModelValue) -> Any:
    """Return a pandas DataFrame of the tensors."""
    try:
        import pandas
    except ImportError:
        raise UsageError("to_pandas needs pandas: pip install 'weighbridge[frames]'") from None
    return pandas.DataFrame(columns(model))


def polars_frame(model: ModelValue) -> Any:
    """Return a polars DataFrame of the tensors."""
    try:
        import polars
    except ImportError:
        raise UsageError("to_polars needs polars: pip install 'weighbridge[frames]'") from None
    return polars.DataFrame(columns(model), schema_overrides={"tied_to": polars.String})
