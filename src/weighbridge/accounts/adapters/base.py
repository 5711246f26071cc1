"""The model below an adapter: its modules, its ties, and the few facts of its config that the adapter library asks for."""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.accounts.adapters.modules import Module, modules
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.tree import Part, Row, list_rows

if TYPE_CHECKING:
    from typing import Any

    from weighbridge.value import ModelValue

HEADS = (
    "lm_head",
    "embed_out",
    "proj_out",
    "predictions.decoder",
    "lm_head.decoder",
    "head.decoder",
    "generator_lm_head",
    "vocab_projector",
)
"""Names of output embeddings, where no tie tells which module it is."""

TRANSPOSED = frozenset(("gpt2", "openai-gpt", "imagegpt", "decision_transformer", "clvp", "clvp_decoder", "clvp_encoder"))
TRANSPOSED_NAMES = frozenset(("c_attn", "c_fc", "c_proj", "q_attn"))
"""Model types and modules that are ``Conv1D``: linear layers whose weights are ``[inputs, outputs]``."""

ROUTERS = ("gate", "router")
LINEAR_ROUTERS = frozenset(("llama4", "llama4_text", "phimoe"))
"""A router beside fused experts is a module of its own with a bare weight, but for these types, whose router is a linear layer."""

QUANTISED = frozenset(("ibert",))
"""Types whose linear layers and tables are classes of their own, which no adapter knows."""


class Base(NamedTuple):
    """A base model.

    Attributes:
        modules: Its modules by name, in the order of ``named_modules``.
        rows: Its tensors in the order of ``named_parameters``, buffers too.
        model_type: As the config says, or the empty string.
        config: The config's facts that methods ask for: ``vocab_size``, ``hidden_size`` ...
        input_embedding: The name of the module that ``get_input_embeddings`` returns, or None.
        output_embedding: The name of the module that ``get_output_embeddings`` returns, or None.
        tied: Modules whose weight is the input embedding's.
        dtype: The element type it is loaded in.
    """

    modules: dict[str, Module]
    rows: tuple[Row, ...]
    model_type: str
    config: Mapping[str, Any]
    input_embedding: str | None
    output_embedding: str | None
    tied: tuple[str, ...]
    dtype: str

    @property
    def ties(self) -> bool:
        """Whether its config ties embeddings, by itself or by default."""
        return bool(self.config.get("tie_word_embeddings", self.tied))

    def within(self, path: str) -> list[Row]:
        """Return the tensors of a module and of all modules in it."""
        return [row for row in self.rows if row.name.startswith(f"{path}.")]


def base(tree: Part, model_type: str = "", config: Mapping[str, Any] | None = None, dtype: str = "float32") -> Base:
    """Read the model below an adapter from its tree."""
    rows, facts = tuple(list_rows(tree)), config or {}
    known = {path: module._replace(kind=_kind(module, found, model_type)) for found in (modules(tree),) for path, module in found.items()}
    inputs = _input_embedding(known, facts)
    table = known[inputs].weight if inputs else None
    shared = _tied_with(table, rows) if table is not None else []
    outputs = _output_embedding(known, shared, facts)
    return Base(known, rows, model_type, facts, inputs, outputs, tuple(sorted(set(shared))), dtype)


def facts_of(model: ModelValue) -> dict[str, Any]:
    """Return what the model's config says, under the library's names, defaults put in."""
    if model.description is None:
        return {}
    facts: dict[str, Any] = {}
    sizes = vars(model.description.sizes)
    for field in model.description.family.fields:
        if field.key and field.word in sizes and "." not in field.key:
            facts[field.key] = sizes[field.word]
    return {**facts, **{key: value for key, value in model.description.raw.items() if value is not None}}


def _kind(module: Module, known: Mapping[str, Module], model_type: str) -> str:
    """Return what an adapter library takes a module for, where that is not what it is for everybody else."""
    parent, _, name = module.path.rpartition(".")
    if module.kind == "linear" and name in TRANSPOSED_NAMES and model_type in TRANSPOSED:
        return "conv1d"
    if module.kind == "linear" and name in ROUTERS and model_type not in LINEAR_ROUTERS:
        experts = known.get(f"{parent}.experts")
        return "router" if experts is not None and any(len(row.shape) == 3 for row in experts.tensors) else "linear"
    if model_type in QUANTISED and module.kind in ("linear", "embedding"):
        return "quantised"
    return module.kind


TABLES = frozenset((
    "embed_tokens", "word_embeddings", "wte", "tok_embeddings", "shared", "embed_in", "tokens_embed", "embeddings", "token_embedding", "word_embedding",
))  # fmt: skip
"""Names of input embeddings, where the config's vocabulary does not tell which table it is."""


def _input_embedding(known: Mapping[str, Module], facts: Mapping[str, Any]) -> str | None:
    """Return the table that is looked up by tokens."""
    tables = [module for module in known.values() if module.kind == "embedding" and module.weight is not None]
    rows = _vocabulary(facts)
    fitting = [table.path for table in tables if rows is not None and table.weight and table.weight.shape[0] == rows]
    named = [table.path for table in tables if table.path.rpartition(".")[2] in TABLES]
    return next((path for path in fitting if path in named), next(iter(fitting or named), None))


def _tied_with(table: Row, rows: tuple[Row, ...]) -> list[str]:
    """Return the modules whose weight is the table's storage."""
    owner = table.tied_to or table.name
    return [row.name.rpartition(".")[0] for row in rows if owner in (row.name, row.tied_to) and row.name != table.name]


def _vocabulary(facts: Mapping[str, Any]) -> int | None:
    nested = facts.get("text_config")
    found = facts.get("vocab_size", nested.get("vocab_size") if isinstance(nested, Mapping) else None)
    return found if type(found) is int else None


def _output_embedding(known: Mapping[str, Module], shared: list[str], facts: Mapping[str, Any]) -> str | None:
    """Return the head whose outputs are tokens."""
    rows = _vocabulary(facts)
    heads = [
        path
        for path, module in known.items()
        if module.kind == "linear" and module.weight is not None and any(path == name or path.endswith(f".{name}") for name in HEADS)
    ]
    fitting = [path for path in heads if rows is None or known[path].weight.shape[0] == rows]  # type: ignore[union-attr]
    if fitting or heads:
        return (fitting or heads)[0]
    tied = [path for path in shared if known[path].kind == "linear"]
    return tied[-1] if tied else None
