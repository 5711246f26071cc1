"""Speech decoders: Moshi's text model, and CSM's depth decoder of one audio frame's codebooks.

Source: arXiv 2410.00037; Sesame, CSM (2025); class and tensor names as in transformers 5.23.0, models/moshi/modeling_moshi.py and
models/csm/modeling_csm.py.
"""

from __future__ import annotations

from weighbridge.blueprints.decoders.llama import LLAMA, llama
from weighbridge.blueprints.modules.causal_lm import FIELDS, IGNORED_KEYS
from weighbridge.blueprints.modules.sliding_window import window
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, size, variant
from weighbridge.core.length import length
from weighbridge.core.parts import attend, embedding, linear, part, rms_norm
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor


def moshi(c: Config) -> tuple[Node, ...]:
    """Describe words (and one row for none), layers of attention and a gated MLP whose halves are one matrix, and a last norm."""
    H, A, K, D = c.hidden, c.heads, c.kv_heads, c.head_dim

    def inside(name: str, inputs: Size, outputs: Size) -> Part:
        return part(name, linear("linear", inputs, outputs, bias=False))

    attention = part(
        "self_attn",
        inside("q_proj", H, A * D),
        inside("k_proj", H, K * D),
        inside("v_proj", H, K * D),
        inside("o_proj", A * D, H),
        attend(causal=True, heads=A, kv_heads=K, head_dim=D, window=c.window),
        kind="self_attention",
    )
    mlp = part("mlp", linear("fc1", H, c.mlp, bias=False), linear("fc2", c.mlp // 2, H, bias=False), kind="feed_forward")
    norms = (rms_norm("input_layernorm", H), rms_norm("post_attention_layernorm", H))
    layer = part("layers", attention, mlp, *norms, kind="layer", repeat=c.layers)
    return (embedding("embed_tokens", c.vocab + 1, H), layer, rms_norm("norm", H))


def causal(c: Config) -> Part:
    """Describe MoshiForCausalLM, whose head is no tie."""
    return part("", part("model", *moshi(c), kind="backbone"), linear("lm_head", c.hidden, c.vocab, bias=False), kind="model")


def depth(c: Config) -> tuple[Node, ...]:
    """Describe Llama over the codebooks of a frame: all tables in one, as wide as the backbone, and a way from there."""
    _, *rest = llama(c)
    table = embedding("embed_tokens", c.codebooks * c.vocab, c.backbone)
    return (table, *rest, linear("inputs_embeds_projector", c.backbone, c.hidden, bias=False))


def codebooks(c: Config) -> Part:
    """Describe CsmDepthDecoderForCausalLM: the token at each place has a head of its own, the first, which is the backbone's, none."""
    weight = Tensor("weight", (c.codebooks - 1, c.hidden, c.vocab))
    head = part("codebooks_head", weight, kind="head", experts=c.codebooks - 1, active=1, stream=length("seq") - 1)
    return part("", part("model", *depth(c), kind="backbone"), head, kind="model")


MOSHI = variant(
    tuple(field for field in FIELDS if field.word not in ("labels", "tied", "qkv_bias", "out_bias", "mlp_bias")),
    mlp=size("mlp", "ffn_dim", 22528, "I", "width of gate and up projection together", minimum=2),
    window=window(default=3000),
)
DEPTH = variant(
    LLAMA,
    size("codebooks", "num_codebooks", 32, "B", "codebooks", minimum=2),
    size("backbone", "backbone_hidden_size", 2048, "E", "hidden size of the backbone"),
    vocab=size("vocab", "vocab_size", 2051, "V", "vocabulary size", "codebook_size"),
    hidden=1024,
    mlp=8192,
    layers=4,
    heads=8,
    kv_heads=2,
)
MORE_IGNORED_KEYS = IGNORED_KEYS | {
    "audio_encoder_config",
    "audio_vocab_size",
    "depth_decoder_config",
    "num_codebooks",
    "tie_word_embeddings",
}
CLASSES = {"MoshiModel": lambda c: part("", *moshi(c), kind="model"), "MoshiForCausalLM": causal}
DEPTH_CLASSES = {"CsmDepthDecoderModel": lambda c: part("", *depth(c), kind="model"), "CsmDepthDecoderForCausalLM": codebooks}
FAMILIES = {
    "moshi": Family("moshi", MOSHI, CLASSES, "MoshiForCausalLM", MORE_IGNORED_KEYS),
    "csm_depth_decoder_model": Family("csm_depth_decoder_model", DEPTH, DEPTH_CLASSES, "CsmDepthDecoderForCausalLM", MORE_IGNORED_KEYS),
}
