"""Random configs of Swin2SR: windows that mostly fill the image, and every way to make it larger."""

from __future__ import annotations

import random
from typing import Any


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw stages, windows and the scale."""
    stages, window = rng.randint(1, 3), rng.choice((2, 3, 4))
    heads = [rng.choice((1, 2, 4)) for _ in range(stages)]
    raw |= {"embed_dim": 4 * rng.randint(1, 6), "depths": [rng.randint(1, 3) for _ in heads], "num_heads": heads, "window_size": window}
    raw["image_size"] = [window * rng.randint(1, 3), window * rng.randint(1, 3)] if rng.random() < 0.8 else rng.randint(5, 12)
    raw |= {"patch_size": rng.choice((1, 1, 1, 2)), "mlp_ratio": rng.choice((1.5, 2.0, 4.0)), "use_absolute_embeddings": rng.random() < 0.1}
    raw |= {"resi_connection": rng.choice(("1conv", "3conv"))}
    raw["upsampler"] = rng.choice(("pixelshuffle", "pixelshuffle_aux", "pixelshuffledirect", "nearest+conv", ""))
    raw["upscale"] = 4 if raw["upsampler"] == "nearest+conv" else rng.choice((1, 2, 3, 4, 8))
    return raw | {"num_channels": rng.choice((1, 3, 3)), **({"num_channels_out": rng.randint(1, 3)} if rng.random() < 0.4 else {})}
