"""Aria: Llama with fine-grained and shared experts, and learned queries that attend to an image's patches.

Source: arXiv 2410.05993; class and tensor names as in transformers 5.23.0, models/aria/modeling_aria.py. The experts' matrices are
stored as ``[inputs, outputs]``.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.blueprints.modules.causal_lm import FIELDS, IGNORED_KEYS, attention, with_heads
from weighbridge.blueprints.modules.composite import model_config, submodel
from weighbridge.blueprints.modules.vlm_common import patch_tokens
from weighbridge.blueprints.multimodal.llava import body, family_of
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, choice, computed, size, switch, variant
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import Stream, length, unknown
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, embedding, fused_experts, gated_mlp, layer_norm, linear, matmul, part, rms_norm
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Node, Part, Tensor


def aria(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers of attention and experts, and a last norm."""
    H = c.hidden
    layer = part(
        "layers",
        attention(c),
        part(
            "mlp",
            linear("router", H, c.experts, bias=False),
            fused_experts(c.experts, c.active, H, c.mlp, inputs_first=True),
            gated_mlp("shared_experts", H, c.shared_experts * c.mlp, bias=c.mlp_bias),
            kind="mixture",
        ),
        rms_norm("input_layernorm", H),
        rms_norm("post_attention_layernorm", H),
        kind="layer",
        repeat=c.layers,
    )
    return (embedding("embed_tokens", c.vocab, H), layer, rms_norm("norm", H))


ARIA = variant(
    FIELDS,
    size("experts", "moe_num_experts", 8, "E", "experts"),
    size("active", "moe_topk", 2, "k", "experts per token"),
    size("shared_experts", "moe_num_shared_experts", 2, "N", "shared experts"),
    mlp=4096,
)


def projector(c: Config, tower: Part) -> Part:
    """Describe learned queries, as many as an image of so many patches wants, their attention to the patches, and an MLP."""
    V, H, A = c.vision.hidden, c.text.hidden, c.vision.heads
    patches = patch_tokens(tower)
    queries: Stream = c.asked or unknown("the config gives no number of queries for an image of that many patches")
    inside = part(
        "multihead_attn",
        *(Tensor("in_proj_weight", (3 * V, V), "weight"), Tensor("in_proj_bias", (3 * V,), "bias")),
        linear("out_proj", V, V),
        kind="attention",
    )
    return part(
        "multi_modal_projector",
        Tensor("query", (c.queries, V), "embedding"),
        part(
            "cross_attn",
            linear("q_proj", V, V, bias=False),
            *(linear(name, V, V, bias=False, stream=patches) for name in ("k_proj", "v_proj")),
            inside,
            linear("linear", V, V),
            layer_norm("layer_norm", V),
            layer_norm("layer_norm_kv", V, stream=patches),
            # The inner matrix maps queries, keys and values; two thirds of it work on patches, and not on queries.
            matmul("keys_and_values", (2, V, V, length(patches) - c.asked)) if c.asked else matmul("keys_and_values"),
            attend(heads=A, head_dim=exact(V, A), keys=patches),
            kind="cross_attention",
        ),
        layer_norm("layer_norm", V),
        part("feed_forward", linear("linear_in", V, H, bias=False), linear("linear_out", H, H, bias=False), kind="feed_forward"),
        kind="projector",
        stream=queries,
    )


def queries_by_patches(table: object) -> dict[int, int]:
    """Read how many queries an image of so many patches wants; JSON makes text of the keys."""
    if isinstance(table, Mapping) and table:
        numbers = {int(key): value for key, value in table.items() if str(key).isdigit() and type(value) is int and value > 0}
        if len(numbers) == len(table):
            return numbers
    raise ConfigError(
        Text("expected whole numbers of queries by numbers of patches, found {table!r:.60}", table=table),
        key="projector_patch_to_query_dict",
    )


def query_count(c: Config) -> int | None:
    """Return how many queries an image wants, if the config says it for its number of patches."""
    patches = submodel(c.vision).stream
    table: dict[int, int] = c.table
    wanted = table.get(patches) if isinstance(patches, int) else None
    return None if wanted is None else min(wanted, c.queries)


CLASSES = with_heads("AriaText", aria, "lm")
MOST = "max_value_projector_patch_to_query_dict"
"""What the reference works out of the table, and yet takes from a config that states it."""

BOTH = (
    model_config("vision", "vision_config", "idefics3_vision"),
    model_config("text", "text_config", "aria_text", fixed=True),
    choice("table", "projector_patch_to_query_dict", lambda c: {1225: 128, 4900: 256}, read=queries_by_patches),
    size("queries", MOST, lambda c: max(c.table.values()), "Q", "learned query tokens", report_default=False),
    computed("asked", query_count),
    switch("tied", "tie_word_embeddings", False),
)
FAMILIES = {
    "aria": family_of("aria", "Aria", BOTH, lambda c: body(c, projector), "vision_feature_layer"),
    "aria_text": Family("aria_text", ARIA, CLASSES, "AriaTextModel", IGNORED_KEYS),
}
