"""Models of other packages, by the names that their packages give them."""

from __future__ import annotations

from weighbridge.blueprints.modules.timm_models import timm_model
from weighbridge.blueprints.packages.open_clip import open_clip_model
from weighbridge.core._namedtuple import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


def package_model(name: str) -> dict[str, Any] | None:
    """Return the config of a model of timm's (``timm/...``) or of OpenCLIP's (``open_clip/...``), or None; without the prefix, timm's goes first.

    >>> package_model("deit3_small_patch16_224.fb_in1k")["architecture"], package_model("timm/EVA02-L-14")
    ('deit3_small_patch16_224.fb_in1k', None)
    """
    owner, _, rest = name.rpartition("/")
    if owner not in ("", "timm", "open_clip") or not rest:
        return None
    found = timm_model(name) if owner != "open_clip" else None
    return found if found is not None or owner == "timm" else open_clip_model(name)
