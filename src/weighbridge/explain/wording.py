"""What parts are called and what they do: one title and one sentence for each kind, never for one model.

A kind or a name that is not listed here is shown by its own name; nothing breaks, it only reads less well.
"""

from __future__ import annotations

from typing import NamedTuple

from weighbridge.core.messages import mark


class Wording(NamedTuple):
    """A title and a sentence, in English; the catalogue has the rest."""

    title: str
    sentence: str = ""


SECTIONS: dict[str, Wording] = {
    "embedding": Wording(mark("Embeddings"), mark("Tables that are looked up: each token, position or segment fetches its row, and the rows are added.")),
    "table": Wording(mark("Embeddings"), mark("A table that is looked up: each token fetches its row.")),
    "encoder": Wording(mark("Encoder"), mark("A stack of layers of the same shape, each with parameters of its own.")),
    "decoder": Wording(mark("Decoder"), mark("A stack of layers that generates one token after another.")),
    "stack": Wording(mark("Transformer layers"), mark("A stack of layers of the same shape, each with parameters of its own.")),
    "layer": Wording(mark("Transformer layers"), mark("A stack of layers of the same shape, each with parameters of its own.")),
    "attention": Wording(mark("Multi-head self-attention"), mark("Queries, keys and values are linear maps of the input; the heads' results are joined and mapped once more. The number of heads does not change the count.")),
    "cross_attention": Wording(mark("Cross-attention"), mark("Queries come from the decoder, keys and values from the encoder; otherwise as in self-attention.")),
    "latent_attention": Wording(mark("Multi-head latent attention"), mark("Queries, keys and values are each mapped down to a small rank and up again; only the small vectors need to be cached.")),
    "feed_forward": Wording(mark("Feed-forward network"), mark("Every position passes through linear maps by itself: first wider, then back to the hidden size.")),
    "experts": Wording(mark("Mixture of experts"), mark("A router sends each token to a few of many feed-forward networks; all of them are stored.")),
    "mixer": Wording(mark("Sequence mixer"), mark("Mixes the positions by a recurrence instead of attention.")),
    "convolution": Wording(mark("Convolution"), mark("Neighbouring positions are mixed by learned kernels.")),
    "norm": Wording(mark("Norms"), mark("Each vector is brought to a common scale and then stretched by learned gains (and moved by learned shifts).")),
    "pooler": Wording(mark("Pooler"), mark("A linear map of the vector that stands for the whole input, usually the first token's.")),
    "head": Wording(mark("Output head"), mark("Turns hidden vectors into the scores the task asks for.")),
    "transform": Wording(mark("Transform before the output"), mark("A linear map and a norm before the scores.")),
    "group": Wording(mark("Group of layers"), mark("Layers that share their parameters: stored once, run several times.")),
    "expert": Wording(mark("One expert"), mark("A feed-forward network of its own.")),
    "vision": Wording(mark("Vision tower"), mark("Turns an image into a sequence of vectors.")),
    "audio": Wording(mark("Audio tower"), mark("Turns sound into a sequence of vectors.")),
    "text": Wording(mark("Text tower"), mark("Turns text into a sequence of vectors.")),
    "projector": Wording(mark("Projector"), mark("Maps the vectors of one tower to the width of another.")),
    "stage": Wording(mark("Stage"), mark("Layers that work at one resolution.")),
    "other": Wording(mark("Other parameters")),
}  # fmt: skip
"""By topic, or by the kind of a part."""

LINES: dict[str, Wording] = {
    "linear": Wording(mark("Linear map"), mark("Linear map y = xWᵀ + b: a weight of outputs × inputs, and one bias for each output.")),
    "linear_without_bias": Wording(mark("Linear map"), mark("Linear map y = xWᵀ without bias: a weight of outputs × inputs.")),
    "embedding": Wording(mark("Embedding table"), mark("A table: one learned vector in each row.")),
    "layer_norm": Wording(mark("Layer normalisation"), mark("Layer normalisation: one gain γ and one shift β for each component.")),
    "layer_norm_without_shift": Wording(mark("Layer normalisation"), mark("Layer normalisation with gains γ only.")),
    "rms_norm": Wording(mark("RMS normalisation"), mark("RMS normalisation: one gain for each component, no shift.")),
    "group_norm": Wording(mark("Group normalisation"), mark("Group normalisation: one gain and one shift for each channel.")),
    "batch_norm": Wording(mark("Batch normalisation"), mark("Batch normalisation: one gain and one shift for each channel; its running statistics are no parameters.")),
    "conv": Wording(mark("Convolution"), mark("A convolution: output channels × input channels per group × kernel size, and a bias for each output channel where there is one.")),
    "experts": Wording(mark("All experts, fused"), mark("The matrices of all experts, stored as one array; its first size is the number of experts.")),
    "bias": Wording(mark("Bias"), mark("A learned addend.")),
    "vector": Wording(mark("Learned vectors"), mark("Vectors that are learned as they are.")),
    "other": Wording(mark("Parameters"), mark("Learned arrays of the shapes given in the formula.")),
}  # fmt: skip
"""By the kind of a module that owns tensors."""

