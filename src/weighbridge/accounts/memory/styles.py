"""What a forward pass does that the tree does not tell, by model type: its order, its keys of the config, and its classes' heads.

A type stands here only if the account of its activations is equal, to the byte, to what autograd keeps of random small
configs of the live class (``python -m truth memory``). Every other type is refused by name.
"""

from __future__ import annotations

from weighbridge.core._namedtuple import NamedTuple


class Style(NamedTuple):
    """How one model type runs.

    Attributes:
        forward: One of the passes of :mod:`weighbridge.accounts.memory.forwards`.
        keys: Our word, with the config's key where it is another (``activation=hidden_act``), and the default.
        indices: Index tensors that embeddings are looked up with and that are made on the way, each for ``one`` example or for ``each``.
        paths: Where a layer of an encoder holds its parts.
        relative: Whether a table of relative positions is looked up.
        shared: Whether layers are run more often than they are stored.
        gain: Where norms multiply with their gain: see :func:`~weighbridge.accounts.memory.modules.rms_norm`.
        two_turns: Whether layers with a window turn by angles of their own.
        unturned: Whether some layers do not turn queries and keys by their positions (``no_rope_layers``).
        two_ways: Whether a key of the config lets tokens look both ways.
        whole_norms: Whether queries and keys are normalized before their heads are cut apart.
        normed_last: Whether they are normalized after their heads have been moved in front of the tokens.
        before: Whether norms stand before each half of a layer.
        wide_softmax: Whether shares of attention are worked out in float32 whatever the type.
        wide_rotary: Whether queries and keys are turned in float32 whatever the type.
        joined_rotary: Whether only a part of a head may be turned (``partial_rotary_factor``), and what is not is joined on, if only nothing.
        wide_router: Whether the shares of chosen experts stay in float32 whatever the type.
        eager_only: Whether no fused kernel is there for it.
        packed: Whether queries are copied so that their heads lie one after another.
        head_activation: The activation function inside vocabulary heads, where it is not the body's.
        classifier_activation: The one inside classifiers.
        padding: The token that fills a text up, where the config does not say.
        drops: The keys of the probabilities with which elements are dropped, and their defaults (None: as hidden states are).
    """

    forward: str
    keys: tuple[tuple[str, object], ...] = ()
    indices: tuple[str, ...] = ()
    paths: dict[str, str] = {}
    relative: bool = False
    shared: bool = False
    gain: str = "after"
    two_turns: bool = False
    unturned: bool = False
    two_ways: bool = False
    whole_norms: bool = False
    normed_last: bool = False
    before: bool = False
    wide_softmax: bool = False
    wide_rotary: bool = False
    joined_rotary: bool = False
    wide_router: bool = False
    eager_only: bool = False
    packed: bool = False
    head_activation: str = ""
    classifier_activation: str = "tanh"
    drops: tuple[tuple[str, str, float | None], ...] = ()
    padding: int | None = None


BERT_PATHS = {
    "layers": "encoder.layer",
    "projections": "attention.self",
    "out": "attention.output.dense",
    "first": "attention.output.LayerNorm",
    "up": "intermediate.dense",
    "down": "output.dense",
    "second": "output.LayerNorm",
}
DISTIL_PATHS = {
    "layers": "transformer.layer",
    "projections": "attention",
    "out": "attention.out_lin",
    "first": "sa_layer_norm",
    "up": "ffn.lin1",
    "down": "ffn.lin2",
    "second": "output_layer_norm",
}
ALBERT_PATHS = {
    "layers": "encoder.layer",
    "projections": "attention",
    "out": "attention.dense",
    "first": "attention.LayerNorm",
    "up": "ffn",
    "down": "ffn_output",
    "second": "full_layer_layer_norm",
}
MPNET_PATHS = BERT_PATHS | {"projections": "attention.attn", "out": "attention.attn.o", "first": "attention.LayerNorm"}

BERT_DROPS = (
    ("hidden", "hidden_dropout_prob", 0.1),
    ("attention", "attention_probs_dropout_prob", 0.1),
    ("classifier", "classifier_dropout", None),
)
GELU, SILU = (("activation=hidden_act", "gelu"),), (("activation=hidden_act", "silu"),)
BERT = Style("encoder", GELU, ("one",), BERT_PATHS, drops=BERT_DROPS)
CHOICES = ("choices", "hidden_dropout_prob", 0.1)
ROBERTA = BERT._replace(indices=("each", "each"), head_activation="gelu", drops=(*BERT_DROPS, CHOICES))
LLAMA = Style("decoder", SILU, wide_softmax=True, drops=(("attention", "attention_dropout", 0.0),))
OLMO = LLAMA._replace(gain="wide", whole_norms=True, wide_rotary=True, padding=1)
GEMMA = LLAMA._replace(keys=(("activation=hidden_activation", "gelu_pytorch_tanh"),), gain="shifted", padding=0)
CAPPED = (*GEMMA.keys, ("capped=attn_logit_softcapping", 50.0), ("capped_logits=final_logit_softcapping", 30.0))
MIXTURE = (*SILU, ("normed=norm_topk_prob", False))
GPT2_KEYS = (("activation=activation_function", "gelu_new"),)
SEQ2SEQ = (("activation=activation_function", "gelu"),)
BART_DROPS = (
    ("hidden", "dropout", 0.1),
    ("attention", "attention_dropout", 0.0),
    ("activation", "activation_dropout", 0.0),
    ("classifier", "classifier_dropout", 0.0),
)
T5 = Style(
    "t5",
    (("activation=feed_forward_proj", "relu"),),
    gain="mixed",
    drops=(("hidden", "dropout_rate", 0.1), ("attention", "dropout_rate", 0.1), ("classifier", "classifier_dropout", 0.0)),
)
BART = Style("bart", SEQ2SEQ, ("each", "one"), drops=BART_DROPS)

