"""The tree that transformers 4.57, the last series of version 4, builds from a config, where 5.23.0 builds another."""

from __future__ import annotations

from weighbridge.accounts.parameters import count
from weighbridge.blueprints.describe import with_sizes
from weighbridge.config.bind import bind
from weighbridge.config.fields import Config
from weighbridge.conventions.older_configs import as_older
from weighbridge.conventions.tree_changes import change, change_tensors, tie
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import WeighbridgeError
from weighbridge.core.interfaces import Mapping
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
    known, raw, _ = model.description
    try:
        read = as_older(known.model_type, raw)
        if read == raw:
            return _build_older(model)
        sizes = bind(known.fields, read)
        as_read = model.replace(tree=known.classes[model.class_name](sizes), description=model.description._replace(raw=read, sizes=sizes))
    except (WeighbridgeError, KeyError):
        return model.tree
    older = _build_older(as_read)
    return model.tree if count(older) == count(model.tree) else older


def _build_older(model: ModelValue) -> Part:
    """Return the tree that version 4.57 builds from a config that both releases read alike."""
    assert model.description is not None
    known, raw, sizes = model.description
    own = _with_own_code(model)
    tree = _with_older_ties(model) if own is None else own
    if known.model_type == "mvp" and raw.get("use_prompt") is True:
        return _with_prompts(tree, sizes.layers)
    return _with_outer_width(tree, raw) if known.model_type == "fuyu" else tree


def _with_older_ties(model: ModelValue) -> Part:
    """Return the tree of a type or class that the tie flag alone changes."""
    assert model.description is not None
    known, raw, sizes = model.description
    inner = getattr(sizes, "text", None)
    composite = isinstance(inner, Config)
    text = raw.get("text_config", raw if known.model_type in FLAT else {}) if composite else raw
    silent = getattr(inner, "tied", None) if composite else known.model_type not in UNTIED_BY_DEFAULT
    flag = text.get("tie_word_embeddings", silent) if isinstance(text, Mapping) else None
    outer = raw.get("tie_word_embeddings", flag)
    if known.model_type in OWN_HEADS or flag not in (True, False) or (flag and outer is not False and not composite):
        return model.tree
    keys = ("tie_word_embeddings", *(("text_config.tie_word_embeddings",) if composite and "text_config" in raw else ()))
    try:
        tied = with_sizes(model.description, model.class_name, dict.fromkeys(keys, True))[0]
    except (WeighbridgeError, KeyError):
        return model.tree
    if flag:
        return model.tree if count(tied) == count(model.tree) else tied
    older = untie(tied)
    for name, owner in TIED_NONETHELESS.get(model.class_name, ()):
        older = tie(older, name, owner)
    return model.tree if count(older) == count(model.tree) else older


