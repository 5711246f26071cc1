"""GIT: a text decoder over the patches of an image and the tokens before it.

Source: arXiv 2205.14100, section 3; names as in transformers 5.23.0, models/git/modeling_git.py. The arithmetic is that
of one image in front of each text.
"""

from __future__ import annotations

from weighbridge.blueprints.encoders.bert import embeddings, layer
from weighbridge.blueprints.modules.clip_towers import image_fields, stack_fields, text_fields, vision_tower
from weighbridge.blueprints.modules.stage_fields import number
from weighbridge.config.family import Family
from weighbridge.config.fields import TIED, Config, constant, nested
from weighbridge.core.length import sum_of
from weighbridge.core.parts import layer_norm, linear, part, replace
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Part, Tensor

VISION = (*stack_fields(768, 3072, 12), *image_fields(224, 16))
FIELDS = (
    nested("vision", "vision_config", VISION),
    *text_fields(30522, 1024, *stack_fields(768, 3072, 12, 6)),
    number("frames", "num_image_with_embedding", None),
    TIED.with_default(False),
    constant("crossed", False),
    constant("decoder", True),
)


def vision(c: Config) -> Part:
    """Describe GitVisionModel: CLIP's tower, whose last norm is of all patches."""
    return part("", part("vision_model", *vision_tower(c), kind="vision"), kind="vision", stream=c.patches + 1)


def decoder(c: Config) -> tuple[Part, ...]:
    """Describe the image tower, the map of its states to the text's width, the text, and a vector for each frame of a video."""
    H, states = c.hidden, c.vision.patches + 1
    mapped = part("visual_projection", linear("0", c.vision.hidden, H), layer_norm("1", H))
    frames = tuple(Tensor(str(index), (1, 1, c.vision.hidden), "embedding") for index in layer_range(c.frames or 0))
    return (
        embeddings(c, typed=False),
        replace(vision(c.vision), name="image_encoder"),
        part("encoder", layer(c), kind="decoder"),
        part("visual_projection", mapped, kind="projector", stream=states),
        *((part("img_temporal_embedding", *frames, kind="embeddings"),) if frames else ()),
    )


def git(c: Config) -> Part:
    """Describe GitModel."""
    return part("", *decoder(c), kind="model", stream=sum_of("seq", c.vision.patches + 1))


def causal_lm(c: Config) -> Part:
    """Describe GitForCausalLM: scores for every state, the image's too."""
    whole, words = git(c), "git.embeddings.word_embeddings.weight" if c.tied else None
    scores = linear("output", c.hidden, c.vocab, tied_to=words, stream=whole.stream)
    return part("", replace(whole, name="git", kind="backbone"), scores, kind="model")


FAMILIES = {
    "git": Family("git", FIELDS, {"GitModel": git, "GitForCausalLM": causal_lm}, "GitModel"),
    "git_vision_model": Family("git_vision_model", VISION, {"GitVisionModel": vision}, "GitVisionModel"),
}
