"""Totals of whole pipelines: the denoising network, its text encoders and the autoencoder."""

from __future__ import annotations

import pytest

from weighbridge import model


@pytest.mark.parametrize(
    ("name", "number", "parts"),
    [
        ("stable-diffusion-3-medium", 2_987_080_931, 4),  # KerasHub 0.32.0, which counts the fixed positions too
        ("stable_diffusion_3.5_large_turbo", 9_048_410_595, 4),
        ("stable-diffusion-3.5-medium", 3_371_793_763, 4),
        ("stable-diffusion-v1-5-unet", 859_520_964 + 123_060_480 + 83_653_863, 2),
        ("sdxl-unet", 2_567_463_684 + 123_060_480 + 694_659_840 + 83_653_863, 3),
        ("stable-diffusion-2-1-unet", 865_910_724 + 340_387_840 + 83_653_863, 2),
        ("flux.1-dev", 11_901_408_320 + 123_060_480 + 4_762_310_656 + 83_819_683, 3),
    ],
)
def test_a_pipeline_is_its_networks(name: str, number: int, parts: int) -> None:
    found = model(name).reconcile(number).matches[0]
    assert (found.value, len(found.adds), found.how) == (number, parts, "exact")


def test_the_rounded_size_of_a_pipeline() -> None:
    assert model("sdxl-unet").reconcile("3.5B").matches[0].value == 3_468_837_867
