"""Totals of well-known vision models, held to figures published elsewhere."""

from __future__ import annotations

import pytest

from tests.unit.published import is_met
from weighbridge import count
from weighbridge.presets import preset

TOTALS = """vit-base-patch16-224 vit-base-patch16-384 vit-large-patch16-224 vit-large-patch16-384 deit-tiny-patch16-224 deit-small-patch16-224
    deit-base-patch16-224 deit-tiny-distilled-patch16-224 deit-small-distilled-patch16-224 deit-base-distilled-patch16-224
    beit-base-patch16-224 beit-large-patch16-224 dinov2-base dinov3-vits16 dinov3-vits16plus dinov3-vitb16 dinov3-vith16plus
    dinov3-vit7b16 depth-anything-small-hf depth-anything-base-hf depth-anything-large-hf yolos-tiny yolos-small yolos-base sam-vit-base sam-vit-large sam-vit-huge""".split()
"""Presets whose published total is that of the class they name, rounded or cut off at its last digit."""

EXACT = {
    "vit-base-patch16-224": 86_567_656,
    "vit-base-patch16-384": 86_859_496,
    "vit-base-patch32-384": 88_297_192,
    "vit-large-patch16-224": 304_326_632,
    "deit-tiny-patch16-224": 5_717_416,
    "deit-small-patch16-224": 22_050_664,
    "deit-tiny-distilled-patch16-224": 5_910_800,
    "deit-small-distilled-patch16-224": 22_436_432,
    "deit-base-distilled-patch16-224": 87_338_192,
    "beit-base-patch16-224": 86_530_984,
    "beit-large-patch16-224": 304_430_568,
    "dinov2-small": 22_056_576,
    "dinov2-base": 86_580_480,
    "dinov2-large": 304_368_640,
    "dinov2-giant": 1_136_480_768,
    "dinov3-vit7b16": 6_716_035_072,
    "levit-128": 9_213_936,
    "levit-256": 18_893_876,
    "levit-384": 39_128_836,
    "vit-mae-base": 111_907_840,
}
"""As the original classes and timm's results tables count them."""


@pytest.mark.parametrize("name", TOTALS)
def test_published_total(name: str) -> None:
    found = preset(name)
    assert found is not None
    exact = count(name).unique
    assert isinstance(exact, int)
    assert is_met(exact, found.published)


@pytest.mark.parametrize(("name", "expected"), EXACT.items())
def test_exact_total(name: str, expected: int) -> None:
    assert count(name).unique == expected
