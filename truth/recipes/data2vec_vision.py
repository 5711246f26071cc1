"""Random configs of data2vec for images, as of BEiT."""

from __future__ import annotations

from truth.recipes.beit import draw

__all__ = ["draw"]
