"""The model below an adapter: its modules, its ties, and the few facts of its config that the adapter library asks for."""

from __future__ import annotations

from weighbridge.accounts.adapters.modules import Module, modules
from weighbridge.config.bind import find_sub_config
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.interfaces import Mapping
from weighbridge.core.last import keep_last
from weighbridge.core.tree import Part, Row, list_rows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from weighbridge.config.fields import Field
    from weighbridge.value import ModelValue

HEADS = (
    "lm_head",
    "embed_out",
    "predictions.decoder",
    "lm_head.decoder",
    "lm_head.out_proj",
    "head.decoder",
    "generator_lm_head",
    "vocab_projector",
    "mlm_score.decoder",
    "pred_layer.proj",
)
"""Names of output embeddings, where no tie tells which module it is."""

OUTERMOST_HEADS = ("proj_out", "output", "decoder", "head", "output_projection", "lm_predictions.lm_head.dense")
"""Names of output embeddings that other modules further inside have too."""

LAST_PIECES = frozenset(name.rpartition(".")[2] for name in (*HEADS, *OUTERMOST_HEADS))
"""How they all end."""

WITHOUT_OUTPUT = frozenset(("blip", "clvp_decoder", "fsmt", "lxmert", "shieldgemma2"))
WITHOUT_OUTPUT_CLASSES = frozenset(("VisualBertForRegionToPhraseAlignment",))
"""Model types and classes with a head that ``get_output_embeddings`` does not return."""

TIES_UNSAID = ("ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering")
TIES_SAID = frozenset(("T5ForQuestionAnswering", "MT5ForQuestionAnswering", "UMT5ForQuestionAnswering"))
"""Classes of encoder-decoders by their endings whose tables are tied inside, and which do not say so themselves; and those that do."""

UNTIED_OUTSIDE = frozenset(
    (
        "blip-2",
        "encoder-decoder",
        "florence2",
        "instructblip",
        "instructblipvideo",
        "kosmos-2",
        "kosmos-2.5",
        "llama4",
        "musicgen",
        "musicgen_melody",
        "pix2struct",
        "speech-encoder-decoder",
        "vision-encoder-decoder",
    )
)
"""Types whose text model ties its embeddings, and whose own config says that nothing is tied."""

ALWAYS_TIED = frozenset(
    (
        "csm",
        "hunyuan_vl",
        "longt5",
        "mt5",
        "paddleocr_vl",
        "pop2piano",
        "shieldgemma2",
        "t5",
        "udop",
        "umt5",
        "vilt",
    )
)
"""Types whose config class says that embeddings are tied whatever a config states (``tie_word_embeddings=False`` comes back as True)."""

TRANSPOSED = frozenset(("gpt2", "gpt-sw3", "openai-gpt", "imagegpt", "decision_transformer", "clvp", "clvp_decoder", "clvp_encoder"))
TRANSPOSED_NAMES = frozenset(("c_attn", "c_fc", "c_proj", "q_attn"))
"""Model types and modules that are ``Conv1D``: linear layers whose weights are ``[inputs, outputs]``."""

ROUTERS = ("gate", "router")
LINEAR_ROUTERS = frozenset(("llama4", "llama4_text", "phimoe"))
"""A router beside fused experts is a module of its own with a bare weight, but for these types, whose router is a linear layer."""

RENAMED = TRANSPOSED_NAMES.union(ROUTERS)
"""Names of modules that may be something else for an adapter library than for everybody else; of most types no other is."""

QUANTIZED = frozenset(("ibert",))
"""Types whose encoders' linear layers and tables are classes of their own, which no adapter knows."""

