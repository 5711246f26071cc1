"""Pi0: a vision-language model whose layers a smaller Gemma shares its attention with; that one makes a robot's actions of noise.

Source: arXiv 2410.24164; names as in transformers 5.23.0, models/pi0/modeling_pi0.py.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.blueprints.multimodal.paligemma import GEMMA, SIGLIP
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, size, with_changes
from weighbridge.core.length import Stream, unknown
from weighbridge.core.parts import linear, part
from weighbridge.core.tree import Part

STEPS = unknown("the numbers of tokens, actions and denoising steps depend on the call")
STREAMS: dict[str, Stream] = {"seq": STEPS}
VLM = {
    "text_config": {"model_type": "gemma", **GEMMA},
    "vision_config": {"model_type": "siglip_vision_model", **SIGLIP, "intermediate_size": 4304},
    "projection_dim": 2048,
}
EXPERT = {
    "hidden_size": 1024,
    "num_hidden_layers": 18,
    "intermediate_size": 4096,
    "num_attention_heads": 8,
    "num_key_value_heads": 1,
    "head_dim": 256,
}
MARKS = "image_token_id image_token_index is_causal use_bidirectional_attention vocab_size"
FIELDS = (
    model_config("vlm", "vlm_config", "paligemma", absent=VLM, ignored_keys=MARKS),
    model_config("dit", "dit_config", "gemma", absent=EXPERT, ignored_keys=MARKS),
    size("states", "max_state_dim", 32, "S", "size of the robot's state"),
    size("actions", "max_action_dim", 32, "A", "size of an action"),
)


def backbone(c: Config) -> tuple[Part, ...]:
    """Describe the small model, whose vocabulary is that of the large one whatever its config says, and the large one."""
    expert = submodel(with_changes(c.dit, vocab=c.vlm.text.vocab))
    return as_child("dit", expert, streams=STREAMS), as_child("vlm", submodel(c.vlm), streams=STREAMS)


def pi0(c: Config) -> Part:
    """Describe PI0Model."""
    return part("", *backbone(c), kind="model", stream=STEPS)


def generation(c: Config) -> Part:
    """Describe PI0ForConditionalGeneration: actions, states and times go in, actions come out."""
    H = c.dit.hidden
    inputs = (
        linear("action_in_proj", c.actions, H),
        linear("state_proj", c.states, H),
        linear("action_time_mlp_in", 2 * H, H),
        linear("action_time_mlp_out", H, H),
    )
    embeddings = part("embed_action_time", *inputs, kind="embeddings")
    return part(
        "", part("model", *backbone(c), kind="backbone"), embeddings, linear("action_out_proj", H, c.actions), kind="model", stream=STEPS
    )


IGNORED_KEYS = frozenset(
    """chunk_size loss_reduction max_period min_period num_inference_steps time_sampling_beta_alpha time_sampling_beta_beta
    time_sampling_offset time_sampling_scale""".split()
)
FAMILIES = {"pi0": Family("pi0", FIELDS, {"PI0Model": pi0, "PI0ForConditionalGeneration": generation}, "PI0Model", IGNORED_KEYS)}