def _with_own_code(model: ModelValue) -> Part | None:
    """Return the tree of a type or class that 4.57 builds by rules of its own; None for one that only the tie flag changes."""
    assert model.description is not None
    known, raw, sizes = model.description
    if known.model_type in SETTINGS:
        return _with_settings(model, SETTINGS[known.model_type])
    if raw.get(BIASED_EXPERTS.get(known.model_type, "")) is True:
        return _with_biased_experts(model.tree)
    if known.model_type == "blt" and raw.get("tie_word_embeddings") is True:  # the table's sizes there, the head's since
        untied = known.classes[model.class_name](bind(known.fields, {**raw, "tie_word_embeddings": False}))
        return tie(untied, "lm_head.weight", "model.local_encoder.embed_tokens.weight")
    text = raw.get("text_config")
    if known.model_type in ("qwen2_audio", "voxtral") and isinstance(text, Mapping) and text.get("tie_word_embeddings") is True:
        return tie(model.tree, "lm_head.weight", "model.language_model.embed_tokens.weight")
    if model.class_name == "CpmAntForCausalLM" and raw.get("tie_word_embeddings") is False:
        return change(model.tree, "lm_head.weight", shape=next(row for row in list_rows(model.tree) if "input" in row.name).shape)
    if model.class_name == "MoshiForCausalLM" and raw.get("tie_word_embeddings") is True:
        return tie(model.tree, "lm_head.weight", "model.embed_tokens.weight")
    if (
        model.class_name in ("DebertaForMaskedLM", "DebertaV2ForMaskedLM")
        and raw.get("legacy") is False
        and raw.get("tie_word_embeddings") is not False
    ):
        tree = change(model.tree, f"{NEWER_HEAD}.bias", shape=(sizes.vocab,))
        return tie(tree, f"{NEWER_HEAD}.weight", "deberta.embeddings.word_embeddings.weight")
    if model.class_name in ("MarianModel", "MarianMTModel") and raw.get("share_encoder_decoder_embeddings") is False:
        name = next(row.name for row in list_rows(model.tree) if row.name.endswith("decoder.embed_tokens.weight"))
        return change(model.tree, name, shape=(sizes.vocab, sizes.hidden))
    if known.model_type == "moonshine":
        return _with_own_heads(model.tree, known.classes["MoonshineDecoder"](sizes))
    if known.model_type == "longcat_flash":
        return _without_zero_experts(model.tree, sizes.experts)
    if model.class_name in ("ColPaliForRetrieval", "ColQwen2ForRetrieval", "Ovis2ForConditionalGeneration"):
        return _with_outer_head(model.tree, raw)
    if model.class_name == "Pix2StructForConditionalGeneration":  # whose outer flag alone counts there
        return tie(model.tree, "decoder.lm_head.weight", "decoder.embed_tokens.weight" if raw.get("tie_word_embeddings") is True else None)
    if model.class_name in TIES and (model.class_name in ALWAYS_TIED or raw.get("tie_word_embeddings") is not False):
        tree = model.tree
        for name, owner in TIES[model.class_name]:
            tree = tie(tree, name, owner)
        return tree
    if model.class_name in GIVEN_WORDS:
        rest = (child for child in model.tree.children if not (isinstance(child, Part) and child.name in ("embed_tokens", "embed_patches")))
        return model.tree._replace(children=tuple(rest))
    if model.class_name in POSITIONS_AS_BUFFERS:
        return _with_buffers(model.tree)
    swin = without_last_norm(model.tree)
    if _has_absolute_swin(known.model_type, raw):
        swin = _with_one_more_position(swin)
    if known.model_type == "mask2former":
        swin = _without_projections(swin)
    return swin if swin != model.tree else None


NEWER_HEAD = "lm_predictions.lm_head.dense"
"""The map of DeBERTa's head without ``legacy``, which 4.57 ties to the words, with a bias for each of them."""
GIVEN_WORDS = frozenset(("T5Stack", "MT5Stack", "UMT5Stack", "Pop2PianoStack", "UdopStack"))
"""Stacks that are handed their table of words there, and what reads patches: alone they have none."""

FLAT = frozenset(("glm4v", "glm4v_moe", "qwen2_5_vl", "qwen2_vl"))
"""Types that hand what their config says to the text config, where there is none."""

SETTINGS: dict[str, dict[str, object]] = {
    "flava": {"tie_word_embeddings": True},
    "gemma3n": {"text_config.num_kv_shared_layers": 0},
    "gemma3n_text": {"num_kv_shared_layers": 0},
    "mm-grounding-dino": {"decoder_bbox_embed_share": False, "decoder_cls_embed_share": False},
}
"""Types that 4.57 builds as if their configs said so: layers that take keys and values from an earlier one have maps for them all the same,
which published files hold; the heads of MM Grounding DINO's layers are copies; the biases of FLAVA's heads are one whatever is said."""


def _with_settings(model: ModelValue, settings: dict[str, object]) -> Part:
    """Return the tree that other settings give; that of *model* where they change nothing.

    >>> from weighbridge import model
    >>> text = model({"model_type": "gemma3n_text"})
    >>> count(text.tree), count(older_tree(text))
    (6835235568, 6866696688)
    """
    assert model.description is not None
    try:
        older = with_sizes(model.description, model.class_name, settings)[0]
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
    "BridgeTowerForMaskedLM": (("mlm_score.decoder.weight", "bridgetower.text_model.embeddings.word_embeddings.weight"),),
    "CpmAntForCausalLM": (("lm_head.weight", "cpmant.input_embedding.weight"),),
    "FSMTForConditionalGeneration": (("model.decoder.output_projection.weight", "model.decoder.embed_tokens.weight"),),
    "FSMTModel": (("decoder.output_projection.weight", "decoder.embed_tokens.weight"),),
    "LukeForMaskedLM": (("lm_head.decoder.weight", "luke.embeddings.word_embeddings.weight"),),
    "Pop2PianoForConditionalGeneration": (("lm_head.weight", "shared.weight"),),
    "ShieldGemma2ForImageClassification": (("model.lm_head.weight", None),),
    "UdopForConditionalGeneration": UDOP_PATCHES,
    "UdopModel": (
        *UDOP_PATCHES,
        ("encoder.relative_bias.biases.0.relative_attention_bias.weight", UDOP_BIAS),
        ("decoder.relative_bias.biases.0.relative_attention_bias.weight", UDOP_BIAS),
    ),
    "VisualBertForRegionToPhraseAlignment": (("cls.predictions.decoder.weight", None),),
}
"""Tensors that 4.57 ties otherwise than 5.23.0, unless the config says that nothing is tied: each with its owner there, or None if it has none."""
TIED_NONETHELESS: dict[str, tuple[tuple[str, str | None], ...]] = {
    "LukeForMaskedLM": (("entity_predictions.decoder.weight", "luke.entity_embeddings.entity_embeddings.weight"),),
    "LxmertForPreTraining": (("cls.predictions.decoder.weight", "lxmert.embeddings.word_embeddings.weight"),),
}
"""Tensors that 4.57 ties though the config says that nothing is tied, in code of the class's own."""
ALWAYS_TIED = frozenset(("FSMTForConditionalGeneration", "FSMTModel"))
"""Classes whose ties of :data:`TIES` no config undoes."""
POSITIONS_AS_BUFFERS = ("SamModel", "SamHQModel")
"""Classes whose random positions are a buffer in 4.57, and a frozen parameter since."""


