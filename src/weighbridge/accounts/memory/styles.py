"""What a forward pass does that the tree does not tell, by model type: its order, its keys of the config, and its classes' heads.

A type stands here only if the account of its activations is equal, to the byte, to what autograd keeps of random small
configs of the live class (``python -m truth memory``). Every other type is refused by name.
"""

from __future__ import annotations

from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Any


class Style(NamedTuple):
    """How one model type runs.

    Attributes:
        forward: One of the passes of :mod:`weighbridge.accounts.memory.forwards`.
        activation: The activation function, where no key of the config says it.
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
        words: Whether a tower reads words, not an image.
        causal_words: Whether each of them sees those before it alone.
        pooling: Which token of a tower is put out beside all: the ``first``, the ``end`` of a text, or the ``last``.
        averaged: What a tower's classifier sees: the first token, or the mean of ``patches``, of ``all``, or the first beside the mean of ``both``.
        told_before: Whether the config says so (``do_layer_norm_before``).
        shifted: Whether a decoder of those shifts its labels, and takes scores in float32 for its loss.
        own_scores: Whether scores of labels go into their loss in their own type, and those of hidden words in float32.
        named_mask: Whether layers are given their mask by name, so that nothing keeps it where they are computed again.
        wide_softmax: Whether shares of attention are worked out in float32 whatever the type.
        wide_rotary: Whether queries and keys are turned in float32 whatever the type.
        joined_rotary: Whether only a part of a head may be turned (``partial_rotary_factor``), and what is not is joined on, if only nothing.
        rotary_key: The key of the config that says so, beside ``rope_parameters``.
        rotary_share: The part that is turned where the config does not say.
        interleaved: Whether neighbours are turned together, so that each layer makes angles of its own out of those that it is given.
        scaled_queries: Whether queries are multiplied with a number of each position.
        parallel: Whether attention and MLP run side by side, where ``use_parallel_residual`` does not say; None where the norms of a layer tell.
        bare_norms: Whether norms have nothing to learn, and are in no tree.
        clipped: Whether ``clip_qkv`` clamps queries, keys and values.
        half_angles: Whether cosines and sines are as wide as half a head.
        router: How experts are chosen: by the ``softmax`` of all scores, among the best ``groups``, or the ``top`` scores first.
        wide_router: Whether the shares of chosen experts stay in float32 whatever the type.
        float_router: Whether experts are scored in float32 whatever the type, by a copy of the map.
        eager_only: Whether no fused kernel is there for it.
        packed: Whether queries are copied so that their heads lie one after another.
        head_activation: The activation function inside vocabulary heads, where it is not the body's.
        classifier_activation: The one inside classifiers.
        padding: The token that fills a text up, where the config does not say.
        turned: How GPT's kin turn queries and keys: by angles that are made ``once``, or ``apart`` in every call; other decoders, by angles of ``each`` example.
        filled: Whether masked scores are filled in, which keeps the mask.
        floored: Whether scores are raised to the least number, which keeps them.
        wide_scores: Whether queries and keys are multiplied in float32 whatever the type.
        dropped_together: Whether what attention and an MLP beside it put out is dropped as one.
        cached: Whether a cache is filled where the config does not say.
        complex_rotary: Whether queries and keys are turned as complex numbers.
        local: Whether some layers see a window alone, and turn by angles of their own, as ``layer_types`` or ``global_attn_every_n_layers`` says.
        padded: Whether a mask of what pads a text is made where nothing does, too.
        clamped: Whether places of answers beyond the text are moved to its end where they are, and not in a copy.
        towers: The types of a pair's towers, of words and of images.
        contrast: How a pair is taught to tell its own from the others: by ``softmax`` or by ``sigmoid``.
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
    words: bool = False
    causal_words: bool = False
    pooling: str = ""
    averaged: str = ""
    told_before: bool = False
    shifted: bool = False
    own_scores: bool = False
    named_mask: bool = False
    wide_softmax: bool = False
    wide_rotary: bool = False
    joined_rotary: bool = False
    rotary_key: str = "partial_rotary_factor"
    rotary_share: float = 1.0
    interleaved: bool = False
    scaled_queries: bool = False
    parallel: bool | None = None
    bare_norms: bool = False
    clipped: bool = False
    half_angles: bool = False
    router: str = "softmax"
    wide_router: bool = False
    float_router: bool = False
    eager_only: bool = False
    packed: bool = False
    head_activation: str = ""
    classifier_activation: str = "tanh"
    drops: tuple[tuple[str, str, float | None], ...] = ()
    padding: int | None = None
    activation: str = ""
    turned: str = ""
    filled: bool = False
    floored: bool = False
    wide_scores: bool = False
    dropped_together: bool = False
    cached: bool = True
    local: bool = False
    padded: bool = False
    clamped: bool = False
    towers: tuple[str, str] = ("", "")
    contrast: str = ""
    complex_rotary: bool = False


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

VIT_PATHS = {
    "layers": "layers",
    "attention": "attention",
    "first": "layernorm_before",
    "second": "layernorm_after",
    "out": "o_proj",
    "last": "layernorm",
}
DINO_PATHS = VIT_PATHS | {"layers": "encoder.layer", "first": "norm1", "second": "norm2"}
CLIP_PATHS = {"layers": "encoder.layers", "attention": "self_attn", "first": "layer_norm1", "second": "layer_norm2", "out": "out_proj"}
CLIP_TEXT_PATHS = CLIP_PATHS | {"last": "final_layer_norm"}

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
ONLY_MLP = (("hidden", "hidden_dropout", 0.0), ("attended", "", 0.0), ("classifier", "hidden_dropout", 0.0))
OLMO = LLAMA._replace(gain="wide", whole_norms=True, wide_rotary=True, padding=1)
GEMMA = LLAMA._replace(keys=(("activation=hidden_activation", "gelu_pytorch_tanh"),), gain="shifted", padding=0)
COHERE = LLAMA._replace(gain="centred", padding=0)
CAPPED = (*GEMMA.keys, ("capped=attn_logit_softcapping", 50.0), ("capped_logits=final_logit_softcapping", 30.0))
MIXTURE = (*SILU, ("normed=norm_topk_prob", False))
GROUPED = LLAMA._replace(router="groups", wide_router=True)
LIMITED = LLAMA._replace(router="limited", wide_router=True, keys=(*SILU, ("groups=n_group", 1), ("chosen=topk_group", 1)))
ONE_GROUP = (("groups=n_group", 1), ("chosen=topk_group", 1))
MODERN = LLAMA._replace(
    keys=(("activation=hidden_activation", "gelu"), ("head=classifier_activation", "gelu")),
    padding=50283,
    local=True,
    two_turns=True,
    drops=(
        ("embedding", "embedding_dropout", 0.0),
        ("attention", "attention_dropout", 0.0),
        ("attended", "attention_dropout", 0.0),
        ("activation", "mlp_dropout", 0.0),
        ("hidden", "", 0.0),
        ("tokens", "classifier_dropout", 0.0),
        ("headed", "classifier_dropout", 0.0),
    ),
)
GPT_DROPS = (("hidden", "resid_pdrop", 0.0), ("embedding", "embd_pdrop", 0.0), ("attention", "attn_pdrop", 0.0))
GPT2_KEYS = (("activation=activation_function", "gelu_new"),)
GPT2_DROPS = (("hidden", "resid_pdrop", 0.1), ("embedding", "embd_pdrop", 0.1), ("attention", "attn_pdrop", 0.1))
GPT = Style("gpt", GPT2_KEYS, named_mask=True, eager_only=True)
SEQ2SEQ = (("activation=activation_function", "gelu"),)
RELU = (("activation=activation_function", "relu"),)
BART_DROPS = (
    ("hidden", "dropout", 0.1),
    ("attention", "attention_dropout", 0.0),
    ("activation", "activation_dropout", 0.0),
    ("classifier", "classifier_dropout", 0.0),
)
SEQ2SEQ_DROPS = (("hidden", "dropout", 0.1), ("attention", "attention_dropout", 0.0), ("activation", "activation_dropout", 0.0))
DINO_DROPS = (("embedded", "hidden_dropout_prob", 0.0), ("attention", "attention_probs_dropout_prob", 0.0), ("path", "drop_path_rate", 0.0))
CLIP = Style(
    "tower",
    (("activation=hidden_act", "quick_gelu"),),
    paths=CLIP_PATHS,
    wide_softmax=True,
    drops=(("attention", "attention_dropout", 0.0),),
)
CLIP_TEXT = CLIP._replace(paths=CLIP_TEXT_PATHS, words=True, causal_words=True, pooling="end")
SIGLIP_KEYS = (("activation=hidden_act", "gelu_pytorch_tanh"),)
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
    **dict.fromkeys(("align_text_model", "chinese_clip_text_model"), BERT._replace(indices=(), wide_softmax=True)),
    "bert-generation": BERT._replace(indices=()),
    "rembert": BERT._replace(indices=("", "each"), clamped=True, eager_only=True,
                             drops=(("hidden", "hidden_dropout_prob", 0.0), ("attention", "attention_probs_dropout_prob", 0.0), ("classifier", "classifier_dropout_prob", 0.1))),
    "luke": ROBERTA._replace(clamped=True),
    "clap_text_model": ROBERTA._replace(wide_softmax=True),
    "deberta-v2": Style("deberta", (*GELU, ("pooled=pooler_hidden_act", "gelu")), eager_only=True,
                        drops=(*BERT_DROPS[:2], ("headed", "hidden_dropout_prob", 0.1), ("headed", "cls_dropout", None), ("context", "pooler_dropout", 0.0), ("answers", "", 0.0), ("tokens", "hidden_dropout_prob", 0.1))),
    "layoutlm": BERT._replace(indices=("", "each"), padded=True, wide_softmax=True),
    "distilbert": Style("encoder", (("activation", "gelu"),), (), DISTIL_PATHS,
                        drops=(("hidden", "dropout", 0.1), ("attention", "attention_dropout", 0.1), ("attended", "", 0.0),
                               ("classifier", "seq_classif_dropout", 0.2), ("tokens", "dropout", 0.1), ("answers", "qa_dropout", 0.1))),
    "albert": Style("encoder", (("activation=hidden_act", "gelu_new"),), ("one",), ALBERT_PATHS, shared=True,
                    drops=(("hidden", "hidden_dropout_prob", 0.0), ("attention", "attention_probs_dropout_prob", 0.0), ("inner", "", 0.0), ("classifier", "classifier_dropout_prob", 0.1))),
    "mpnet": Style("encoder", GELU, ("each",), MPNET_PATHS, relative=True, eager_only=True, head_activation="gelu", drops=(*BERT_DROPS, CHOICES)),
    **dict.fromkeys(("gpt2", "gpt-sw3"), Style("gpt", GPT2_KEYS, drops=(*GPT2_DROPS, ("summary", "summary_first_dropout", 0.1)))),
    "gpt_bigcode": Style("gpt", (("activation=activation_function", "gelu_pytorch_tanh"),), wide_softmax=True, named_mask=True, drops=GPT2_DROPS),
    "gpt_neo": GPT._replace(wide_scores=True, drops=(("hidden", "resid_dropout", 0.0), ("embedding", "embed_dropout", 0.0),
                                                     ("attention", "attention_dropout", 0.0), ("classifier", "classifier_dropout", 0.1))),
    "gptj": GPT._replace(wide_scores=True, turned="apart", drops=GPT_DROPS),
    "codegen": GPT._replace(wide_scores=True, turned="apart", drops=GPT_DROPS),
    "bloom": GPT._replace(activation="gelu", wide_softmax=True, padding=3,
                          drops=(("hidden", "hidden_dropout", 0.0), ("attention", "attention_dropout", 0.0), ("classifier", "hidden_dropout", 0.0))),
    "falcon": GPT._replace(keys=(("activation", "gelu"),), turned="once", eager_only=False, dropped_together=True,
                           drops=(("hidden", "hidden_dropout", 0.0), ("attended", "attention_dropout", 0.0), ("attention", "attention_dropout", 0.0),
                                  ("classifier", "hidden_dropout", 0.0))),
    "mpt": GPT._replace(activation="gelu", filled=True, wide_softmax=True, cached=False),
    **dict.fromkeys(("llama", "mistral", "ministral", "qwen2", "qwen3", "granite", "cwm",
                     "internlm3", "iquestcoder", "granite4_vision_text", "granite_docling_text", "hunyuan_v1_dense", "molmo2_text"), LLAMA),
    "emu3_text_model": LLAMA._replace(drops=(("attention", "attention_dropout", 0.1), ("hidden", "attention_dropout", 0.1))),
    "phi3": LLAMA._replace(padding=32000, joined_rotary=True, drops=(*LLAMA.drops, ("hidden", "resid_pdrop", 0.0))),
    "smollm3": LLAMA._replace(padding=128004, unturned=True),
    "seed_oss": LLAMA._replace(padding=1, drops=(("attention", "attention_dropout", 0.1), ("hidden", "residual_dropout", 0.1))),
    **dict.fromkeys(("arcee", "jais2"), LLAMA._replace(keys=(("activation=hidden_act", "relu2"),))),
    "exaone4": LLAMA,
    "hyperclovax": LLAMA,
    "ministral3": LLAMA._replace(padding=11, scaled_queries=True),
    "ernie4_5": LLAMA._replace(padding=0, interleaved=True, wide_rotary=True, drops=()),
    "helium": LLAMA._replace(gain="widened", padding=3, interleaved=True),
    **dict.fromkeys(("glm", "glm4"), LLAMA._replace(padding=151329, interleaved=True, joined_rotary=True, rotary_share=0.5)),
    "cohere": COHERE,
    "cohere2": COHERE,
    "olmo": LLAMA._replace(padding=1, wide_rotary=True, bare_norms=True, clipped=True),
    "phi": LLAMA._replace(keys=(("activation=hidden_act", "gelu_new"),), joined_rotary=True, rotary_share=0.5, normed_last=True,
                          drops=(*LLAMA.drops, ("hidden", "resid_pdrop", 0.0), ("embedding", "embd_pdrop", 0.0))),
    "stablelm": LLAMA._replace(joined_rotary=True, rotary_share=0.25, normed_last=True, parallel=False, drops=(*LLAMA.drops, *ONLY_MLP)),
    "persimmon": LLAMA._replace(keys=(("activation=hidden_act", "relu2"),), joined_rotary=True, rotary_share=0.5, drops=(*LLAMA.drops, *ONLY_MLP)),
    "nemotron": LLAMA._replace(keys=(("activation=hidden_act", "relu2"),), gain="shifted", joined_rotary=True, rotary_share=0.5),
    "gpt_neox": LLAMA._replace(keys=GELU, joined_rotary=True, rotary_key="rotary_pct", rotary_share=0.25, parallel=True,
                               drops=(*LLAMA.drops, ("hidden", "hidden_dropout", 0.0), ("embedding", "hidden_dropout", 0.0), ("classifier", "classifier_dropout", 0.1))),
    "gemma": GEMMA._replace(keys=(("activation=hidden_act", "gelu_pytorch_tanh"),)),
    **dict.fromkeys(("gemma2", "vaultgemma"), GEMMA._replace(keys=CAPPED, eager_only=True)),
    "gemma3_text": GEMMA._replace(keys=(*GEMMA.keys, ("capped_logits=final_logit_softcapping", None)), two_turns=True, two_ways=True),
    "starcoder2": LLAMA._replace(keys=(("activation=hidden_act", "gelu_pytorch_tanh"),),
                                 drops=(*LLAMA.drops, ("hidden", "residual_dropout", 0.0), ("embedding", "embedding_dropout", 0.0))),
    "olmo2": OLMO,
    "olmo3": OLMO._replace(two_turns=True),
    "mixtral": LLAMA._replace(keys=(*SILU, ("normed", True)), wide_router=True),
    "minimax_m2": LLAMA._replace(keys=(*SILU, ("normed", True)), wide_router=True, joined_rotary=True),
    "hy_v3": LLAMA._replace(keys=(*SILU, ("normed", True)), wide_router=True, float_router=True),
    "qwen2_moe": LLAMA._replace(keys=MIXTURE),
    "qwen3_moe": LLAMA._replace(keys=MIXTURE),
    "deepseek_v3": GROUPED._replace(keys=(*SILU, ("normed=norm_topk_prob", True), ("groups=n_group", 8), ("chosen=topk_group", 4))),
    "dots1": GROUPED._replace(keys=(*SILU, ("normed=norm_topk_prob", False), *ONE_GROUP)),
    "glm4_moe": GROUPED._replace(keys=(*SILU, ("normed=norm_topk_prob", True), *ONE_GROUP), joined_rotary=True, rotary_share=0.5),
    "deepseek_v2": LIMITED._replace(complex_rotary=True),
    "deepseek_ocr2_text": LIMITED,
    "ernie4_5_moe": LLAMA._replace(keys=SILU, padding=0, interleaved=True, wide_rotary=True, router="bounded", drops=()),
    "granitemoe": LLAMA._replace(router="top", wide_router=True),
    "mellum": LLAMA._replace(keys=(*SILU, ("normed", True))),
    "eurobert": LLAMA._replace(own_scores=True, drops=(*LLAMA.drops, ("classifier", "", 0.0))),
    **dict.fromkeys(("qwen2_vl_text", "qwen2_5_vl_text", "qwen3_vl_text", "qwen2_5_omni_text", "glm4v_text", "paddleocr_vl_text"),
                    LLAMA._replace(turned="each")),
    "glm_ocr_text": LLAMA._replace(turned="each", joined_rotary=True),
    "modernbert": MODERN._replace(own_scores=True, cached=False),
    "modernbert-decoder": MODERN._replace(turned="each"),
    "gpt_oss": LLAMA._replace(gain="wide", eager_only=True, router="top", half_angles=True, joined_rotary=False),
    "olmoe": LLAMA._replace(keys=MIXTURE, whole_norms=True),
    "flex_olmo": OLMO._replace(keys=MIXTURE),
    "t5": T5,
    **dict.fromkeys(("mt5", "umt5"), T5._replace(keys=(("activation=feed_forward_proj", "gated-gelu"),))),
    "bart": BART,
    "opt": BART._replace(keys=RELU, indices=("each", "each"), told_before=True, shifted=True, named_mask=True, wide_softmax=True, padding=1,
                         drops=(("hidden", "dropout", 0.1), ("embedded", "", 0.0), ("attention", "attention_dropout", 0.0))),
    "biogpt": BART._replace(keys=GELU, indices=("one", "one"), before=True, shifted=True, named_mask=True,
                            drops=(("hidden", "hidden_dropout_prob", 0.1), ("attention", "attention_probs_dropout_prob", 0.1), ("activation", "activation_dropout", 0.0))),
    "plbart": BART._replace(drops=(("hidden", "dropout", 0.1), ("attention", "attention_dropout", 0.1), ("activation", "activation_dropout", 0.0), BART_DROPS[-1])),
    "pp_formulanet_text": BART,
    "mvp": BART._replace(indices=("each", "each"), eager_only=True),
    "m2m_100": BART._replace(keys=RELU, indices=("", ""), before=True,
                             drops=(("hidden", "dropout", 0.1), ("attention", "attention_dropout", 0.1), ("activation", "activation_dropout", 0.0))),
    "xglm": BART._replace(indices=("", ""), before=True, shifted=True, floored=True, eager_only=True,
                          drops=(("hidden", "dropout", 0.1), ("attention", "attention_dropout", 0.1), ("activation", "activation_dropout", 0.0))),
    "mbart": BART._replace(before=True),
    "whisper": Style("whisper", SEQ2SEQ, ("", "each"), before=True, packed=True, drops=(("hidden", "dropout", 0.0), ("attention", "attention_dropout", 0.0), ("activation", "activation_dropout", 0.0))),
    **dict.fromkeys(("vit", "deit", "vit_msn", "audio-spectrogram-transformer", "pixio"), Style("tower", (*GELU, ("pooled=pooler_act", "tanh")), paths=VIT_PATHS, wide_softmax=True, drops=(("hidden", "hidden_dropout_prob", 0.0), ("attention", "attention_probs_dropout_prob", 0.0)))),
    **dict.fromkeys(("dinov2", "dinov2_with_registers"), Style("tower", GELU, paths=DINO_PATHS, averaged="both", drops=DINO_DROPS)),
    "ijepa": Style("tower", (*GELU, ("pooled=pooler_act", "tanh")), paths=VIT_PATHS, wide_softmax=True, averaged="all",
                   drops=(("hidden", "hidden_dropout_prob", 0.0), ("attention", "attention_probs_dropout_prob", 0.0))),
    **dict.fromkeys(("clip_text_model", "clipseg_text_model", "metaclip_2_text_model"), CLIP_TEXT),
    **dict.fromkeys(("owlv2_text_model", "owlvit_text_model"), CLIP_TEXT._replace(wide_softmax=False)),
    "groupvit_text_model": CLIP_TEXT._replace(wide_softmax=False, eager_only=True),
    **dict.fromkeys(("clip_vision_model", "altclip_vision_model", "chinese_clip_vision_model", "clipseg_vision_model", "metaclip_2_vision_model"), CLIP._replace(pooling="first")),
    "git_vision_model": CLIP._replace(paths=CLIP_PATHS | {"last": "post_layernorm"}),
    "kosmos_2_vision_model": CLIP._replace(wide_softmax=False, pooling="first"),
    **dict.fromkeys(("clip", "metaclip_2"), Style("pair", towers=("clip_text_model", "clip_vision_model"), contrast="softmax", averaged="patches")),
    "siglip": Style("pair", towers=("siglip_text_model", "siglip_vision_model"), contrast="sigmoid", averaged="all"),
    "siglip_vision_model": CLIP._replace(keys=SIGLIP_KEYS, paths=CLIP_PATHS | {"last": "post_layernorm"}, pooling="attention"),
    "siglip_text_model": CLIP._replace(keys=SIGLIP_KEYS, paths=CLIP_TEXT_PATHS, words=True, pooling="last"),
    "pegasus": BART._replace(indices=("", ""), before=True, drops=SEQ2SEQ_DROPS),
    "marian": BART._replace(indices=("", ""), drops=SEQ2SEQ_DROPS),
    "blenderbot": BART._replace(indices=("one", "one"), before=True, drops=SEQ2SEQ_DROPS),
    "blenderbot-small": BART._replace(indices=("one", "one"), drops=SEQ2SEQ_DROPS),
}  # fmt: skip


def dropout_places(style: Style, class_name: str, config: dict[str, Any]) -> frozenset[str]:
    """Return where a config drops elements at all."""
    rates: dict[str, Any] = {}
    for where, key, default in style.drops:  # of several keys for one place the last counts that is said
        rate = config.get(key, default)
        if rate is not None or where not in rates:
            rates[where] = rate
    if class_name.endswith("ForMultipleChoice") and "choices" in rates:  # RoBERTa asks for no rate of classifiers here
        rates["classifier"] = rates["choices"]
    if (
        style.forward in ("decoder", "gpt") and "classifier" not in rates
    ):  # decoders that classify tokens have a rate of their own, whatever else they drop
        given = (config.get(key) for key in ("classifier_dropout", "hidden_dropout"))
        rates["classifier"] = next((rate for rate in given if rate is not None), 0.1)
    # what attention and MLPs put out, and what a classifier is given, is dropped as all hidden states are, where nothing else is said
    as_hidden = {where: rates.get("hidden") for where in ("attended", "inner", "embedded", "classifier")}
    found = as_hidden | {where: rate for where, rate in rates.items() if rate is not None}
    found.setdefault("tokens", found["classifier"])
    return frozenset(where for where, rate in found.items() if rate)


def local_window(model_type: str | None, config: dict[str, Any]) -> int | None:
    """Return the window of the layers that see one alone, where the tree does not tell (ModernBERT).

    >>> local_window("modernbert", {"local_attention": 64}), local_window("bert", {})
    (32, None)
    """
    style = STYLES.get(model_type or "")
    if style is None or not style.local:
        return None
    stated = config.get("sliding_window")
    return int((config.get("local_attention") or 128) // 2 if stated is None else stated)
