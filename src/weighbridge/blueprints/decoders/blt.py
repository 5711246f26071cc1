"""The Byte Latent Transformer: a global transformer over patches of bytes, between a local encoder and a local decoder (Pagnoni et al., 2024).

Source: arXiv 2412.09871; names as in transformers 5.23.0, models/blt/modeling_blt.py. A small model of its own finds where patches end,
so their number depends on the bytes.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import model_config
from weighbridge.config.family import Blueprint, Family
from weighbridge.config.fields import HEADS, HIDDEN, KV_HEADS, LAYERS, VOCAB, Config, Field, computed, sequence, size, switch
from weighbridge.core.length import Stream, unknown
from weighbridge.core.parts import attend, embedding, gated_mlp, linear, part, replace, rms_norm
from weighbridge.core.sizes import Size
from weighbridge.core.tree import Node, Part, Tensor


def fields(hidden: int, layers: int, heads: int, mlp: int | None) -> tuple[Field, ...]:
    """List the fields that all four transformers have."""
    third = lambda c: 8 * c.hidden // 3  # noqa: E731
    return (
        HIDDEN.with_default(hidden),
        replace(size("mlp", "intermediate_size", third if mlp is None else mlp, "I", "intermediate size", null=third), positive=True),
        LAYERS.with_default(layers),
        HEADS.with_default(heads),
        KV_HEADS.with_default(lambda c: c.heads),
    )


BYTES = VOCAB.with_default(260)
CROSSED = size("across", "cross_attn_k", 2, "X", "vectors per patch in cross-attention")
ENCODER = (BYTES, *fields(1024, 1, 16, None), CROSSED, switch("every", "cross_attn_all_layers", False))
DECODER = (
    *fields(1024, 9, 16, 2816),
    CROSSED,
    switch("every", "cross_attn_all_layers", True),
    size("whole", "hidden_size_global", 2048, "G", "hidden size of the large model"),
)
GLOBAL = (*fields(2048, 25, 16, 5632), size("entering", "encoder_cross_output_size", None, "E", "input width of the large model"))
PATCHER = (BYTES, *fields(768, 14, 12, 2048))
FIELDS = (
    VOCAB.with_default(260),
    size("across", "cross_attn_k", 2, "X", "vectors per patch in cross-attention"),
    size("hashed", "encoder_hash_byte_group_vocab", 500002, "N", "rows for the hashes of one length"),
    size("functions", "encoder_hash_byte_group_nb_functions", 1, "F", "hash functions", minimum=0),
    sequence("lengths", "encoder_hash_byte_group_size", [3, 4, 5, 6, 7, 8], read=lambda value: value or [3, 4, 5, 6, 7, 8]),
    switch("patched", "patch_in_forward", True),
    model_config("patcher", "patcher_config", "blt_patcher", fixed=True),
    model_config("encoder", "encoder_config", "blt_local_encoder", fixed=True),
    model_config("decoder", "decoder_config", "blt_local_decoder", fixed=True),
    model_config("middle", "global_config", "blt_global_transformer", fixed=True),
    computed("projected", lambda c: c.encoder.hidden * c.across != c.middle.hidden),
    switch("replaced", "tie_word_embeddings", False),
)


PATCHES = unknown("the patcher decides how many bytes make a patch")


def projections(c: Config, keys: Stream | None = None) -> tuple[Node, ...]:
    """Describe the maps of attention, and attention."""
    H, A, K, D = c.hidden, c.heads, c.kv_heads, c.hidden // c.heads
    maps = (("q_proj", H, A * D, None), ("k_proj", H, K * D, keys), ("v_proj", H, K * D, keys), ("o_proj", A * D, H, None))
    linears = (linear(name, inputs, outputs, bias=False, stream=stream) for name, inputs, outputs, stream in maps)
    return *linears, attend(heads=A, kv_heads=K, head_dim=D, keys=keys)


def layers(c: Config) -> Part:
    """Describe the layers: Llama's."""
    inside = (part("self_attn", *projections(c), kind="self_attention"), gated_mlp("mlp", c.hidden, c.mlp))
    return part(
        "layers",
        *inside,
        *(rms_norm(name, c.hidden) for name in ("input_layernorm", "post_attention_layernorm")),
        kind="layer",
        repeat=c.layers,
    )


def cross_attention(c: Config, queries: Stream | None, keys: Stream) -> Part:
    """Describe cross-attention between bytes and patches, behind all layers or one."""
    inside = (*projections(c, keys), rms_norm("q_norm", c.hidden), rms_norm("k_norm", c.hidden))
    return part("cross_attn_layers", *inside, kind="cross_attention", repeat=c.layers if c.every else 1, stream=queries)


