"""The tree that transformers 4.57, the last series of version 4, builds from a config, where 5.23.0 builds another."""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.accounts.parameters import count
from weighbridge.config.bind import bind, with_overrides
from weighbridge.config.fields import Config
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import WeighbridgeError
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor, list_rows

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


def older_tree(model: ModelValue) -> Part:
    """Return the tree that version 4.57 builds; the very tree of *model* where the two do not differ.

    There ``tie_word_embeddings`` unties the head's matrix and nothing else (``PreTrainedModel.tie_weights``, ``_tie_or_clone_weights``):
    the bias of a BERT-like head, and the table that an encoder and a decoder share, stay one. A composite asks its text config.
    """
    if model.description is None:
        return model.tree
    known, raw, sizes = model.description
    if known.model_type in SETTINGS:
        return _with_settings(model, SETTINGS[known.model_type])
    if known.model_type == "longcat_flash":
        return _without_zero_experts(model.tree, sizes.experts)
    if model.class_name in TIES and raw.get("tie_word_embeddings") is not False:
        tree = model.tree
        for name, owner in TIES[model.class_name]:
            tree = _tie(tree, name, owner)
        return tree
    if model.class_name in POSITIONS_AS_BUFFERS:
        return _with_buffers(model.tree)
    if (swin := without_last_norm(model.tree)) != model.tree:
        return swin
    inner = getattr(sizes, "text", None)
    composite = isinstance(inner, Config)
    text = raw.get("text_config", {}) if composite else raw
    silent = getattr(inner, "tied", None) if composite else known.model_type not in UNTIED_BY_DEFAULT
    flag = text.get("tie_word_embeddings", silent) if isinstance(text, Mapping) else None
    outer = raw.get("tie_word_embeddings", flag)
    if known.model_type in OWN_HEADS or flag not in (True, False) or (flag and outer is not False):
        return model.tree
    keys = ("tie_word_embeddings", *(("text_config.tie_word_embeddings",) if composite and "text_config" in raw else ()))
    try:
        tied = known.classes[model.class_name](bind(known.fields, with_overrides(raw, dict.fromkeys(keys, True), known.fields)))
    except (WeighbridgeError, KeyError):
        return model.tree
    if flag:
        return model.tree if count(tied) == count(model.tree) else tied
    older = untie(tied)
    return model.tree if count(older) == count(model.tree) else older


SETTINGS: dict[str, dict[str, object]] = {
    "gemma3n": {"text_config.num_kv_shared_layers": 0},
    "gemma3n_text": {"num_kv_shared_layers": 0},
    "mm-grounding-dino": {"decoder_bbox_embed_share": False, "decoder_cls_embed_share": False},
}
"""Types that 4.57 builds as if their configs said so: layers that take keys and values from an earlier one have maps for them all the same,
which published files hold; the heads of MM Grounding DINO's layers are copies."""


def _with_settings(model: ModelValue, settings: dict[str, object]) -> Part:
    """Return the tree that other settings give; that of *model* where they change nothing.

    >>> from weighbridge import model
    >>> text = model({"model_type": "gemma3n_text"})
    >>> count(text.tree), count(older_tree(text))
    (6835235568, 6866696688)
    """
    assert model.description is not None
    known, raw, _ = model.description
    try:
        older = known.classes[model.class_name](bind(known.fields, with_overrides(raw, settings, known.fields)))
    except (WeighbridgeError, KeyError):
        return model.tree
    older = without_last_norm(older)
    return model.tree if count(older) == count(model.tree) else older


UDOP_PATCHES = (
    ("decoder.embed_patches.proj.weight", "patch_embed.proj.weight"),
    ("decoder.embed_patches.proj.bias", "patch_embed.proj.bias"),
)
UDOP_BIAS = "encoder.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
TIES: dict[str, tuple[tuple[str, str | None], ...]] = {
    "BigBirdPegasusForCausalLM": (("lm_head.weight", "model.decoder.embed_tokens.weight"),),
    "CpmAntForCausalLM": (("lm_head.weight", "cpmant.input_embedding.weight"),),
    "LukeForMaskedLM": (("lm_head.decoder.weight", "luke.embeddings.word_embeddings.weight"),),
    "Pop2PianoForConditionalGeneration": (("lm_head.weight", "shared.weight"),),
    "UdopForConditionalGeneration": UDOP_PATCHES,
    "UdopModel": (
        *UDOP_PATCHES,
        ("encoder.relative_bias.biases.0.relative_attention_bias.weight", UDOP_BIAS),
        ("decoder.relative_bias.biases.0.relative_attention_bias.weight", UDOP_BIAS),
    ),
    "VisualBertForRegionToPhraseAlignment": (("cls.predictions.decoder.weight", None),),
}
"""Tensors that 4.57 ties otherwise than 5.23.0, unless the config says that nothing is tied: each with its owner there, or None if it has none."""
POSITIONS_AS_BUFFERS = ("SamModel", "SamHQModel")
"""Classes whose random positions are a buffer in 4.57, and a frozen parameter since."""


