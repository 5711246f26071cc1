"""ShadowPEFT: a small model of the base's own kind beside it, and what couples the two in every adapted block.

Source: huggingface/peft 0.21.2, tuners/shadow/model.py (_init_shadow_backbone, _build_shadow_backbone, _build_shadow_head), layers.py
(ShadowLayer)
"""

from __future__ import annotations

from weighbridge.accounts.adapters.base import Base, base
from weighbridge.accounts.adapters.prompts import WIDTHS, fact
from weighbridge.accounts.adapters.sites import BASE, AddedTensor, Site
from weighbridge.config.bind import bind
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError, UsageError
from weighbridge.core.messages import Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from weighbridge.value import ModelValue

    Config = Mapping[str, Any]

BACKBONES = ("model", "transformer", "base_model", "decoder")
STACKS = ("layers", "h")
"""Where the library looks for the decoder's layers."""

CHANGES = {
    "shadow_num_hidden_layers": ("num_hidden_layers", "n_layer", "num_layers", "encoder_layers"),
    "shadow_hidden_size": WIDTHS,
    "shadow_intermediate_size": ("intermediate_size", "ffn_dim", "n_inner"),
    "shadow_num_attention_heads": ("num_attention_heads", "n_head", "num_heads", "encoder_attention_heads"),
}
"""By field of the adapter: the fields of the base's config that it may stand for, of which the first that is there is set."""

HEAD_DIM_IS_SET = frozenset(
    (
        "arcee",
        "aria_text",
        "csm",
        "deepseek_v2",
        "diffllama",
        "ernie4_5",
        "eurobert",
        "hyperclovax",
        "internlm3",
        "iquestcoder",
        "jais2",
        "kyutai_speech_to_text",
        "llama",
        "minicpm3",
        "mistral",
        "moshi",
        "nemotron",
        "nomic_bert",
        "qwen3_vl_moe_text",
    )
)
"""Types whose config class works ``head_dim`` out as it is made, so that it stays when the width changes; all others do so in each layer.

Source: huggingface/transformers 5.23.0, the config classes, each made with ``head_dim=None``
"""

OPEN_KV_HEADS = frozenset(("ernie4_5_moe", "gpt_bigcode", "nemotron"))
"""Types whose config class leaves ``num_key_value_heads`` open in the same way."""

HEADS = ("score", "classifier")


def prepare_shadow(model: ModelValue, below: Base, raw: Config) -> dict[str, Any]:
    """Return the adapter's config with its target blocks, and with the shadow's own model as it is built.

    Raises:
        ConfigError: The shadow is a model of its own.
        UsageError: The base is no decoder of the kind that is mirrored.
    """
    if raw.get("shadow_model") not in (None, "mirror"):
        raise ConfigError(
            "expected mirror; a shadow from a file is counted by its own config", key="shadow_model", value=raw["shadow_model"]
        )
    path, stack = _decoder(below)
    config = {key: value for key, value in raw.items() if value is not None}
    if config.get("target_modules") is None:
        blocks = [name for name in below.modules if name.rpartition(".")[0] == f"{path}{stack}"]
        config["target_modules"] = blocks
    return {**config, "shadow": _mirror(model, config), "shadow_path": path, "shadow_width": fact(below.config, WIDTHS, "hidden_size")}


def _decoder(below: Base) -> tuple[str, str]:
    """Return the path of the decoder's layers: the parent module's name with a trailing dot, and the name of the list."""
    if below.input_embedding is None:
        raise UsageError("SHADOW: mirrors only language models; this one has no token table")
    outer = [f"{name}." for name in BACKBONES if name in below.modules]
    outer += [f"{path}." for path in below.modules if "." not in path and any(f"{path}.{stack}.0" in below.modules for stack in STACKS)]
    outer.append("")
    for holder in (f"{outer[0]}decoder.", outer[0], ""):
        for stack in STACKS:
            if f"{holder}{stack}.0" in below.modules:
                return holder, stack
    raise UsageError("SHADOW: the library finds no decoder layers in this model (layers or h inside of model or transformer)")


