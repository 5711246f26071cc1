"""Mistral Large 4's text: indexed latent attention whose latents several layers may share, some of them without rotary positions.

Source: Mistral AI, Mistral Large 4 (2026); class and tensor names as in transformers 5.23.0,
models/mistral_large4/modeling_mistral_large4.py, which computes the scores of all keys and masks those that are not picked: the
arithmetic is that of full attention, and the indexer's beside it.
"""

from __future__ import annotations

from weighbridge.blueprints.mixtures.deepseek import LATENT, MORE_IGNORED_KEYS, SPARSE, latent_fields
from weighbridge.blueprints.mixtures.deepseek_v32 import ROUTED, SHARED_INDEXERS, scorer
from weighbridge.blueprints.modules.causal_lm import NO_MLP_BIAS
from weighbridge.blueprints.modules.layer_types import dense_before, listed_or, one_per_layer
from weighbridge.blueprints.modules.mixture_of_experts import mlp
from weighbridge.blueprints.modules.stage_fields import scale_width, simplest_fraction
from weighbridge.config.family import Family
from weighbridge.config.fields import INDEX_HEAD_DIM, INDEX_HEADS, Config, Field, constant, derived, variant
from weighbridge.core.errors import ConfigError
from weighbridge.core.messages import Text
from weighbridge.core.parts import attend, embedding, layer_norm, linear, part, rms_norm, stack
from weighbridge.core.sizes import Size, layer_range
from weighbridge.core.tree import Node, Part, Tensor


def text(c: Config) -> Part:
    """Describe MistralLarge4TextModel: embeddings, layers of indexed attention and an MLP or experts, and a last norm."""
    H = c.hidden

    def layer(kinds: tuple[str, str, bool, bool]) -> tuple[Node, ...]:
        mixed, indexed, rotary, shared = kinds
        norms = rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H)
        return attention(c, indexed=indexed == "full", rotary=rotary, shared=shared), mlp(c, mixed), *norms

    kinds = list(zip(c.kinds, c.indexers, c.rotary, c.sharing, strict=True))
    layers = stack("layers", kinds, c.layers, layer)
    learned = part("rotary_emb", Tensor("alpha", (c.frequencies,), "buffer"), kind="rotary", stream=0)
    return part("", embedding("embed_tokens", c.vocab, H), *layers, rms_norm("norm", H), learned, kind="model")


def attention(c: Config, *, indexed: bool, rotary: bool, shared: bool) -> Part:
    """Describe latent attention: without rotary positions all of a head is plain, and a *shared* latent is an earlier layer's."""
    H, A, width = c.hidden, c.heads, c.plain_dim + c.rope_dim
    plain, rope = (c.plain_dim, c.rope_dim) if rotary else (width, 0)
    down = linear("kv_a_proj_with_mqa", H, c.kv_lora + rope, bias=c.qkv_bias), rms_norm("kv_a_layernorm", c.kv_lora)
    cache = (0 if shared else c.kv_lora + rope) + (c.index_dim if indexed else 0)
    return part(
        "self_attn",
        *(() if shared else down),
        linear("kv_b_proj", c.kv_lora, A * (plain + c.value_dim), bias=False),
        linear("o_proj", A * c.value_dim, H, bias=c.out_bias),
        *((indexer(c),) if indexed else ()),
        linear("q_proj", H, A * width, bias=False),
        softmax_scaling(A),
        attend(causal=True, heads=A, head_dim=width, value_dim=c.value_dim, cache=cache),
        kind="latent_attention",
    )


def indexer(c: Config) -> Part:
    """Describe the scores that pick the keys, whose queries are made of the layer's own input."""
    return scorer(c, c.hidden, layer_norm("q_input_norm", c.hidden), softmax_scaling(c.index_heads))


def softmax_scaling(heads: Size) -> Part:
    """Describe what scales the queries of each head by the logarithm of the position."""
    return part("softmax_scaling", Tensor("scale", (heads,), "gain"), Tensor("bias", (heads,), "bias"), kind="scale")


