"""Every alias, boolean and null of a config class against what the live class made of it when it was recorded."""

from __future__ import annotations

from typing import Any

import pytest

from tests.shares import share
from truth import backbones, trials
from weighbridge import model
from weighbridge.core.errors import WeighbridgeError

ENTRIES = [(name, entry) for name in ("aliases", "flips") for entry in trials.read(name)]
assert ENTRIES


UNREAD = {
    "altclip": "vision_config.",
    "moshi": "depth_decoder_config.",
    "depth_pro": "use_fov_model",
}
"""Nulls that the record set on a config that was made; read from a file, the config class refuses them (``expected int, got NoneType``)."""


@pytest.mark.parametrize("named", share(ENTRIES, 15, lambda named: f"{named[0]}-{named[1]['type']}"))
def test_every_key_makes_what_the_live_class_makes(named: tuple[str, dict[str, Any]]) -> None:
    """Equal, or refused; a refusal that was not there when the truth was recorded is a step back."""
    _, entry = named
    digests: dict[Any, str] = {}
    for class_name, raw, expected, refused in trials.recorded_trials(entry):
        try:
            found = model(raw, class_name)
        except WeighbridgeError as error:
            if refused or (str(error).startswith(UNREAD.get(entry["type"], "\0")) and str(error).endswith("found null")):
                continue
            raise AssertionError(f"{class_name} {raw}: {error}") from error
        key = (class_name, found.tree)
        if key not in digests:
            digests[key] = trials.own(found)
        assert digests[key] == expected, f"{class_name} {raw}"


def test_changes_are_read_as_they_were_written() -> None:
    """A null, a text with spaces, a list: all survive the line they stand in."""
    text = 'a=null; b.c="x y"; -d; e=[1, 2]'
    written = trials.write_changes(trials.Trial("C", 0, trials.read_changes(text)))
    assert written == text


@pytest.mark.parametrize("entry", [pytest.param(entry, id=entry["type"]) for entry in backbones.read()])
def test_every_backbone_under_a_neck_makes_what_the_live_class_makes(entry: dict[str, Any]) -> None:
    for inner, expected, refused in entry["cases"]:
        raw = {"model_type": entry["type"], "backbone_config": inner}
        try:
            found = model(raw, entry["class"])
        except WeighbridgeError as error:
            assert "\n" not in str(error)  # noqa: PT017  (it may refuse; what it says is looked at)
            if refused:
                continue
            raise AssertionError(f"{raw}: {error}") from error
        assert trials.own(found) == expected, raw
