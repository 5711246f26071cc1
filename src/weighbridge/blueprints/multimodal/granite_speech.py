"""Granite Speech: a conformer with block attention, a Q-Former, and a language model.

Source: arXiv 2505.08699; names as in transformers 5.23.0, models/granite_speech/modeling_granite_speech.py and
models/granite_speech_plus. ``seq`` counts frames in an encoder alone.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.modules.vlm_common import IGNORED_KEYS, with_lm_head, without_head
from weighbridge.blueprints.speech.hifigan import conv1d_same
from weighbridge.config.family import Family
from weighbridge.config.fields import HIDDEN_DIM, NUM_HEADS, NUM_LAYERS, Config, computed, size, switch
from weighbridge.core.length import Stream, length, unknown
from weighbridge.core.parts import attend, batch_norm, embedding, layer_norm, linear, matmul, part, replace
from weighbridge.core.tree import Node, Part, Tensor

ASKED = unknown("the Q-Former begins with the same queries for all blocks, and not for each")

SHARED = (
    size("kernel", "conv_kernel_size", 15, "K_dep", "kernel size of the depthwise convolution"),
    size("wider", "conv_expansion_factor", 2, "X_con", "widening of the convolution"),
    size("block", "context_size", 200, "B", "frames in a block"),
)
FIRST = (
    size("mels", "input_dim", 160, "M", "mel bins", "num_mel_bins"),
    NUM_LAYERS.with_default(10),
    HIDDEN_DIM.with_default(1024),
    NUM_HEADS.with_default(8),
    size("head_dim", "dim_head", lambda c: c.hidden // c.heads, "D", "head dimension"),
    size("vocab", "output_dim", 42, "V", "vocabulary size"),
    size("positions", "max_pos_emb", 512, "S", "relative positions, each way"),
    size("times", "feedforward_mult", 4, "X", "intermediate size as a multiple of the hidden size"),
    *SHARED,
    computed("halfway", lambda c: c.layers > 1),
)


def block_attention(c: Config, tokens: Stream) -> tuple[Node, ...]:
    """Describe attention within blocks, to which relative positions add."""
    blocks: Stream = (length(tokens) + c.block - 1) // c.block
    seen = matmul("positions", (blocks, c.heads, c.block, c.block, c.head_dim))
    return seen, attend(heads=c.heads, head_dim=c.head_dim, queries=c.block, keys=c.block, groups=blocks)


def padded_to_blocks(c: Config, tokens: Stream) -> Stream:
    """Return the stream, filled up to whole blocks."""
    return ((length(tokens) + c.block - 1) // c.block) * c.block


def layer(c: Config) -> Part:
    """Describe a layer: attention and a convolution between two halves of a feed-forward step."""
    H, D, wide, inner = c.hidden, c.head_dim, c.heads * c.head_dim, c.hidden * c.wider

    def mlp(name: str) -> Part:
        return part(
            name, layer_norm("pre_norm", H), linear("up_proj", H, H * c.times), linear("down_proj", H * c.times, H), kind="feed_forward"
        )

    attn = (
        layer_norm("pre_norm", H),
        linear("to_q", H, wide, bias=False, stream=padded_to_blocks(c, "seq")),
        linear("to_kv", H, 2 * wide, bias=False, stream=padded_to_blocks(c, "seq")),
        linear("to_out", wide, H),
        embedding("rel_pos_emb", 2 * c.positions + 1, D),
        *block_attention(c, "seq"),
    )
    depth = part("depth_conv", part("conv", Tensor("weight", (inner, 1, c.kernel)), kind="convolution"))
    conv = (
        layer_norm("norm", H),
        conv1d_same("up_conv", H, 2 * inner, 1),
        depth,
        batch_norm("batch_norm", inner),
        conv1d_same("down_conv", inner, H, 1),
    )
    parts = (
        mlp("ff1"),
        part("attn", *attn, kind="self_attention"),
        part("conv", *conv, kind="convolutions"),
        mlp("ff2"),
        layer_norm("post_norm", H),
    )
    return part("layers", *parts, kind="layer", repeat=c.layers)


def middle_head(c: Config, tokens: Stream) -> tuple[Part, ...]:
    """Describe the head, which is read halfway up and added to the states."""
    maps = (linear("out", c.hidden, c.vocab), linear("out_mid", c.vocab, c.hidden))
    return tuple(replace(module, stream=tokens, requires=None if c.halfway else "halfway") for module in maps)


def encoder(c: Config) -> Part:
    """Describe the encoder."""
    return part("", linear("input_linear", c.mels, c.hidden), layer(c), *middle_head(c, "seq"), kind="model")


def body(c: Config) -> tuple[Node, ...]:
    """Describe the encoder, the Q-Former over its blocks, and the language model."""
    W = c.queried.hidden
    asked = as_child("qformer", submodel(c.queried), streams={"seq": ASKED, "encoder": ASKED})
    query = Tensor("query", (1, c.window // c.rate, W), "embedding")
    projector = as_child("projector", part("", query, asked, linear("linear", W, c.text.hidden), kind="projector", stream=ASKED))
    heard = as_child("encoder", submodel(c.audio), streams={"seq": unknown("clips are as long as they are")})
    both = (replace(module, requires="audios", executions="audios") for module in (heard, projector))
    return *both, as_child("language_model", submodel(c.text))


MORE_IGNORED_KEYS = frozenset("cat_hidden_layers num_key_value_heads activation_dropout ctc_loss_reduction ctc_zero_infinity".split())


def families_of(stem: str, name: str) -> dict[str, Family]:
    """Return the whole and its encoder."""
    fields = (
        model_config("text", "text_config", "granite llama"),
        model_config("audio", "encoder_config", f"{stem}_encoder", fixed=True),
        model_config("queried", "projector_config", "blip_2_qformer"),
        size("rate", "downsample_rate", 5, "R", "frames per query"),
        size("window", "window_size", 15, "W", "frames that the Q-Former sees at once"),
        switch("tied", "tie_word_embeddings", True),
    )
    classes = {f"{name}Model": without_head(body), f"{name}ForConditionalGeneration": with_lm_head(body)}
    quiet = IGNORED_KEYS | MORE_IGNORED_KEYS | {"has_lora_adapter", "audio_token_index", "audio_token_id"}
    return {
        stem: Family(stem, fields, classes, f"{name}Model", quiet),
        f"{stem}_encoder": Family(f"{stem}_encoder", FIRST, {f"{name}CTCEncoder": encoder}, f"{name}CTCEncoder", MORE_IGNORED_KEYS),
    }


FAMILIES = {
    **families_of("granite_speech", "GraniteSpeech"),
    **families_of("granite_speech_plus", "GraniteSpeechPlus"),
}
