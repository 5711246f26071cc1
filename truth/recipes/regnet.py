"""RegNet's random configs: stages in groups that divide them, of both kinds of layers."""

from __future__ import annotations

import random
from typing import Any

from truth import images


def draw(rng: random.Random, raw: dict[str, Any]) -> dict[str, Any]:
    """Draw stages, some of them as wide as their input."""
    depths, group = images.stages(rng), rng.randint(3, 6)
    widths = [group * rng.randint(1, 5) for _ in depths]
    raw |= {"depths": depths, "hidden_sizes": widths, "groups_width": group, "embedding_size": rng.choice((widths[0], 10))}
    return raw | {"layer_type": rng.choice(("x", "y")), "image_size": images.picture(rng)}