def _rotary(c: Config) -> list[bool]:
    stated = c.rotary_layers
    if stated is None:
        if type(c.interval) is not int or c.interval < 1:
            raise ConfigError("expected a whole number from 1 up", key="no_rope_layer_interval", value=c.interval)
        stated = [int((index + 1) % c.interval != 0) for index in layer_range(c.layers)]
    return [bool(rotary) for rotary in one_per_layer(c, stated, "no_rope_layers", longer=True)]


def _rotary_share(c: Config) -> tuple[str, tuple[int, int]]:
    """Return how frequencies are made, and on which share of the rotary width; without parameters the class takes yarn."""
    stated = c.older_rope or c.rope
    rope = stated if isinstance(stated, dict) else {}
    kind = "yarn" if stated is None else str(rope.get("rope_type", rope.get("type", "default")))
    share = rope.get("partial_rotary_factor", 1.0 if c.rope_share is None else c.rope_share)
    if type(share) not in (int, float) or not 0 < share < 2**20:
        raise ConfigError(
            Text("expected a ratio, found {value!r:.60}", value=share), key="rope_parameters.partial_rotary_factor", value=share
        )
    return kind, simplest_fraction(share)


def _frequencies(c: Config) -> Size:
    """Return how many frequencies the rotary embedding learns a scale for: those that stay put count where the share is a proportion."""
    kind, share = c.rotary_share
    if kind == "default" or (kind == "proportional" and share[0] <= share[1]):
        return c.rope_dim // 2 if kind == "proportional" else (c.rope_dim + 1) // 2
    if kind == "proportional":
        return scale_width(c.rope_dim, (share[0], 2 * share[1]))
    return (scale_width(c.rope_dim, share) + 1) // 2


def _shares_latents(c: Config) -> list[bool]:
    """Return for each layer whether the latents it attends to are an earlier one's."""
    layers = layer_range(c.layers)
    sources = list(layers) if c.sources is None else one_per_layer(c, c.sources, "kv_source_layers")
    for index, source in enumerate(sources):
        if type(source) is not int or not 0 <= source <= index or sources[source] != source:
            raise ConfigError(
                "a layer can only take the latents of an earlier layer that computes its own", key="kv_source_layers", value=sources
            )
    return [source != index for index, source in enumerate(sources)]


def _kinds(c: Config) -> list[str]:
    return dense_before(c, c.dense)


FIELDS = variant(
    tuple(field for field in (*LATENT, *latent_fields(q=1, kv=512, plain=64, rope=64, value=128)) if field.word != "q_lora"),
    Field("dense", "first_k_dense_replace", 1, "choice", report_default=False),
    *listed_or(_kinds),
    INDEX_HEADS.with_default(32),
    INDEX_HEAD_DIM.with_default(128),
    *SPARSE,
    NO_MLP_BIAS,
    *SHARED_INDEXERS,
    Field("rotary_layers", "no_rope_layers", None, "choice", report_default=False),
    Field("interval", "no_rope_layer_interval", 4, "choice", report_default=False),
    constant("rotary", _rotary),
    Field("sources", "kv_source_layers", None, "choice", report_default=False),
    constant("sharing", _shares_latents),
    Field("rope", "rope_parameters", None, "choice", report_default=False),
    Field("older_rope", "rope_scaling", None, "choice", report_default=False),
    Field("rope_share", "partial_rotary_factor", None, "choice", report_default=False),
    constant("rotary_share", _rotary_share),
    derived("frequencies", _frequencies, "qk_rope_head_dim", "rope_parameters.partial_rotary_factor"),
    vocab=204800,
    hidden=6144,
    mlp=24576,
    layers=72,
    heads=64,
    experts=ROUTED.with_default(128),
    active=4,
    expert_mlp=6144,
)
NAME = "MistralLarge4TextModel"
IGNORED_KEYS = MORE_IGNORED_KEYS | frozenset("final_logit_softcapping index_topk layer_types topk_group".split())
FAMILIES = {"mistral_large4_text": Family("mistral_large4_text", FIELDS, {NAME: text}, NAME, IGNORED_KEYS)}
