"""Networks of images against published totals, each with its source."""

from __future__ import annotations

import pytest

from tests.unit.published import is_rounded
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
    ("efficientnet-b0", 5_288_548, TORCHVISION),
    ("efficientnet-b1", 7_794_184, TORCHVISION),
    ("efficientnet-b2", 9_109_994, TORCHVISION),
    ("efficientnet-b3", 12_233_232, TORCHVISION),
    ("efficientnet-b4", 19_341_616, TORCHVISION),
    ("efficientnet-b5", 30_389_784, TORCHVISION),
    ("efficientnet-b6", 43_040_704, TORCHVISION),
    ("efficientnet-b7", 66_347_960, TORCHVISION),
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
    ("regnet-y-040", "20.6", "facebookresearch/pycls, MODEL_ZOO.md"),
    ("mobilevit-small", "5.6", "arXiv 2110.02178, table 1"),
    ("mobilevit-x-small", "2.3", "arXiv 2110.02178, table 1"),
    ("mobilevit-xx-small", "1.3", "arXiv 2110.02178, table 1"),
    ("pvt-v2-b2", "25.4", "arXiv 2106.13797, table 1"),
    ("pvt-v2-b3", "45.2", "arXiv 2106.13797, table 1"),
    ("pvt-v2-b4", "62.6", "arXiv 2106.13797, table 1"),
    ("pvt-v2-b5", "82.0", "arXiv 2106.13797, table 1"),
]


@pytest.mark.parametrize(("name", "published", "source"), EXACT)
def test_exact_figures(name: str, published: int, source: str) -> None:
    assert model(name).count().unique == published, source


@pytest.mark.parametrize(("name", "published", "source"), ROUNDED)
def test_rounded_figures(name: str, published: str, source: str) -> None:
    total = model(name).count().unique
    assert isinstance(total, int)
    assert is_rounded(total, f"{published}M"), source


def test_mobilenet_v2_has_a_class_more_than_torchvisions() -> None:
    """The published one tells 1,001 classes apart, torchvision's (3,504,872) a thousand."""
    assert model("mobilenet-v2-1.0-224").count().unique == 3_504_872 + 1281


def test_detr_is_what_its_release_prints() -> None:
    """The release of DETR prints 41,302,368: what it trains, all but the stem and the first stage of its ResNet (222,400)."""
    assert model("detr-resnet-50").count().unique == 41_302_368 + 222_400