def _with_outer_head(tree: Part, raw: Mapping[str, object]) -> Part:
    """Return the tree of a composite whose head 5.23.0 builds from the text config, or not at all.

    Ovis 2's head is made of ``vocab_size`` and ``hidden_size`` of the outer config; what ColPali and ColQwen 2 hold is a language model with its
    head, which PaliGemma ties by itself.

    >>> from weighbridge import model
    >>> count(older_tree(model({"model_type": "ovis2"}, "Ovis2ForConditionalGeneration")))
    12011608566
    """
    outer = raw if raw.get("model_type") == "ovis2" else raw.get("vlm_config")
    outer = outer if isinstance(outer, Mapping) else {}
    text = outer.get("text_config", {} if outer is raw else outer)
    silent = raw.get("model_type") == "colpali"
    if isinstance(text, Mapping) and text.get("tie_word_embeddings", silent) is True:
        return tree
    if outer is raw:
        vocab, hidden = raw.get("vocab_size", 151643), raw.get("hidden_size", 1536)
        return change(tree, "lm_head.weight", shape=(vocab, hidden), tied_to=None)
    table = next(row for row in list_rows(tree) if row.name.endswith("embed_tokens.weight"))
    head = Part("lm_head", (Tensor("weight", table.shape, "weight"),), kind="linear")
    children = (
        child._replace(children=(*child.children, head)) if isinstance(child, Part) and child.name == "vlm" else child
        for child in tree.children
    )
    return tree._replace(children=tuple(children))


def _with_outer_width(tree: Part, raw: Mapping[str, object]) -> Part:
    """Return Fuyu's tree with patches as wide as the outer config says, not as the words are.

    >>> from weighbridge import model
    >>> fuyu = model({"model_type": "fuyu", "text_config": {"hidden_size": 2048}})
    >>> count(older_tree(fuyu)) - count(fuyu.tree)
    5531648
    """
    width = raw.get("hidden_size", 4096)
    for row in list_rows(tree):
        if "vision_embed_tokens." in row.name:
            tree = change(tree, row.name, shape=(width, *row.shape[1:]))
    return tree


def _with_buffers(tree: Part) -> Part:
    """Return SAM's tree with its random positions as a buffer.

    >>> from weighbridge import model
    >>> count(_with_buffers(model("sam-vit-base").tree)), count(model("sam-vit-base").tree)
    (93735472, 93735728)
    """
    return change_tensors(tree, lambda _, one: (one._replace(role="buffer") if one.name == "positional_embedding" else one,))


BIASED_EXPERTS = {"deepseek_v2": "mlp_bias", "ernie4_5_moe": "use_bias"}
"""Types whose experts have biases in 4.57 under a key, and none since."""


def _with_biased_experts(tree: Part) -> Part:
    """Return a mixture's tree with biases for the maps of its experts.

    >>> from weighbridge import model
    >>> ernie = model({"model_type": "ernie4_5_moe", "use_bias": True, "num_hidden_layers": 2})
    >>> count(older_tree(ernie)) - count(ernie.tree)
    360448
    """

    def with_bias(_: Part, one: Tensor) -> tuple[Tensor, ...]:
        biased = one.name in ("gate_up_proj", "down_proj")
        return (one, *((one._replace(name=f"{one.name}_bias", shape=one.shape[:2], role="bias"),) if biased else ()))

    return change_tensors(tree, with_bias)