def _mirror(model: ModelValue, config: Config) -> Base:
    """Return the base's own model as the shadow has it: fewer layers, other sizes where the adapter says so."""
    if model.description is None:
        raise UsageError("SHADOW: the base is a file; give its config, so that a smaller one can be built")
    known, stated, bound = model.description
    sized = [field for field in known.fields if field.kind == "size" and field.key]
    own = {field.key: int(value) for field in sized for value in (getattr(bound, field.word),) if value is not None}
    # sizes that the base's class worked out from others are left out, so that they follow those the adapter changes
    following = {"n_inner", *(() if known.model_type in HEAD_DIM_IS_SET else ("head_dim",))}
    following |= {"num_key_value_heads"} if known.model_type in OPEN_KV_HEADS else set()
    facts = {**{key: value for key, value in own.items() if key not in following}, **stated}
    for field, names in CHANGES.items():
        value = config.get(field) or (1 if field == "shadow_num_hidden_layers" else None)
        if value is None:
            continue
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ConfigError("expected a whole number from 1 up", key=field, value=value)
        name = next((name for name in names if name in own or name in stated), None)
        if name is None:
            raise UsageError(Text("{field}: the base's config has none of {names}", field=field, names=", ".join(names)))
        facts[name] = value
        if field == "shadow_num_hidden_layers" and isinstance(facts.get("layer_types"), list):
            kinds = facts["layer_types"] or ["full_attention"]
            facts["layer_types"] = [*kinds, *[kinds[-1]] * value][:value]
    sizes = bind(known.fields, facts)
    return base(known.classes[model.class_name](sizes), known.model_type, facts, class_name=model.class_name)


def shadow(site: Site, config: Config) -> Iterator[AddedTensor]:
    """Yield what a block gets: a bottleneck that injects the shadow's state, and two small networks that move it on; a block has no weight whose type they could take."""
    path, wide = site.path, config["shadow_width"]
    r, inner = config["r"], config.get("update_hidden_size") or config["r"]
    for key, value in (("r", r), ("update_hidden_size", inner)):
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ConfigError("expected a whole number from 1 up", key=key, value=value)
    yield AddedTensor(f"{path}.shadow_down.weight", (r, wide), dtype="float32")
    yield AddedTensor(f"{path}.shadow_up.weight", (wide, r), dtype="float32")
    for name in ("shadow_update_transform", "shadow_update_gate"):
        yield AddedTensor(f"{path}.{name}.0.weight", (inner, wide), dtype="float32")
        yield AddedTensor(f"{path}.{name}.0.bias", (inner,), dtype="float32")
        yield AddedTensor(f"{path}.{name}.2.weight", (wide, inner), dtype="float32")
        yield AddedTensor(f"{path}.{name}.2.bias", (wide,), dtype="float32")


def shadow_model(sites: list[Site], config: Config, below: Base) -> Iterator[AddedTensor]:
    """Yield the shadow itself, what brings it to the base's width, and its copy of a classifier's head."""
    mirrored, path = config["shadow"], config["shadow_path"]
    wide, own = config["shadow_width"], fact(mirrored.config, WIDTHS, "shadow_hidden_size")
    shares = config.get("share_embeddings", True) and own == wide
    owners: set[str] = set()
    for row in mirrored.rows:
        if not row.name.startswith(path) or (shares and row.name.startswith(f"{path}embed_tokens.")):
            continue
        # The library looks for them around the shadow too.
        if config.get("heads") and row.name.rpartition(".")[0].endswith(tuple(config["modules_to_save"])):
            raise UsageError(Text("modules_to_save: {path} stands in the shadow too, which the library then copies", path=row.name))
        owner = row.tied_to or row.name
        name = f"shadow_backbone.{row.name.removeprefix(path)}"
        yield AddedTensor(name, row.shape, parameter=row.role != "buffer" and owner not in owners, dtype=BASE)
        owners.add(owner)
    if own != wide:
        yield AddedTensor("shadow_projection.weight", (wide, own), dtype=BASE)
    head = next((name for name in HEADS if name in below.modules), None) if config.get("task_type") == "SEQ_CLS" else None
    for row in below.within(head) if head else ():
        yield AddedTensor(f"shadow_head.{row.name}", row.shape, parameter=row.role != "buffer", dtype=BASE)  # type: ignore[arg-type]
