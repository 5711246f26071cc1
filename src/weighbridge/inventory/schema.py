"""The columns of a census, declared once: the Parquet schema, the documentation and the rows follow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    import pyarrow

VERSION = 3
"""Of the schema; it changes whenever a column comes, goes or changes its meaning."""
OK, UNKNOWN, ERROR = "ok", "unknown", "error"
Row: TypeAlias = dict[str, Any]
"""One model; a column that is absent is null."""


class Column(NamedTuple):
    """One column: its name, its Arrow type and what it holds."""

    name: str
    type: str
    meaning: str


COLUMNS = (
    Column("path", "string", "where the model is: a file, a directory, file:line of a table, archive!member, or an id"),
    Column("status", "string", "ok; unknown (a model type that is not described); error (it cannot be read or makes no model)"),
    Column("error", "string", "why there are no counts"),
    Column("kind", "string", "config, checkpoint, or both (a directory with a config and weights)"),
    Column("model_type", "string", "as in the config"),
    Column("class", "string", "the class that is counted"),
    Column("hidden_size", "int64", "hidden size"),
    Column("layers", "int64", "layers"),
    Column("heads", "int64", "attention heads"),
    Column("kv_heads", "int64", "key-value heads"),
    Column("head_dim", "int64", "head dimension"),
    Column("mlp", "int64", "width of the MLP"),
    Column("vocab", "int64", "rows of the vocabulary"),
    Column("experts", "int64", "experts of a layer"),
    Column("unique", "int64", "parameters, each tied tensor once"),
    Column("built", "int64", "parameters of the class as built from the config"),
    Column("loaded", "int64", "parameters of the class once it is loaded: a head that the config says is untied has its own"),
    Column("stored", "int64", "elements that a file holds: parameters and saved buffers"),
    Column("active", "int64", "parameters that work on one token"),
    Column("trainable", "int64", "parameters that are not frozen"),
    Column("embedding", "int64", "parameters in tables that are looked up"),
    Column("non_embedding", "int64", "the other parameters"),
    Column("buffers", "int64", "saved state that is not learned"),
    Column("flops_per_token", "int64", "matrix FLOPs of a forward pass over 1,024 tokens, for each of them, rounded down"),
    Column("cache_per_token", "int64", "bytes that one more token adds to the cache after 4,096 of them, in bfloat16"),
    Column("bytes", "int64", "bytes of all tensors in the file"),
    Column("dtypes", "string", "elements by type, as JSON"),
    Column("quantization", "string", "the method that the config names"),
    Column("verified", "bool", "whether the file's tensors are those of the config's class; null where there is nothing to compare"),
    Column("mismatch", "string", "what is not explained, in words"),
    Column("claimed", "int64", "the parameters that the file's metadata, or the table's record, states"),
    Column("claim_holds", "bool", "whether that is what there is: in the file, or in the class as built or loaded"),
    Column("claim_convention", "string", "where it does not hold: the way of counting that gives the stated number, if one does"),
    Column("year", "int64", "the year that the record or the file's metadata states, else that of the file's time"),
    Column("year_from", "string", "where the year is from: record, metadata or file"),
    Column("fingerprint", "string", "equal for equal sizes of one class (configs), or for equal tensors (files)"),
)
"""The columns in their order."""


def arrow_schema() -> pyarrow.Schema:
    """Return the Arrow schema of a census, with its version and meanings in the metadata."""
    import pyarrow as pa

    types = {"string": pa.string(), "int64": pa.int64(), "bool": pa.bool_()}
    fields = [pa.field(column.name, types[column.type], metadata={"meaning": column.meaning}) for column in COLUMNS]
    return pa.schema(fields, metadata={"weighbridge.census": str(VERSION)})


LARGEST = 2**63 - 1


def fit_int64(row: Mapping[str, Any]) -> Row:
    """Return a row whose counts fit 64 bits; what does not is an error, never a wrapped number.

    >>> fit_int64({"path": "a", "status": "ok", "unique": 2**70})["status"]
    'error'
    """
    for name, value in row.items():
        if type(value) is int and not -LARGEST <= value <= LARGEST:
            return {"path": row["path"], "status": ERROR, "error": f"{name} does not fit 64 bits: {value}"}
    return dict(row)


def failure_row(path: str, error: BaseException, status: str = ERROR) -> Row:
    """Return the row of what could not be weighed."""
    text = str(error) or type(error).__name__
    return {"path": path, "status": status, "error": text if len(text) <= 1000 else text[:999] + "…"}
