"""GPT-2 for other inputs: ImageGPT (pixels) and the Decision Transformer (returns, states and actions).

Source: Chen et al., "Generative Pretraining from Pixels" (2020); arXiv 2106.01345; class and tensor names as in transformers 5.23.0,
models/imagegpt/modeling_imagegpt.py and models/decision_transformer/modeling_decision_transformer.py.
"""

from __future__ import annotations

from weighbridge.blueprints.decoders.gpt2 import GPT2_FIELDS, MORE_IGNORED_KEYS, gpt2
from weighbridge.blueprints.modules.causal_lm import IGNORED_KEYS
from weighbridge.config.family import Family
from weighbridge.config.fields import HIDDEN, Config, size, variant
from weighbridge.core.length import length
from weighbridge.core.parts import embedding, layer_norm, linear, part, rms_norm
from weighbridge.core.tree import Node, Part


def imagegpt(c: Config) -> tuple[Node, ...]:
    """Describe GPT-2 with norms that scale and do not shift."""
    return gpt2(c, rms_norm)


def pixels(c: Config) -> Part:
    """Describe ImageGPTForCausalImageModeling: a score for every colour, but not for the token that starts an image unless it is tied."""
    rows, owner = (c.vocab, "transformer.wte.weight") if c.tied else (c.vocab - 1, None)
    head = linear("lm_head", c.hidden, rows, bias=False, tied_to=owner)
    return part("", part("transformer", *imagegpt(c), kind="backbone"), head, kind="model")


def classifier(c: Config) -> Part:
    """Describe ImageGPTForImageClassification, on the mean of all tokens."""
    head = linear("score", c.hidden, c.labels, bias=False, stream="one")
    return part("", part("transformer", *imagegpt(c), kind="backbone"), head, kind="model")


def decision(c: Config) -> Part:
    """Describe DecisionTransformerModel: each step of a trajectory is three tokens, and one of each three is predicted from."""
    H = c.hidden
    steps = (linear("embed_return", 1, H), linear("embed_state", c.states, H), linear("embed_action", c.actions, H))
    predicted = (
        linear("predict_state", H, c.states),
        part("predict_action", linear("0", H, c.actions), kind="head"),
        linear("predict_return", H, 1),
    )
    encoder = part("encoder", *gpt2(c), kind="backbone", stream=length("seq") * 3)
    return part("", encoder, embedding("embed_timestep", c.longest, H), *steps, layer_norm("embed_ln", H), *predicted, kind="model")


IMAGEGPT = variant(
    tuple(field for field in GPT2_FIELDS if field.word not in ("summarized", "to_labels")),
    tied=False,
    vocab=513,
    hidden=512,
    layers=24,
    heads=8,
)
DECISION = variant(
    tuple(field for field in GPT2_FIELDS if field.word not in ("labels", "tied", "summarized", "to_labels")),
    size("states", "state_dim", 17, "F", "size of a state"),
    size("actions", "act_dim", 4, "U", "size of an action"),
    size("longest", "max_ep_len", 4096, "T", "time steps"),
    vocab=1,
    layers=3,
    heads=1,
    hidden=HIDDEN.with_default(128),
)
MORE = IGNORED_KEYS | MORE_IGNORED_KEYS | {"tie_word_embeddings", "summary_use_proj", "summary_proj_to_labels"}

IMAGE_CLASSES = {
    "ImageGPTModel": lambda c: part("", *imagegpt(c), kind="model"),
    "ImageGPTForCausalImageModeling": pixels,
    "ImageGPTForImageClassification": classifier,
}
DECISION_CLASSES = {"DecisionTransformerGPT2Model": lambda c: part("", *gpt2(c), kind="model"), "DecisionTransformerModel": decision}
FAMILIES = {
    "imagegpt": Family("imagegpt", IMAGEGPT, IMAGE_CLASSES, "ImageGPTModel", MORE),
    "decision_transformer": Family("decision_transformer", DECISION, DECISION_CLASSES, "DecisionTransformerModel", MORE | {"action_tanh"}),
}
