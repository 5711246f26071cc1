"""``sweep``: every combination counted is what the config with these values counts."""

from __future__ import annotations

import pytest

import weighbridge
from weighbridge.core.errors import ConfigError


@pytest.mark.parametrize("name", ["bert-tiny", "llama-3.2-1b", "qwen3-0.6b", "gemma-3-1b", "mixtral-8x7b-v0.1", "t5-small"])
def test_what_is_not_varied_stays_as_the_config_says(name: str) -> None:
    """A width that is told from two sizes names both: the one that is not varied was dropped with it, and the class default took its place."""
    weighed = weighbridge.model(name)
    assert weighed.description is not None
    for field in weighed.description.family.fields:
        own = getattr(weighed.description.sizes, field.word, None)
        if field.kind == "size" and type(own) is int and own > 0:
            try:
                rows = weighbridge.sweep(name, {field.key: [own, 2 * own]}).rows
            except ConfigError:
                continue
            for row in rows:
                changed = weighbridge.model(name, overrides={field.key: row[field.key]})
                assert row["parameters"] == changed.count().unique, (field.key, row)