STYLES: dict[str, Style] = {
    **dict.fromkeys(("bert", "ernie"), BERT),
    "electra": BERT._replace(classifier_activation="gelu", drops=(*BERT_DROPS, ("summary", "summary_first_dropout", 0.0),
                                                                  ("summary_last", "summary_last_dropout", 0.1))),
    **dict.fromkeys(("roberta", "xlm-roberta", "camembert", "data2vec-text", "bridgetower_text_model"), ROBERTA),
    "distilbert": Style("encoder", (("activation", "gelu"),), (), DISTIL_PATHS,
                        drops=(("hidden", "dropout", 0.1), ("attention", "attention_dropout", 0.1), ("attended", "", 0.0),
                               ("classifier", "seq_classif_dropout", 0.2), ("tokens", "dropout", 0.1), ("answers", "qa_dropout", 0.1))),
    "albert": Style("encoder", (("activation=hidden_act", "gelu_new"),), ("one",), ALBERT_PATHS, shared=True,
                    drops=(("hidden", "hidden_dropout_prob", 0.0), ("attention", "attention_probs_dropout_prob", 0.0), ("inner", "", 0.0), ("classifier", "classifier_dropout_prob", 0.1))),
    "mpnet": Style("encoder", GELU, ("each",), MPNET_PATHS, relative=True, eager_only=True, head_activation="gelu", drops=(*BERT_DROPS, CHOICES)),
    **dict.fromkeys(("gpt2", "gpt-sw3"), Style("gpt2", GPT2_KEYS, drops=(("hidden", "resid_pdrop", 0.1), ("embedding", "embd_pdrop", 0.1), ("attention", "attn_pdrop", 0.1),
                                             ("summary", "summary_first_dropout", 0.1)))),
    **dict.fromkeys(("llama", "mistral", "ministral", "qwen2", "qwen3", "granite", "cwm",
                     "internlm3", "iquestcoder", "granite4_vision_text", "granite_docling_text", "hunyuan_v1_dense", "molmo2_text"), LLAMA),
    "emu3_text_model": LLAMA._replace(drops=(("attention", "attention_dropout", 0.1), ("hidden", "attention_dropout", 0.1))),
    "phi3": LLAMA._replace(padding=32000, joined_rotary=True, drops=(*LLAMA.drops, ("hidden", "resid_pdrop", 0.0))),
    "smollm3": LLAMA._replace(padding=128004, unturned=True),
    "seed_oss": LLAMA._replace(padding=1, drops=(("attention", "attention_dropout", 0.1), ("hidden", "residual_dropout", 0.1))),
    **dict.fromkeys(("arcee", "jais2"), LLAMA._replace(keys=(("activation=hidden_act", "relu2"),))),
    "gemma": GEMMA._replace(keys=(("activation=hidden_act", "gelu_pytorch_tanh"),)),
    **dict.fromkeys(("gemma2", "vaultgemma"), GEMMA._replace(keys=CAPPED, eager_only=True)),
    "gemma3_text": GEMMA._replace(keys=(*GEMMA.keys, ("capped_logits=final_logit_softcapping", None)), two_turns=True, two_ways=True),
    "starcoder2": LLAMA._replace(keys=(("activation=hidden_act", "gelu_pytorch_tanh"),),
                                 drops=(*LLAMA.drops, ("hidden", "residual_dropout", 0.0), ("embedding", "embedding_dropout", 0.0))),
    "olmo2": OLMO,
    "olmo3": OLMO._replace(two_turns=True),
    "mixtral": LLAMA._replace(keys=(*SILU, ("normed", True)), wide_router=True),
    "qwen2_moe": LLAMA._replace(keys=MIXTURE),
    "qwen3_moe": LLAMA._replace(keys=MIXTURE),
    "olmoe": LLAMA._replace(keys=MIXTURE, whole_norms=True),
    "flex_olmo": OLMO._replace(keys=MIXTURE),
    "t5": T5,
    **dict.fromkeys(("mt5", "umt5"), T5._replace(keys=(("activation=feed_forward_proj", "gated-gelu"),))),
    "bart": BART,
    "plbart": BART._replace(drops=(("hidden", "dropout", 0.1), ("attention", "attention_dropout", 0.1), ("activation", "activation_dropout", 0.0), BART_DROPS[-1])),
    "mbart": BART._replace(before=True),
    "whisper": Style("whisper", SEQ2SEQ, ("", "each"), before=True, packed=True, drops=(("hidden", "dropout", 0.0), ("attention", "attention_dropout", 0.0), ("activation", "activation_dropout", 0.0))),
    **dict.fromkeys(("vit", "deit", "vit_msn"), Style("vit", (*GELU, ("pooled=pooler_act", "tanh")), wide_softmax=True, drops=(("hidden", "hidden_dropout_prob", 0.0), ("attention", "attention_probs_dropout_prob", 0.0)))),
}  # fmt: skip
