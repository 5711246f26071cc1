"""X-CLIP: CLIP for videos, with cross-frame message tokens and video-specific text prompts.

Source: arXiv 2208.02816, section 3; names as in transformers 5.23.0, models/x_clip/modeling_x_clip.py. The vision tower runs
once for each frame; every text is prompted by every video.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.causal_lm import uneven_heads
from weighbridge.blueprints.modules.clip_towers import (
    PROJECTED,
    SCALE,
    encoder,
    image_fields,
    normalize_config,
    projection,
    similarity,
    stack_fields,
    text_fields,
    vision_embeddings,
)
from weighbridge.blueprints.multimodal.clip import text
from weighbridge.config.family import Family
from weighbridge.config.fields import Config, computed, derived, nested, size, with_changes
from weighbridge.core.parts import attend, fairseq_attention, layer_norm, linear, part, plain_mlp, replace
from weighbridge.core.sizes import exact
from weighbridge.core.tree import Part, Tensor

TEXT = text_fields(49408, 77, *stack_fields(512, 2048, 8))
VISION = (
    *stack_fields(768, 3072, 12),
    *image_fields(224, 32),
    size("frames", "num_frames", 8, "F", "frames of a video"),
    size("mit_hidden", "mit_hidden_size", 512, "H_m", "width of the layers over frames"),
    size("mit_mlp", "mit_intermediate_size", 2048, "I_m", "intermediate size of the layers over frames"),
    size("mit_layers", "mit_num_hidden_layers", 1, "L_m", "layers over frames"),
    size("mit_heads", "mit_num_attention_heads", 8, "A_m", "attention heads over frames"),
    computed("mit_even", lambda c: c.mit_hidden % c.mit_heads == 0),
    derived(
        "mit_head_dim",
        lambda c: exact(c.mit_hidden, c.mit_heads) if c.mit_even else c.mit_hidden // c.mit_heads,
        "mit_hidden_size",
        "mit_num_attention_heads",
    ),
)
FIELDS = (
    nested("text", "text_config", uneven_heads(TEXT)),
    nested("vision", "vision_config", uneven_heads(VISION)),
    PROJECTED,
    size("prompt_layers", "prompt_layers", 2, "L_p", "layers of the prompt"),
    size("prompt_heads", "prompt_num_attention_heads", 8, "A_p", "attention heads of the prompt"),
)


def layer(c: Config) -> Part:
    """Describe one layer, repeated: the frame's message, from attention over all frames, is one more token for its patches to attend to."""
    H = c.hidden
    message = fairseq_attention("message_attn", H, c.heads, c.head_dim, keys=None)
    over_frames = tuple(replace(child, keys=c.frames) if child.name == "attend" else child for child in message.children)
    return part(
        "layers",
        fairseq_attention("self_attn", H, c.heads, c.head_dim, stream=c.patches + 2),
        layer_norm("layer_norm1", H, stream=c.patches + 2),
        plain_mlp("mlp", H, c.mlp, ("fc1", "fc2"), bias=True),
        layer_norm("layer_norm2", H),
        linear("message_fc", H, H, stream="one"),
        layer_norm("message_ln", H, stream="one"),
        replace(message, children=over_frames, stream="one"),
        kind="layer",
        repeat=c.layers,
    )


def vision(c: Config) -> Part:
    """Describe the vision tower, run once for each frame."""
    H = c.hidden
    norms = layer_norm("post_layernorm", H, stream="one"), layer_norm("pre_layernorm", H)
    children = (vision_embeddings(c), part("encoder", layer(c), kind="encoder"), *norms)
    return part("", *children, kind="vision", stream=c.patches + 1, executions=c.frames)


def vision_alone(c: Config) -> Part:
    """Describe XCLIPVisionModel, for the frames of one video."""
    return part("", vision(c), kind="model")


def integration(c: Config) -> Part:
    """Describe the transformer over the frames' vectors."""
    inner = with_changes(c, hidden=c.mit_hidden, mlp=c.mit_mlp, layers=c.mit_layers, heads=c.mit_heads, head_dim=c.mit_head_dim)
    positions = Tensor("position_embedding", (1, c.frames, c.mit_hidden), "embedding")
    return part("mit", positions, encoder(inner), kind="encoder", stream=c.frames)


def prompt_generator(c: Config) -> Part:
    """Describe how each text attends to the patches of a video, the mean over its frames."""
    E, patches = c.projected, c.vision.patches
    looking = part(
        "cross_attn",
        *(linear(f"{name}_proj", E, E, bias=False, stream=patches) for name in "kv"),
        linear("q_proj", E, E, bias=False),
        linear("proj", E, E),
        attend(heads=c.prompt_heads, head_dim=exact(E, c.prompt_heads), keys=patches),
        kind="cross_attention",
    )
    mlp = part("mlp", linear("0", E, 4 * E), linear("3", 4 * E, E), kind="feed_forward")
    layers = part("decoder", looking, layer_norm("norm1", E), layer_norm("norm3", E), mlp, kind="layer", repeat=c.prompt_layers)
    first = layer_norm("layernorm", E, stream=patches)
    return part("prompts_generator", Tensor("alpha", (E,), "gain"), first, layers, kind="decoder", stream="batch")


def xclip(c: Config) -> Part:
    """Describe XCLIPModel."""
    H, E, frames = c.vision.hidden, c.projected, c.vision.frames
    return part(
        "",
        SCALE,
        part("", Tensor("prompts_visual_projection", (H, E), "weight"), kind="projector", stream=frames * c.vision.patches),
        replace(text(c.text), name="text_model"),
        replace(vision(c.vision), name="vision_model"),
        replace(projection("visual_projection", H, E), stream=frames),
        projection("text_projection", c.text.hidden, E),
        layer_norm("prompts_visual_layernorm", H, stream=frames * c.vision.patches),
        integration(c.vision),
        prompt_generator(c),
        similarity(E),
        kind="model",
    )


IGNORED_KEYS = frozenset(
    """logit_scale_init_value prompt_alpha prompt_hidden_act prompt_attention_dropout prompt_projection_dropout drop_path_rate
    projection_dim""".split()
)
FAMILIES = {
    "xclip": Family("xclip", FIELDS, {"XCLIPModel": xclip}, "XCLIPModel", IGNORED_KEYS, normalize_config=normalize_config),
    "xclip_text_model": Family("xclip_text_model", uneven_heads(TEXT), {"XCLIPTextModel": text}, "XCLIPTextModel", IGNORED_KEYS),
    "xclip_vision_model": Family(
        "xclip_vision_model", uneven_heads(VISION), {"XCLIPVisionModel": vision_alone}, "XCLIPVisionModel", IGNORED_KEYS
    ),
}
