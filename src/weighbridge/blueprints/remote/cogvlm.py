"""CogVLM and CogVLM2: a second set of matrices in every layer for the tokens of images, and EVA's tower; its code stands beside its files.

Source: arXiv 2311.03079 and 2408.16500; modeling_cogvlm.py and visual.py of zai-org/cogvlm-chat-hf and zai-org/cogvlm2-llama3-chat-19B, whose configs name no
model type. Held to published totals, not to a live class. GLM-4V (:mod:`.chatglm`) has the tower of the second.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS
from weighbridge.config.family import Family
from weighbridge.config.fields import HEADS, HIDDEN, IN_CHANNELS, LAYERS, MLP, PATCH, VOCAB, Config, Field, SubConfig, nested, size
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import unknown
from weighbridge.core.parts import attend, conv2d, embedding, gated_mlp, layer_norm, linear, part, plain_mlp, rms_norm
from weighbridge.core.sizes import Size, exact
from weighbridge.core.tree import Part, Tensor

if TYPE_CHECKING:
    from typing import Any

SEEN = unknown("how many tokens are an image's is not known from a length alone")


def gated_projector(inputs: Size, hidden: Size, inner: Size, stream: Size) -> Part:
    """Describe GLU: a map with a norm, and a gated MLP."""
    maps = linear("dense_h_to_4h", hidden, inner, bias=False), linear("gate_proj", hidden, inner, bias=False)
    down = linear("dense_4h_to_h", inner, hidden, bias=False)
    first = linear("linear_proj", inputs, hidden, bias=False)
    return part("linear_proj", first, layer_norm("norm1", hidden), *maps, down, kind="projector", stream=stream)


def eva2clip(c: Config, hidden: Size, inner: Size, merged: Size | None) -> Part:
    """Describe EVA2CLIPModel, with norms behind attention and MLP; the later ones merge squares of patches by a convolution.

    Args:
        c: The tower.
        hidden, inner: Widths of the words and of the gated MLP.
        merged: The width of merged patches: the tower's in CogVLM2, that of the words in GLM-4V; None where they are not merged.
    """
    W, side = c.hidden, c.image // c.patch
    attends = part(
        "attention",
        linear("query_key_value", W, 3 * W),
        linear("dense", W, W),
        attend(heads=c.heads, head_dim=exact(W, c.heads)),
        kind="self_attention",
    )
    mlp = plain_mlp("mlp", W, c.mlp, ("fc1", "fc2"), bias=True)
    norms = layer_norm("input_layernorm", W), layer_norm("post_attention_layernorm", W)
    layer = part("layers", norms[0], attends, mlp, norms[1], kind="layer", repeat=c.layers)
    patches = side * side
    left = patches if merged is None else (side // 2) * (side // 2)
    return part(
        "vision",
        *(Tensor(name, (1, 1, hidden), "embedding") for name in ("boi", "eoi")),
        part(
            "patch_embedding",
            Tensor("cls_embedding", (1, W), "embedding"),
            conv2d("proj", c.channels, W, c.patch, stream=patches),
            embedding("position_embedding", c.positions, W),
            kind="embeddings",
        ),
        part("transformer", layer, kind="encoder"),
        gated_projector(W if merged is None else merged, hidden, inner, left),
        *(() if merged is None else (conv2d("conv", W, merged, 2, stream=left),)),
        kind="vision",
        stream=patches + 1,
        requires="images",
        executions="images",
    )


def expert_attention(c: Config) -> Part:
    """Describe attention whose maps are two: for words, and for images."""
    H, D = c.hidden, exact(c.hidden, c.heads)
    width = H + 2 * c.kv_heads * D
    frequencies = part("rotary_emb", Tensor("inv_freq", (exact(D, 2),), "buffer"), kind="rotary")
    return part(
        "self_attn",
        *((frequencies,) if c.second else ()),
        linear("vision_expert_query_key_value", H, width, bias=c.second, stream=SEEN, requires="images"),
        linear("vision_expert_dense", H, H, bias=False, stream=SEEN, requires="images"),
        linear("language_expert_query_key_value", H, width, bias=False),
        linear("language_expert_dense", H, H, bias=False),
        attend(causal=True, heads=c.heads, kv_heads=c.kv_heads, head_dim=D),
        kind="self_attention",
    )


def cogvlm(c: Config) -> Part:
    """Describe CogVLMForCausalLM."""
    H = c.hidden
    mlps = gated_mlp("language_mlp", H, c.mlp), gated_mlp("vision_mlp", H, c.mlp, stream=SEEN, requires="images")
    layer = part(
        "layers",
        expert_attention(c),
        part("mlp", *mlps, kind="mixture"),
        *(rms_norm(name, H) for name in ("input_layernorm", "post_attention_layernorm")),
        kind="layer",
        repeat=c.layers,
    )
    tower = eva2clip(c.vision, H, c.mlp, c.vision.hidden if c.second else None)
    body = part("model", embedding("embed_tokens", c.vocab, H), layer, rms_norm("norm", H), tower, kind="backbone")
    return part("", body, linear("lm_head", H, c.vocab, bias=False), kind="model")


def refuse_agent(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Refuse CogAgent, which has a second tower of its own."""
    found = next((key for key in raw if key.startswith("cross_")), None)
    if found is not None:
        raise ConfigError("the second tower of CogAgent is not described", key=found)
    return dict(raw)


EVA = (
    HIDDEN.with_default(1792),
    MLP.with_default(15360),
    LAYERS.with_default(63),
    size("heads", "num_heads", 16, "A", "attention heads"),
    size("image", "image_size", 490, "R", "image size"),
    PATCH.with_default(14),
    IN_CHANNELS.with_default(3),
    size("positions", "num_positions", lambda c: (c.image // c.patch) * (c.image // c.patch) + 1, "S", "positions of patches"),
)
EVA_KEYS = frozenset("dropout_prob hidden_act layer_norm_eps scaling_factor".split())


def tower_field() -> Field:
    """Declare the tower of a model that may have none."""

    def resolve(value: Any, path: str) -> SubConfig | None:
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise ConfigError("expected a sub-config", key=path)
        return SubConfig(value, EVA, EVA_KEYS)

    return Field("vision", "vision_config", None, "nested", resolve=resolve)


FIELDS = (
    VOCAB.with_default(32000),
    HIDDEN.with_default(4096),
    MLP.with_default(11008),
    LAYERS.with_default(32),
    HEADS.with_default(32),
    size("kv_heads", "num_multi_query_heads", lambda c: c.heads, "K", "key-value heads"),
    Field("second", "num_multi_query_heads", None, "choice", read=lambda value: value is not None, report_default=False),
    nested("vision", "vision_config", EVA),
)
KEYS = IGNORED_KEYS | EVA_KEYS | frozenset("template_version max_position_embeddings tie_word_embeddings rms_norm_eps".split())
CLASS = "CogVLMForCausalLM"
FAMILIES = {"cogvlm": Family("cogvlm", FIELDS, {CLASS: cogvlm}, CLASS, KEYS, normalize_config=refuse_agent)}
