"""A refusal of a value inside a sub-config names the whole path to it, whichever type stands there."""

import random

import pytest

from weighbridge import ConfigError, model
from weighbridge.blueprints import MODULES, family

VALUES: tuple[object, ...] = (-1, 0, 7, "x", [3, 5], [], None, 0.5, True)
COMPOSITES = [name for name in MODULES if any(field.kind == "nested" for field in family(name).fields)]
OPEN = [
    ("llava", "text_config"),
    ("llava", "vision_config"),
    ("encoder-decoder", "decoder"),
    ("upernet", "backbone_config"),
    ("rag", "generator"),
]
"""Sub-configs in which many model types may stand."""
MISSING = ("does not state it", "no default vocabulary", "as the other parts have it")
"""What is said of another field than the one that was changed."""


def refusal(raw: dict[str, object]) -> ConfigError | None:
    try:
        model(raw, family(str(raw["model_type"])).base)
    except ConfigError as error:
        return error
    return None


def test_by_a_composite_model() -> None:
    draw = random.Random("paths")
    seen = 0
    for name in draw.sample(COMPOSITES, 60):
        bare = refusal({"model_type": name})
        broken = bare is not None and not any(words in str(bare) for words in MISSING)  # another default may be at fault then
        for outer in (field for field in family(name).fields if field.kind == "nested"):
            for field in (field for field in outer.fields if field.key and field.kind != "nested"):
                value = draw.choice(VALUES)
                error = refusal({"model_type": name, outer.key: {field.key: value}})
                if error is not None and not any(words in str(error) for words in MISSING):
                    assert broken or error.key.startswith(outer.key), (name, outer.key, field.key, value, str(error))
                    seen += 1
    assert seen > 100


def test_by_a_model_that_takes_any_type() -> None:
    draw = random.Random("any")
    seen = 0
    for _ in range(400):
        (name, key), inner = draw.choice(OPEN), draw.choice(list(MODULES))
        fields = [field for field in family(inner).fields if field.key and field.kind != "nested"]
        if fields:
            raw: dict[str, object] = {"model_type": name, key: {"model_type": inner, draw.choice(fields).key: draw.choice(VALUES)}}
            error = refusal(raw)
            if error is not None and key != "decoder":
                assert error.key.startswith(key) or f"{key}." in str(error), (raw, str(error))
                seen += 1
    assert seen > 50


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (
            {"model_type": "bark", "fine_acoustics_config": {"n_codes_total": -1}},
            "fine_acoustics_config.n_codes_total: -1 is not a value this field can take",
        ),
        (
            {"model_type": "llava", "vision_config": {"model_type": "convnextv2"}},
            "vision_config.model_type: convnextv2 does not fit here: the outer model reads its hidden_size",
        ),
    ],
)
def test_what_is_said(raw: dict[str, object], said: str) -> None:
    assert str(refusal(raw)) == said
