"""Models of other packages, by the names that their packages give them."""

from __future__ import annotations

from weighbridge.blueprints.modules.timm_models import timm_model
from weighbridge.blueprints.packages.open_clip import open_clip_model
from weighbridge.core._namedtuple import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


MMPRETRAIN = ("_3rdparty", "xb")
"""What MMPretrain writes behind an architecture: that it took the weights over, or devices and batch (``xcit-nano-12-p16_3rdparty_in1k``, ``_32xb128``)."""


def _mmpretrain_model(name: str) -> dict[str, Any] | None:
    """Return the config of a model that timm has too and MMPretrain calls otherwise."""
    architecture, _, rest = name.partition("_")
    if not any(mark in "_" + rest for mark in MMPRETRAIN) or "_in1k" not in rest or "-mae-" in rest:
        return None  # other data have other labels, and what masked images taught there is pooled otherwise
    pixels = rest.rpartition("-")[2]
    side = pixels.removesuffix("px") if pixels.endswith("px") else "224"
    plain = architecture.replace("-v2", "v2").replace("-", "_")
    names = f"{plain}_{side}", f"{plain.replace('_p', '_patch')}_{side}", f"{plain}_patch16_{side}", plain
    return next((found for one in names if (found := timm_model(one)) is not None), None)


def package_model(name: str) -> dict[str, Any] | None:
    """Return the config of a model of timm's (``timm/...``) or of OpenCLIP's (``open_clip/...``), or None; without the prefix, timm's goes first.

    >>> package_model("deit3_small_patch16_224.fb_in1k")["architecture"], package_model("timm/EVA02-L-14")
    ('deit3_small_patch16_224.fb_in1k', None)
    >>> package_model("deit3-base-p16_in21k-pre_3rdparty_in1k-384px")["architecture"]
    'deit3_base_patch16_384'
    """
    owner, _, rest = name.rpartition("/")
    if owner not in ("", "timm", "open_clip") or not rest:
        return None
    found = timm_model(name) or _mmpretrain_model(rest) if owner != "open_clip" else None
    return found if found is not None or owner == "timm" else open_clip_model(name)