QUANTIZED_PARTS = ("encoder.layer.", "embeddings.")


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
        class_name: Of its class, or the empty string.
    """

    modules: dict[str, Module]
    rows: tuple[Row, ...]
    model_type: str
    config: Mapping[str, Any]
    input_embedding: str | None
    output_embedding: str | None
    tied: tuple[str, ...]
    dtype: str
    class_name: str = ""

    @property
    def ties(self) -> bool:
        """Whether its config ties embeddings, by itself or by default."""
        return self.model_type in ALWAYS_TIED or bool(self.config.get("tie_word_embeddings", self.tied))

    def within(self, path: str) -> list[Row]:
        """Return the tensors of a module and of all modules in it."""
        return [row for row in self.rows if row.name.startswith(f"{path}.")]


@keep_last
def base(
    below: Part | Sequence[Row],
    model_type: str = "",
    config: Mapping[str, Any] | None = None,
    dtype: str = "float32",
    class_name: str = "",
) -> Base:
    """Read the model below an adapter from its tree, or from the tensors that its reader listed."""
    rows, facts = tuple(list_rows(below) if isinstance(below, Part) else below), config or {}
    found = modules(below, rows)
    known = dict(found)
    typed = model_type in QUANTIZED or model_type == "layoutlmv3"
    for path, module in found.items():
        if (typed or path[path.rfind(".") + 1 :] in RENAMED) and module.tensors:
            known[path] = module._replace(kind=_kind(module, found, model_type, facts))
    inputs = _input_embedding(known, facts, model_type)
    table = known[inputs].weight if inputs else None
    shared = _modules_tied_to(table, rows) if table is not None else []
    returned = inputs is not None and model_type not in WITHOUT_OUTPUT and class_name not in WITHOUT_OUTPUT_CLASSES
    outputs = _output_embedding(known, shared, facts) if returned else None
    unsaid = model_type in UNTIED_OUTSIDE or (class_name.endswith(TIES_UNSAID) and class_name not in TIES_SAID)
    return Base(known, rows, model_type, facts, inputs, outputs, () if unsaid else tuple(sorted(set(shared))), dtype, class_name)


def facts_of(model: ModelValue) -> dict[str, Any]:
    """Return what the model's config says, under the library's names, defaults put in; sub-configs too."""
    if model.description is None:
        return {}
    return _facts(model.description.family.fields, vars(model.description.sizes), model.description.raw)


def _facts(fields: tuple[Field, ...], sizes: Mapping[str, Any], raw: Mapping[str, Any]) -> dict[str, Any]:
    facts: dict[str, Any] = {}
    stated = {key: value for key, value in raw.items() if value is not None}
    for field in fields:
        if not field.key or field.word not in sizes or "." in field.key:
            continue
        if field.kind != "nested":
            facts[field.key] = sizes[field.word]
        elif sizes[field.word] is not None:
            inner = find_sub_config(field, raw)
            if inner is not None:
                found = vars(sizes[field.word])
                stated[field.key] = {"model_type": found.get("model_type"), **_facts(inner.fields, found, inner.raw)}
    return {**facts, **{key: value for key, value in stated.items() if key not in facts or facts[key] != value}}


def _kind(module: Module, known: Mapping[str, Module], model_type: str, facts: Mapping[str, Any]) -> str:
    """Return what an adapter library takes a module for, where that is not what it is for everybody else."""
    parent, _, name = module.path.rpartition(".")
    if module.kind == "linear" and name in TRANSPOSED_NAMES and _owner_type(module.path, model_type, facts) in TRANSPOSED:
        return "conv1d"
    if model_type == "layoutlmv3" and name.startswith("rel_pos_"):
        return "linear"
    if module.kind == "linear" and name in ROUTERS and model_type not in LINEAR_ROUTERS:
        experts = known.get(f"{parent}.experts")
        return "router" if experts is not None and any(len(row.shape) == 3 for row in experts.tensors) else "linear"
    if model_type in QUANTIZED and module.kind in ("linear", "embedding") and any(part in module.path for part in QUANTIZED_PARTS):
        return "quantized"
    return module.kind


def _owner_type(path: str, model_type: str, facts: Mapping[str, Any]) -> str:
    """Return the model type that a module belongs to: that of its encoder or decoder, where this has a config of its own."""
    inner = facts.get(path.partition(".")[0])
    return str(inner.get("model_type", "")) if isinstance(inner, Mapping) else model_type


TABLES = frozenset(
    (
        "embed_tokens",
        "word_embeddings",
        "wte",
        "tok_embeddings",
        "shared",
        "embed_in",
        "tokens_embed",
        "embeddings",
        "input_embedding",
        "token_embedding",
        "word_embedding",
    )
)
"""Names of input embeddings, where the config's vocabulary does not tell which table it is."""


BESIDE = "qformer."
"""Modules whose own table of words is not the language model's."""

INPUTS = dict.fromkeys(("seamless_m4t", "seamless_m4t_v2"), "text_decoder.embed_tokens") | {"marian": "encoder.embed_tokens"}
"""The input embedding of types that have several."""


def _input_embedding(known: Mapping[str, Module], facts: Mapping[str, Any], model_type: str) -> str | None:
    """Return the table that is looked up by tokens."""
    for path in (INPUTS.get(model_type, ""), f"model.{INPUTS.get(model_type)}"):
        if path in known:
            return path
    tables = [module for module in known.values() if module.kind == "embedding" and module.weight is not None]
    tables = [table for table in tables if not table.path.startswith(BESIDE)] or tables
    rows = _vocabulary(facts)
    fitting = [table.path for table in tables if rows is not None and table.weight and table.weight.shape[0] == rows]
    named = [table.path for table in tables if table.path.rpartition(".")[2] in TABLES]
    return next((path for path in fitting if path in named), next(iter(fitting or named), None))


def _modules_tied_to(table: Row, rows: tuple[Row, ...]) -> list[str]:
    """Return the modules whose weight is the table's storage."""
    owner = table.tied_to or table.name
    return [row.name.rpartition(".")[0] for row in rows if owner in (row.name, row.tied_to) and row.name != table.name]


def _vocabulary(facts: Mapping[str, Any]) -> int | None:
    nested = facts.get("text_config")
    found = facts.get("vocab_size", nested.get("vocab_size") if isinstance(nested, Mapping) else None)
    return found if isinstance(found, int) else None


def _is_head(path: str) -> bool:
    if path[path.rfind(".") + 1 :] not in LAST_PIECES:
        return False
    return path in OUTERMOST_HEADS or any(path == name or path.endswith(f".{name}") for name in HEADS)


def _output_embedding(known: Mapping[str, Module], shared: list[str], facts: Mapping[str, Any]) -> str | None:
    """Return the head whose outputs are tokens."""
    rows = _vocabulary(facts)
    heads = [path for path, module in known.items() if module.kind == "linear" and _is_head(path) and module.weight is not None]
    fitting = [path for path in heads if rows is None or known[path].weight.shape[0] == rows]  # type: ignore[union-attr]
    if fitting or heads:
        return (fitting or heads)[0]
    tied = [path for path in shared if known[path].kind == "linear"]
    return tied[-1] if tied else None
