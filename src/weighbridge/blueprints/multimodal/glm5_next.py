"""GLM-5.3: delta attention and, in every fourth layer, latent attention over keys that an indexer picks, in mixed residual streams.

Source: Z.ai, GLM-5.3 (2026); names as in transformers 5.23.0, models/glm5_next/modeling_glm5_next.py. No layer has rotary positions.
"""

from __future__ import annotations

from weighbridge.blueprints.mixtures.deepseek import LATENT, MORE_IGNORED_KEYS, SPARSE, V3_BLOCK, latent_attention, latent_fields
from weighbridge.blueprints.mixtures.deepseek_v4 import hyper_connection
from weighbridge.blueprints.mixtures.deepseek_v32 import scorer
from weighbridge.blueprints.modules.causal_lm import NO_MLP_BIAS, with_heads
from weighbridge.blueprints.modules.composite import model_config
from weighbridge.blueprints.modules.layer_types import checked_kinds, dense_before, listed_or
from weighbridge.blueprints.modules.mixture_of_experts import EXPERTS, mlp
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS as VISION_IGNORED_KEYS
from weighbridge.blueprints.modules.vlm_common import flat_text_config, with_lm_head, without_head
from weighbridge.blueprints.multimodal import glm_ocr
from weighbridge.blueprints.multimodal.glm4v import MARKS
from weighbridge.blueprints.multimodal.qwen_vl import body
from weighbridge.blueprints.state_space.kimi_linear import delta, delta_fields
from weighbridge.config.family import Family
from weighbridge.config.fields import INDEX_HEAD_DIM, INDEX_HEADS, Q_LORA_RANK, Config, Field, constant, size, switch, variant
from weighbridge.core.length import unknown
from weighbridge.core.parts import embedding, replace, rms_norm, stack
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Node, Part, State, Tensor

PICKED = unknown("which keys are attended to depends on the indexer")


def text(c: Config) -> tuple[Node, ...]:
    """Describe embeddings, layers between residual streams, and a last norm."""
    H = c.hidden

    def layer(kinds: tuple[str, str, str]) -> tuple[Node, ...]:
        mixer = delta(c) if kinds[0] == "linear_attention" else _attention(c, kinds[1])
        norms = rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H)
        return mixer, mlp(c, kinds[2]), *norms, hyper_connection(c, "attn_hc"), hyper_connection(c, "ffn_hc")

    kinds = list(zip(c.mixers, c.indexers, c.kinds, strict=True))
    return embedding("embed_tokens", c.vocab, H), *stack("layers", kinds, c.layers, layer), rms_norm("norm", H)


def _attention(c: Config, kind: str) -> Part:
    """Describe latent attention; an indexer keeps the key and the gate of each token and whether it counts."""
    whole = latent_attention(c, *indexer(c, kind))
    if kind == "shared":
        return whole
    return replace(whole, children=(*whole.children, State("indexer_keys", 2 * c.index_dim + 1, per_token=True)))


def indexer(c: Config, kind: str) -> tuple[Part, ...]:
    """Describe the indexer, which pools neighbouring keys before it scores them; a layer may share an earlier one's choice."""
    if kind == "shared":
        return ()
    plain, places = scorer(c, c.q_lora), Tensor("index_kpool_compress_ape", (c.pool, c.index_dim), "embedding")
    gate = Tensor("index_kpool_compress_gate", (c.index_dim, c.hidden))
    return (replace(plain, children=(places, gate, *plain.children), stream=PICKED),)


def _every_fourth(c: Config) -> list[str]:
    return ["linear_attention" if index % 4 != 3 else "indexed_attention" for index in layer_range(c.layers)]


def _mixers(c: Config) -> list[str]:
    kinds = [NAMES.get(kind, kind) for kind in c.stated_mixers] if isinstance(c.stated_mixers, list) else c.stated_mixers
    return checked_kinds(c, kinds, "layer_types", ("full_attention", "linear_attention"))


def _indexers(c: Config) -> list[str]:
    if c.pattern is not None:
        return [{"F": "full", "S": "shared"}.get(letter, letter) for letter in c.pattern]
    period = max(c.period, 1)
    return ["shared" if max(index - c.offset + 1, 0) % period else "full" for index in layer_range(c.layers)]


def _indexer_kinds(c: Config) -> list[str]:
    stated = c.stated_indexers[: c.layers] if isinstance(c.stated_indexers, list) else c.stated_indexers  # one that is longer is taken
    return checked_kinds(c, stated, "indexer_types", ("full", "shared"))


NAMES = {"indexed_attention": "full_attention"}
RANK = Q_LORA_RANK.with_default(1536)
TEXT = variant(
    variant(
        (*LATENT, *latent_fields(q=1536, kv=512, plain=256, rope=64, value=256)),
        Field("stated_mixers", "layer_types", _every_fourth, "choice"),
        constant("mixers", _mixers),
        *delta_fields(64, "Z"),
        constant("gated", False),
        constant("flat_decay", True),
        *listed_or(lambda c: dense_before(c, 3)),
        INDEX_HEADS.with_default(32),
        INDEX_HEAD_DIM.with_default(128),
        Field("pattern", "index_topk_pattern", None, "choice", report_default=False),
        Field("period", "index_topk_freq", 1, "choice", report_default=False),
        Field("offset", "index_skip_topk_offset", 2, "choice", report_default=False),
        Field("stated_indexers", "indexer_types", _indexers, "choice"),
        constant("indexers", _indexer_kinds),
        size("pool", "index_kpool", 16, "B", "keys that the indexer pools"),
        size("streams", "hc_mult", 4, "S", "residual streams"),
        *SPARSE,
        NO_MLP_BIAS,
        vocab=154880,
        mlp=12288,
        layers=45,
        heads=64,
        active=8,
        experts=replace(EXPERTS, default=288, aliases=("num_local_experts",)),
        expert_mlp=2048,
        block=V3_BLOCK,
    ),
    q_lora=RANK,
    rope_dim=constant("rope_dim", 0),
)
VISION = (*glm_ocr.BASE, size("merger_mlp", "projection_intermediate_size", 10240, "J", "inner width of the merger"))
BOTH = (
    model_config("vision", "vision_config", "glm5_next_vision", fixed=True),
    model_config("text", "text_config", "glm5_next_text", fixed=True),
    switch("tied", "tie_word_embeddings", False),
)
CLASSES = {"Glm5NextModel": without_head(body), "Glm5NextForConditionalGeneration": with_lm_head(body)}
IGNORED_KEYS = MORE_IGNORED_KEYS | frozenset(
    """hc_eps hc_sinkhorn_iters index_kpool_always_select_tail index_topk linear_lower_bound mlp_bias norm_topk_prob qk_rope_head_dim
    swiglu_limit tie_word_embeddings topk_group""".split()
)
FAMILIES = {
    "glm5_next": Family("glm5_next", BOTH, CLASSES, "Glm5NextModel", VISION_IGNORED_KEYS | MARKS, normalize_config=flat_text_config(TEXT)),
    "glm5_next_text": Family("glm5_next_text", TEXT, with_heads("Glm5NextText", text, ""), "Glm5NextTextModel", IGNORED_KEYS),
    "glm5_next_vision": Family(
        "glm5_next_vision",
        VISION,
        {"Glm5NextVisionModel": glm_ocr.vision},
        "Glm5NextVisionModel",
        frozenset(("image_size", "swiglu_limit")),
    ),
}