_QUERY, _KEY, _VALUE, _OUTPUT = mark("query"), mark("key"), mark("value"), mark("output")
_UP, _DOWN, _GATE = mark("up (widening)"), mark("down (narrowing)"), mark("gate")
_ATTENTION = {
    **dict.fromkeys(("query", "q_proj", "q", "q_lin", "wq", "to_q", "query_proj", "linear_q"), _QUERY),
    **dict.fromkeys(("key", "k_proj", "k", "k_lin", "wk", "to_k", "key_proj", "linear_k"), _KEY),
    **dict.fromkeys(("value", "v_proj", "v", "v_lin", "wv", "to_v", "value_proj", "linear_v"), _VALUE),
    **dict.fromkeys(("dense", "o_proj", "out_proj", "o", "out_lin", "wo", "c_proj", "proj", "to_out", "projection", "linear_out"), _OUTPUT),
    **dict.fromkeys(("qkv", "c_attn", "query_key_value", "qkv_proj", "Wqkv", "in_proj", "Wqkv_proj"), mark("query, key and value in one")),
    **dict.fromkeys(("relative_attention_bias", "relative_position_bias_table", "relative_position_bias"), mark("relative position bias")),
    **dict.fromkeys(("q_norm", "query_norm", "q_layernorm"), mark("query norm")),
    **dict.fromkeys(("k_norm", "key_norm", "k_layernorm"), mark("key norm")),
    "q_a_proj": mark("query, compressed"), "q_b_proj": mark("query, expanded"),
    **dict.fromkeys(("kv_a_proj_with_mqa", "kv_a_proj"), mark("key and value, compressed")), "kv_b_proj": mark("key and value, expanded"),
}  # fmt: skip
_FEED_FORWARD = {
    **dict.fromkeys(("intermediate", "up_proj", "fc1", "c_fc", "wi", "wi_1", "lin1", "dense_h_to_4h", "fc_in", "w3", "linear1", "intermediate_dense", "ffn", "fc_1"), _UP),
    **dict.fromkeys(("output", "down_proj", "fc2", "c_proj", "wo", "lin2", "dense_4h_to_h", "fc_out", "w2", "linear2", "output_dense", "ffn_output", "fc_2"), _DOWN),
    **dict.fromkeys(("gate_proj", "wi_0", "w1"), _GATE),
    **dict.fromkeys(("gate_up_proj", "up_gate_proj"), mark("gate and up in one")),
}  # fmt: skip
NAMES: dict[str, dict[str, str]] = {
    "attention": _ATTENTION,
    "cross_attention": _ATTENTION,
    "latent_attention": _ATTENTION,
    "feed_forward": _FEED_FORWARD,
    "experts": {**_FEED_FORWARD, **dict.fromkeys(("router", "gate"), mark("router")), "shared_expert_gate": mark("gate of the shared expert")},
    "embedding": {
        **dict.fromkeys(("word_embeddings", "embed_tokens", "wte", "shared", "tok_embeddings", "word_embedding", "token_embedding", "embed_in"), mark("Word embeddings")),
        **dict.fromkeys(("position_embeddings", "wpe", "embed_positions", "position_embedding", "embed_position"), mark("Position embeddings")),
        **dict.fromkeys(("token_type_embeddings", "token_type_embedding"), mark("Token type embeddings")),
        **dict.fromkeys(("patch_embeddings", "patch_embedding", "patch_embed"), mark("Patch embedding")),
    },
    "head": {
        **dict.fromkeys(("lm_head", "decoder", "embed_out", "output_projection"), mark("Vocabulary head")),
        **dict.fromkeys(("classifier", "score", "out_proj"), mark("Classifier")),
        "qa_outputs": mark("Start and end of the answer"),
        "seq_relationship": mark("Next-sentence prediction"),
        "transform": mark("Transform"),
    },
    "norm": {
        **dict.fromkeys(("q_norm", "query_norm", "q_layernorm"), mark("query norm")),
        **dict.fromkeys(("k_norm", "key_norm", "k_layernorm"), mark("key norm")),
    },
}  # fmt: skip
"""What a module's own name says, by topic: the same role has many spellings."""


def section_wording(topic: str, kind: str = "", name: str = "") -> Wording:
    """Return title and sentence of a section, by its kind if that is known, else by its topic, else its name.

    >>> section_wording("attention").title, section_wording("other", "block", "hyena").title
    ('Multi-head self-attention', 'hyena')
    """
    if kind in SECTIONS:
        return SECTIONS[kind]
    if topic in SECTIONS and topic != "other":
        return SECTIONS[topic]
    return Wording(name) if name else SECTIONS["other"]


def line_wording(kind: str, roles: tuple[str, ...]) -> Wording:
    """Return title and sentence of a module that owns tensors of these roles.

    >>> line_wording("linear", ("weight",)).sentence
    'Linear map y = xWᵀ without bias: a weight of outputs × inputs.'
    """
    if kind == "linear" and roles == ("weight",):
        return LINES["linear_without_bias"]
    if kind == "layer_norm" and "shift" not in roles:
        return LINES["layer_norm_without_shift"]
    if kind in LINES:
        return LINES[kind]
    if kind.startswith("conv"):
        return LINES["conv"]
    if set(roles) == {"bias"}:
        return LINES["bias"]
    return LINES["vector"] if set(roles) == {"embedding"} else LINES["other"]


def role_name(topic: str, path: str) -> str:
    """Return what a module's path says of its role, innermost name first, or the empty string.

    >>> role_name("feed_forward", "intermediate.dense"), role_name("attention", "self.query")
    ('up (widening)', 'query')
    """
    names = NAMES.get(topic, {})
    return next((names[piece] for piece in reversed(path.split(".")) if piece in names), "")


def topic_of_name(name: str) -> str:
    """Return the topic that a module's own name tells, for layers that hold their linear maps without a part around them.

    >>> topic_of_name("fc1"), topic_of_name("q_proj"), topic_of_name("dense")
    ('feed_forward', 'attention', '')
    """
    if name in ("dense", "output", "proj", "gate"):
        return ""
    return next((topic for topic in ("feed_forward", "attention") if name in NAMES[topic]), "")
