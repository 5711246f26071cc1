"""Inputs of models whose images are cut into patches beforehand, and may have any shape."""

from __future__ import annotations

import inspect
from importlib import import_module
from typing import Any

from truth.forward import Pass
from truth.live import RefusedError


def passes(model: Any, merge: int) -> list[Pass]:
    """List passes with images of two shapes, of which squares of *merge* patches become a token; a tower alone takes them as well."""
    shapes = ((4 * merge, 2 * merge), (3 * merge, 5 * merge))
    if not hasattr(model.config, "vision_config"):
        return [Pass(1, 16, patches=shape) for shape in shapes]
    return [Pass(batch, batch * 10 + 30, images=batch, patches=shape) for batch, shape in enumerate(shapes, 1)]


def grid(lengths: Any) -> Any:
    """Return the shapes of all images of a pass.

    Raises:
        RefusedError: The pass tells none.
    """
    if lengths.patches is None:
        raise RefusedError("an image of any size is told by its patches")
    count = lengths.batch * (lengths.images or 1)
    return import_module("torch").tensor([[1, *lengths.patches]] * count)


def tokens(model: Any, lengths: Any, merge: int) -> dict[str, Any]:
    """Make tokens, with places for the images of each example."""
    torch = import_module("torch")
    made = torch.full((lengths.batch, lengths.seq), 3, dtype=torch.long)
    if lengths.images is None:
        return {"input_ids": made}
    each = lengths.patches[0] * lengths.patches[1] // merge**2
    if lengths.images * (each + 1) > lengths.seq:
        raise RefusedError("no room for the images")
    for image in range(lengths.images):
        start = 1 + image * (each + 1)
        made[:, start : start + each] = model.config.image_token_id
    kinds = "mm_token_type_ids" in inspect.signature(getattr(model, "model", model).forward).parameters
    return {"input_ids": made} | ({"mm_token_type_ids": (made == model.config.image_token_id).int()} if kinds else {})
