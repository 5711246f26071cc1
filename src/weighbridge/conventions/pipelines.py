"""What stands beside a denoising network in its pipeline: text encoders and the autoencoder, which totals of diffusion models often hold.

Source: model_index.json of the published pipelines (Stable Diffusion 1.5, 2.1, XL, 3 and 3.5, FLUX.1), as ``diffusers`` loads them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from weighbridge.accounts.parameters import unique_of
from weighbridge.conventions.pieces import Piece
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.messages import mark
from weighbridge.load import load

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


class Component(NamedTuple):
    """A model of a pipeline: what it is, the preset with its config, the class, and what of the config is changed."""

    what: str
    preset: str
    class_name: str
    overrides: tuple[tuple[str, object], ...] = ()


CLIP_L = Component(mark("CLIP-L text encoder"), "clip-vit-large-patch14", "CLIPTextModel")
CLIP_L_PROJECTED = Component(mark("CLIP-L text encoder with projection"), "clip-vit-large-patch14", "CLIPTextModelWithProjection")
CLIP_H = Component(mark("OpenCLIP-H text encoder"), "clip-vit-h-14-laion2b", "CLIPTextModel", (("text_config.num_hidden_layers", 23),))
CLIP_BIG_G = Component(mark("OpenCLIP-bigG text encoder with projection"), "clip-vit-bigg-14-laion2b", "CLIPTextModelWithProjection")
T5_XXL = Component(mark("T5 v1.1 XXL encoder"), "t5-v1_1-xxl", "T5EncoderModel")
VAE = Component(mark("autoencoder"), "stable-diffusion-v1-5-vae", "diffusers.AutoencoderKL")
VAE_16 = Component(mark("autoencoder of 16 channels"), "flux-vae", "diffusers.AutoencoderKL")

SD3 = (CLIP_L_PROJECTED, CLIP_BIG_G, VAE_16)
PIPELINES: dict[tuple[str, int | None], tuple[tuple[Component, ...], ...]] = {
    ("diffusers_unet", 768): ((CLIP_L, VAE),),
    ("diffusers_unet", 1024): ((CLIP_H, VAE),),
    ("diffusers_unet", 2048): ((CLIP_L, CLIP_BIG_G, VAE),),
    ("diffusers_sd3", None): (SD3, (*SD3[:2], T5_XXL, VAE_16)),
    ("diffusers_flux", None): ((CLIP_L, T5_XXL, VAE_16),),
}
"""The pipelines of a type, by the width of the text that its network attends to where that tells them apart."""


def companions(model: ModelValue) -> Iterator[tuple[Piece, ...]]:
    """Yield what stands beside a network in each pipeline that it is published in.

    >>> from weighbridge import model
    >>> [sum(piece.amount for piece in beside) for beside in companions(model("stable-diffusion-3-medium"))]
    [902129827, 5664440483]
    """
    raw = model.description.raw if model.description else {}
    width = raw.get("cross_attention_dim") if model.model_type == "diffusers_unet" else None
    for components in PIPELINES.get((model.model_type or "", width if isinstance(width, int) else None), ()):
        yield tuple(Piece(component.what, elements_of(component)) for component in components)


@cache
def elements_of(component: Component) -> int:
    """Return the unique parameters of one model of a pipeline."""
    found = unique_of(load(component.preset, component.class_name, dict(component.overrides) or None))
    assert isinstance(found, int)
    return found
