"""The fields of the Byte Latent Transformer and of the four transformers that it is made of."""

from __future__ import annotations

from weighbridge.blueprints.composite import composed
from weighbridge.config.fields import Field, listed, size, switch, told


def fields(hidden: int, layers: int, heads: int, mlp: int | None) -> tuple[Field, ...]:
    """List the fields that all four transformers have."""
    third = lambda c: 8 * c.hidden // 3  # noqa: E731
    return (
        size("hidden", "hidden_size", hidden, "H", "hidden size"),
        size("mlp", "intermediate_size", third if mlp is None else mlp, "I", "intermediate size")._replace(null=third),
        size("layers", "num_hidden_layers", layers, "L", "layers"),
        size("heads", "num_attention_heads", heads, "A", "attention heads"),
        size("kv_heads", "num_key_value_heads", lambda c: c.heads, "K", "key-value heads"),
    )


BYTES = size("vocab", "vocab_size", 260, "V", "vocabulary size")
CROSSED = size("across", "cross_attn_k", 2, "X", "vectors of a patch in cross-attention")
ENCODER = (BYTES, *fields(1024, 1, 16, None), CROSSED, switch("every", "cross_attn_all_layers", False))
DECODER = (
    *fields(1024, 9, 16, 2816), CROSSED, switch("every", "cross_attn_all_layers", True),
    size("whole", "hidden_size_global", 2048, "G", "hidden size of the large model"),
)  # fmt: skip
GLOBAL = (*fields(2048, 25, 16, 5632), size("entering", "encoder_cross_output_size", None, "E", "width of what enters the large model"))
PATCHER = (BYTES, *fields(768, 14, 12, 2048))
FIELDS = (
    size("vocab", "vocab_size", 260, "V", "vocabulary size"),
    size("across", "cross_attn_k", 2, "X", "vectors of a patch in cross-attention"),
    size("hashed", "encoder_hash_byte_group_vocab", 500002, "N", "rows for the hashes of one length"),
    size("functions", "encoder_hash_byte_group_nb_functions", 1, "F", "functions that make hashes", minimum=0),
    listed("lengths", "encoder_hash_byte_group_size", [3, 4, 5, 6, 7, 8])._replace(read=lambda value: value or [3, 4, 5, 6, 7, 8]),
    switch("patched", "patch_in_forward", True),
    composed("patcher", "patcher_config", "blt_patcher", fixed=True),
    composed("encoder", "encoder_config", "blt_local_encoder", fixed=True),
    composed("decoder", "decoder_config", "blt_local_decoder", fixed=True),
    composed("middle", "global_config", "blt_global_transformer", fixed=True),
    told("projected", lambda c: c.encoder.hidden * c.across != c.middle.hidden),
    switch("replaced", "tie_word_embeddings", False),
)