def _tie(tree: Part, name: str, owner: str | None) -> Part:
    """Return a tree in which the tensor at the dotted path *name* is *owner*'s, or nobody else's.

    >>> from weighbridge import model
    >>> count(_tie(model({"model_type": "pop2piano"}, "Pop2PianoForConditionalGeneration").tree, "lm_head.weight", "shared.weight"))
    57879552
    """
    first, _, rest = name.partition(".")
    children: list[Node] = []
    for child in tree.children:
        if child.name == first and isinstance(child, Part) and rest:
            children.append(_tie(child, rest, owner))
        elif child.name == first and isinstance(child, Tensor):
            children.append(child._replace(tied_to=owner))
        else:
            children.append(child)
    return tree._replace(children=tuple(children))


def _with_buffers(tree: Part) -> Part:
    """Return SAM's tree with its random positions as a buffer.

    >>> from weighbridge import model
    >>> count(_with_buffers(model("sam-vit-base").tree)), count(model("sam-vit-base").tree)
    (93735472, 93735728)
    """
    children: list[Node] = []
    for child in tree.children:
        if isinstance(child, Part):
            child = _with_buffers(child)
        elif isinstance(child, Tensor) and child.name == "positional_embedding":
            child = child._replace(role="buffer")
        children.append(child)
    return tree._replace(children=tuple(children))


def _without_zero_experts(tree: Part, experts: Size) -> Part:
    """Return LongCat-Flash's tree with weights for the experts that compute alone; 5.23.0 gives the others half of theirs, never used.

    >>> from weighbridge import model
    >>> count(older_tree(model({"model_type": "longcat_flash"}, "LongcatFlashForCausalLM")))
    560664958976
    """
    children: list[Node] = []
    for child in tree.children:
        if isinstance(child, Part):
            child = _without_zero_experts(child, experts)
        elif isinstance(child, Tensor) and child.name == "gate_up_proj":
            return tree._replace(children=(child._replace(shape=(experts, *child.shape[1:])),), experts=experts)
        children.append(child)
    return tree._replace(children=tuple(children))


def without_last_norm(tree: Part) -> Part:
    """Return a tree whose Swin backbones lack the norm behind the last stage, which 5.23.0 builds and never uses.

    >>> from weighbridge import model
    >>> count(without_last_norm(model("grounding-dino-tiny").tree))
    172249090
    """
    names = {child.name for child in tree.children if isinstance(child, Part)}
    within = {"swin", "hidden_states_norms"} <= names
    children = []
    for child in tree.children:
        if isinstance(child, Part):
            if within and child.name == "swin":
                child = child._replace(children=tuple(node for node in child.children if node.name != "layernorm"))
            child = without_last_norm(child)
        children.append(child)
    return tree._replace(children=tuple(children))


OWN_HEADS = frozenset(("imagegpt", "kyutai_speech_to_text"))
"""Types whose head 4.57 never ties, or never unties, whatever the flag says."""
UNTIED_BY_DEFAULT = frozenset(("mt5", "umt5", "vilt"))
"""Types whose config had ``tie_word_embeddings`` False where nothing was said; 5.23.0 forces it True."""


def untie(tree: Part) -> Part:
    """Return a tree whose heads own the matrices that word tables hold for them.

    >>> from weighbridge import model
    >>> count(untie(model("flan-t5-base").tree))
    247577856
    """
    rows = list_rows(tree)
    return _untie(
        tree, frozenset(row.name for row in rows if row.role == "embedding"), frozenset(row.name for row in rows if row.role == "weight")
    )


def _untie(tree: Part, tables: frozenset[str], heads: frozenset[str]) -> Part:
    children: list[Node] = []
    for child in tree.children:
        if isinstance(child, Part):
            children.append(_untie(child, tables, heads))
        elif isinstance(child, Tensor) and child.tied_to in {"weight": tables, "embedding": heads}.get(child.role, ()):
            children.append(child._replace(tied_to=None))
        else:
            children.append(child)
    return tree._replace(children=tuple(children))