def patch_projection(c: Config, width: Size) -> Part:
    """Describe the map of a patch to the vectors that stand for it."""
    return linear("patch_embedding_projection", width, c.hidden * c.across, bias=False, stream=PATCHES)


def encoder(c: Config, words: tuple[Size, Size] | None = None) -> tuple[Node, ...]:
    """Describe the encoder of bytes; its table has the shape of the head's where the two are tied."""
    rows, width = words or (c.vocab, c.hidden)
    return layers(c), patch_projection(c, c.hidden), embedding("embed_tokens", rows, width), cross_attention(c, PATCHES, "seq")


def middle(c: Config, entering: Size | None) -> tuple[Node, ...]:
    """Describe the large model over patches."""
    return layers(c), *((linear("token_embedding_projection", entering, c.hidden, bias=False),) if entering is not None else ())


def decoder(c: Config) -> tuple[Node, ...]:
    """Describe the decoder of bytes."""
    return layers(c), patch_projection(c, c.whole), rms_norm("norm", c.hidden), cross_attention(c, None, PATCHES)


def patcher(c: Config) -> tuple[Part, ...]:
    """Describe the model that finds where patches end."""
    head = linear("lm_head", c.hidden, c.vocab, bias=False)
    return layers(c), embedding("embed_tokens", c.vocab, c.hidden), rms_norm("norm", c.hidden), head


def freeze(module: Part) -> Part:
    """Mark all tensors of a part as not trained."""
    return replace(
        module,
        children=tuple(
            freeze(child) if isinstance(child, Part) else replace(child, frozen=True) if isinstance(child, Tensor) else child
            for child in module.children
        ),
    )


def blt(c: Config, *, tied: bool = False) -> tuple[Node, ...]:
    """Describe the encoder, the large model, the decoder, a table of hashes, and the patcher."""
    entering = c.encoder.hidden * c.across if c.projected else None
    found = (freeze(part("patcher", *patcher(c.patcher), kind="encoder")),) if c.patched else ()
    return (
        part("local_encoder", *encoder(c.encoder, (c.vocab, c.decoder.hidden) if tied else None), kind="encoder"),
        part("global_transformer", *middle(c.middle, entering), kind="stack", stream=PATCHES),
        part("local_decoder", *decoder(c.decoder), kind="decoder"),
        embedding("encoder_hash_tok_embedding", c.hashed * c.functions * len(c.lengths), c.encoder.hidden),
        *found,
    )


def causal_lm(c: Config) -> Part:
    """Describe BltForCausalLM; tied, the head's matrix takes the place of the bytes' table, whatever that one's shape."""
    tied = "model.local_encoder.embed_tokens.weight" if c.replaced else None
    return part(
        "",
        part("model", *blt(c, tied=c.replaced), kind="backbone"),
        linear("lm_head", c.decoder.hidden, c.vocab, bias=False, tied_to=tied),
        kind="model",
    )


MORE_IGNORED_KEYS = frozenset("dropout sliding_window max_position_embeddings tie_word_embeddings default_theta".split())
OUTER_IGNORED_KEYS = MORE_IGNORED_KEYS | frozenset(
    "local_attention_window_len max_patch_length patch_size patching_batch_size patching_mode patching_threshold".split()
)


def inner_family(model_type: str, name: str, table: tuple[Field, ...], inside: Blueprint) -> Family:
    """Return one of the four by itself."""
    return Family(model_type, table, {name: inside}, name, MORE_IGNORED_KEYS)


FAMILIES = {
    "blt": Family(
        "blt",
        FIELDS,
        {"BltModel": lambda c: part("", *blt(c), kind="model"), "BltForCausalLM": causal_lm},
        "BltForCausalLM",
        OUTER_IGNORED_KEYS,
    ),
    "blt_local_encoder": inner_family("blt_local_encoder", "BltLocalEncoder", ENCODER, lambda c: part("", *encoder(c), kind="model")),
    "blt_local_decoder": inner_family("blt_local_decoder", "BltLocalDecoder", DECODER, lambda c: part("", *decoder(c), kind="model")),
    "blt_global_transformer": inner_family(
        "blt_global_transformer", "BltGlobalTransformer", GLOBAL, lambda c: part("", *middle(c, c.entering), kind="model")
    ),
    "blt_patcher": inner_family("blt_patcher", "BltPatcher", PATCHER, lambda c: part("", *patcher(c), kind="model")),
}
