"""Published totals of models with two towers, each with the source that states it."""

from __future__ import annotations

import pytest

from weighbridge import model

PROFILE = [
    ("clip-vit-base-patch32", "151.28", "87.85", "63.43"),
    ("clip-vit-base-patch16", "149.62", "86.19", "63.43"),
    ("clip-vit-large-patch14", "427.62", "303.97", "123.65"),
    ("clip-vit-large-patch14-336", "427.94", "304.29", "123.65"),
    ("clip-vit-h-14-laion2b", "986.11", "632.08", "354.03"),
    ("clip-vit-g-14-laion2b", "1366.68", "1012.65", "354.03"),
    ("clip-vit-bigg-14-laion2b", "2539.57", "1844.91", "694.66"),
    ("siglip-base-patch16-224", "203.16", "92.88", "110.27"),
    ("siglip-base-patch16-384", "203.45", "93.18", "110.27"),
    ("siglip-base-patch16-512", "203.79", "93.52", "110.27"),
    ("siglip-large-patch16-256", "652.15", "315.96", "336.19"),
    ("siglip-large-patch16-384", "652.48", "316.28", "336.19"),
    ("siglip-so400m-patch14-224", "877.36", "427.68", "449.68"),
    ("siglip-so400m-patch14-384", "877.96", "428.23", "449.73"),
]
"""Millions of parameters: whole, image tower and text tower, as in mlfoundations/open_clip, docs/model_profile.csv."""

ROUNDED = [
    ("chinese-clip-vit-base-patch16", "188", "OFA-Sys/Chinese-CLIP, README.md"),
    ("chinese-clip-vit-large-patch14", "406", "OFA-Sys/Chinese-CLIP, README.md"),
]


def whole(size: object) -> int:
    assert isinstance(size, int)
    return size


def millions(*counts: int) -> str:
    return f"{sum(counts) / 10**6:.2f}"


@pytest.mark.parametrize(("name", "total", "image", "text"), PROFILE)
def test_totals_and_towers_are_those_of_the_profile(name: str, total: str, image: str, text: str) -> None:
    weighed = model(name)
    assert millions(whole(weighed.count().unique)) == total
    own = [row for row in weighed.tensors() if row.tied_to is None]
    images = [whole(row.count) for row in own if row.name.startswith(("vision_model.", "visual_projection."))]
    texts = [whole(row.count) for row in own if row.name.startswith(("text_model.", "text_projection."))]
    assert (millions(*images), millions(*texts)) == (image, text)


@pytest.mark.parametrize(("name", "published", "source"), ROUNDED)
def test_rounded_figures(name: str, published: str, source: str) -> None:
    assert str(round(whole(model(name).count().unique) / 10**6)) == published, source