def _with_prompts(tree: Part, layers: Size) -> Part:
    """Return MVP's tree with prompts for its encoder too; 5.23.0 builds those of the decoder alone.

    >>> from weighbridge import model
    >>> mvp = model({"model_type": "mvp", "use_prompt": True})
    >>> count(older_tree(mvp)) - count(mvp.tree)
    20607776
    """
    named = {child.name: child for child in tree.children if isinstance(child, Part)}
    if not {"encoder", "decoder"} <= set(named):
        return tree._replace(children=tuple(_with_prompts(child, layers) if isinstance(child, Part) else child for child in tree.children))
    prompt = next(child for child in named["decoder"].children if child.name == "self_attn_prompt" and isinstance(child, Part))
    rows = {row.name: row.shape for row in list_rows(prompt)}
    width = rows["prompt_embedding.weight"][1]
    own = change(prompt, "prompt_trans.2.weight", shape=(2 * layers * width, rows["prompt_trans.2.weight"][1]))
    own = change(own, "prompt_trans.2.bias", shape=(2 * layers * width,))
    encoder = named["encoder"]._replace(children=(*named["encoder"].children, own))
    return tree._replace(children=tuple(encoder if child.name == "encoder" else child for child in tree.children))


def _with_own_heads(tree: Part, decoder: Part) -> Part:
    """Return Moonshine's tree with a decoder of its own heads; since, the encoder's are written over them.

    >>> from weighbridge import model
    >>> moonshine = model({"model_type": "moonshine", "decoder_num_key_value_heads": 2})
    >>> count(moonshine.tree) - count(older_tree(moonshine))
    1492992
    """
    children = (
        child._replace(children=decoder.children if child.name == "decoder" else _with_own_heads(child, decoder).children)
        if isinstance(child, Part) and child.name in ("decoder", "model")
        else child
        for child in tree.children
    )
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
    """Return a tree whose Swin backbones lack the norm after the last stage, which 5.23.0 builds and never uses.

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


def _has_absolute_swin(model_type: str, raw: Mapping[str, object]) -> bool:
    inner = raw if model_type == "swin" else raw.get("backbone_config")
    return (
        isinstance(inner, Mapping)
        and (model_type == "swin" or inner.get("model_type") == "swin")
        and inner.get("use_absolute_embeddings") is True
    )


def _with_one_more_position(tree: Part) -> Part:
    """Return Swin's tree with a row of positions for a class token that it has not, as 4.57 builds it.

    >>> from weighbridge import model
    >>> swin = model({"model_type": "swin", "use_absolute_embeddings": True})
    >>> count(older_tree(swin)) - count(swin.tree)
    96
    """

    def longer(holder: Part, one: Tensor) -> tuple[Tensor]:
        table = one.name == "position_embeddings" and len(one.shape) == 3 and holder.name == "embeddings"
        return (one._replace(shape=(one.shape[0], one.shape[1] + 1, one.shape[2])) if table else one,)

    return change_tensors(tree, longer)


def _without_projections(tree: Part) -> Part:
    """Return Mask2Former's tree without the maps to the decoder's width, which 4.57 keeps in a plain list, where PyTorch finds no parameters.

    >>> from weighbridge import model
    >>> count(model({"model_type": "mask2former", "hidden_dim": 128}).tree) - count(older_tree(model({"model_type": "mask2former", "hidden_dim": 128})))
    100224
    """
    children = (_without_projections(child) if isinstance(child, Part) else child for child in tree.children)
    return tree._replace(
        children=tuple(child for child in children if child.name != "input_projections" or tree.name != "transformer_module")
    )


OWN_HEADS = frozenset(("blt", "imagegpt", "kyutai_speech_to_text"))
"""Types whose head 4.57 never ties, or never unties, whatever the flag says."""
UNTIED_BY_DEFAULT = frozenset(("mt5", "vilt"))
"""Types whose config had ``tie_word_embeddings`` False where nothing was said; 5.23.0 forces it True."""


def untie(tree: Part) -> Part:
    """Return a tree whose heads own the matrices that word tables hold for them.

    >>> from weighbridge import model
    >>> count(untie(model("flan-t5-base").tree))
    247577856
    """
    rows = list_rows(tree)
    tables = frozenset(row.name for row in rows if row.role == "embedding")
    heads = frozenset(
        row.name for row in rows if row.role == "weight" or row.name.startswith("lm_head.")
    )  # a head may stand first, and own the table

    def own(_: Part, one: Tensor) -> tuple[Tensor]:
        return (one._replace(tied_to=None) if one.tied_to in {"weight": tables, "embedding": heads}.get(one.role, ()) else one,)

    return change_tensors(tree, own)
