"""ESM-1b and ESM-2: protein language models (Rives et al., 2019; Lin et al., 2022), and ESMFold, which folds on them.

Source: 10.1073/pnas.2016239118, 10.1126/science.ade2574; class and tensor names as in transformers 5.23.0,
models/esm/modeling_esm.py and modeling_esmfold.py.
"""

from __future__ import annotations

from typing import NoReturn

from weighbridge.blueprints.encoders.bert import POOLED, pooler
from weighbridge.blueprints.modules import folding_trunk
from weighbridge.blueprints.modules.bert_family import BERT_TASKS, ROBERTA_HEADS, HeadSpec, bert_fields, encoder_stack, with_heads
from weighbridge.blueprints.modules.bert_family import norm_first_attentions as attentions
from weighbridge.blueprints.modules.composite import as_child
from weighbridge.blueprints.modules.reroot import freeze
from weighbridge.config.family import Family
from weighbridge.config.fields import DECODER, VOCAB, Config, choice, nested, optional, switch
from weighbridge.core.errors import ConfigError
from weighbridge.core.length import length
from weighbridge.core.parts import embedding, layer_norm, linear, matmul, part, replace, split_mlp
from weighbridge.core.tree import Part, Tensor


def no_vocabulary(c: Config) -> NoReturn:
    """Refuse a config without a vocabulary: the reference has no default for it."""
    raise ConfigError("ESM has no default vocabulary", key="vocab_size", hint="33 in all published ESM-2 models")


FIELDS = (
    VOCAB.with_default(no_vocabulary),
    *(field for field in bert_fields(positions=1026, types=None) if field.word != "vocab"),
    replace(choice("place", "position_embedding_type", "absolute"), nullable=True),
    switch("normed", "emb_layer_norm_before", False),
    optional("rotary_dim", "head_dim", None, "D_r", "width of the rotary positions"),
    *DECODER,
    POOLED,
    switch("folds", "is_folding_model", False),
    nested("fold", "esmfold_config", folding_trunk.FOLD),
)
IGNORED_KEYS = folding_trunk.IGNORED_KEYS | {"mask_token_id", "token_dropout", "vocab_list"}


def esm(c: Config, *, pooled: bool, words: str | None = None) -> tuple[Part, ...]:
    """Describe the encoder, norms first, with the head that predicts contacts from the attention of all layers."""
    H = c.hidden
    embeddings = part(
        "embeddings",
        embedding("word_embeddings", c.vocab, H),
        *((layer_norm("layer_norm", H),) if c.normed else ()),
        *((embedding("position_embeddings", c.positions, H),) if c.place == "absolute" else ()),
        kind="embeddings",
    )
    layer = part(
        "layer", *attentions(c, after="LayerNorm"), *split_mlp(H, c.mlp), layer_norm("LayerNorm", H), kind="layer", repeat=c.layers
    )
    # It runs only when contacts are asked for, never in a forward pass.
    contacts = part("contact_head", linear("regression", c.layers * c.heads, 1), kind="head", requires="contacts")
    rotary = (
        (
            part(
                "rotary_embeddings",
                Tensor("inv_freq", (((c.head_dim if c.rotary_dim is None else c.rotary_dim) + 1) // 2,), "buffer"),
                kind="rotary",
            ),
        )
        if c.place == "rotary"
        else ()
    )
    encoder = encoder_stack(layer, layer_norm("emb_layer_norm_after", H))
    return (embeddings, *rotary, encoder, *((pooler(c),) if pooled else ()), contacts)


def masked_lm(c: Config, words: str | None) -> tuple[Part, ...]:
    """Describe the vocabulary head."""
    H = c.hidden
    decoder = linear("decoder", H, c.vocab, bias=False, tied_to=words)
    return (
        part("lm_head", Tensor("bias", (c.vocab,), "bias"), linear("dense", H, H), layer_norm("layer_norm", H), decoder, kind="lm_head"),
    )


def folding(c: Config) -> Part:
    """Describe EsmForProteinFolding: the states of all layers, weighed, go into a trunk that makes a structure of them.

    The language model is not trained; it sees a token in front of the residues and one after them.
    """
    if not c.folds:
        raise ConfigError("this class needs a config of a model that folds", key="is_folding_model", value=False, hint="true")
    H, trunk = c.hidden, c.fold.trunk
    S, states = trunk.single, c.layers + 1
    inner = as_child("esm", part("", *esm(c, pooled=False), kind="backbone", stream="seq"), streams={"seq": length("seq") + 2})
    mlp = part("esm_s_mlp", layer_norm("0", H), linear("1", H, S), linear("3", S, S), kind="projector")
    return part(
        "",
        Tensor("esm_s_combine", (states,), "gain"),
        Tensor("af2_to_esm", (folding_trunk.TOKENS - 1,), "buffer"),
        freeze(inner),
        matmul("esm_s_combine", ("seq", states, H)),
        mlp,
        *((embedding("embedding", folding_trunk.TOKENS, S),) if c.fold.embedded else ()),
        folding_trunk.trunk(trunk),
        *folding_trunk.heads(trunk, c.fold.confidence_width),
        kind="model",
    )


HEADS = {
    "ForMaskedLM": HeadSpec(masked_lm),
    "ForSequenceClassification": ROBERTA_HEADS["ForSequenceClassification"],
    "ForTokenClassification": BERT_TASKS["ForTokenClassification"],
}

CLASSES = with_heads("Esm", "esm", esm, HEADS) | {"EsmForProteinFolding": folding}
FAMILIES = {"esm": Family("esm", FIELDS, CLASSES, "EsmModel", ignored_keys=IGNORED_KEYS)}
