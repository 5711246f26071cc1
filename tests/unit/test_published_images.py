"""Networks of images against published totals, each with its source."""

from __future__ import annotations

import pytest

from weighbridge import model

TORCHVISION = "the table of weights in the documentation of torchvision.models"

EXACT = [
    ("resnet-18", 11_689_512, TORCHVISION),
    ("resnet-34", 21_797_672, TORCHVISION),
    ("resnet-50", 25_557_032, TORCHVISION),
    ("resnet-101", 44_549_160, TORCHVISION),
    ("resnet-152", 60_192_808, TORCHVISION),
    ("convnext-tiny-224", 28_589_128, TORCHVISION),
    ("convnext-small-224", 50_223_688, TORCHVISION),
    ("convnext-base-224", 88_591_464, TORCHVISION),
    ("convnext-large-224", 197_767_336, TORCHVISION),
    ("swin-tiny-patch4-window7-224", 28_288_354, TORCHVISION),
    ("swin-small-patch4-window7-224", 49_606_258, TORCHVISION),
    ("swin-base-patch4-window7-224", 87_768_224, TORCHVISION),
]

ROUNDED = [
    ("convnext-xlarge-224-22k-1k", "350.2", "facebookresearch/ConvNeXt, README"),
    ("convnextv2-atto-1k-224", "3.7", "arXiv 2301.00808, table 15"),
    ("convnextv2-femto-1k-224", "5.2", "arXiv 2301.00808, table 15"),
    ("convnextv2-pico-1k-224", "9.1", "arXiv 2301.00808, table 15"),
    ("convnextv2-nano-1k-224", "15.6", "arXiv 2301.00808, table 15"),
    ("segformer-b0-finetuned-ade-512-512", "3.8", "arXiv 2105.15203, table 1"),
    ("segformer-b1-finetuned-ade-512-512", "13.7", "arXiv 2105.15203, table 1"),
    ("segformer-b2-finetuned-ade-512-512", "27.5", "arXiv 2105.15203, table 1"),
    ("segformer-b3-finetuned-ade-512-512", "47.3", "arXiv 2105.15203, table 1"),
    ("segformer-b4-finetuned-ade-512-512", "64.1", "arXiv 2105.15203, table 1"),
    ("segformer-b5-finetuned-ade-640-640", "84.7", "arXiv 2105.15203, table 1"),
    ("swin-large-patch4-window7-224", "197", "arXiv 2103.14030, table 1"),
]


@pytest.mark.parametrize(("name", "published", "source"), EXACT)
def test_exact_figures(name: str, published: int, source: str) -> None:
    assert model(name).count().unique == published, source


@pytest.mark.parametrize(("name", "published", "source"), ROUNDED)
def test_rounded_figures(name: str, published: str, source: str) -> None:
    total = model(name).count().unique
    assert isinstance(total, int)
    assert f"{total / 10**6:.{len(published.partition('.')[2])}f}" == published, source


def test_detr_is_what_its_release_prints() -> None:
    """The release of DETR prints 41,302,368: what it trains, all but the stem and the first stage of its ResNet (222,400)."""
    assert model("detr-resnet-50").count().unique == 41_302_368 + 222_400
