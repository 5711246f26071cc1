"""Sizes that are the keys of a dict of settings, and so name the members of the family that the dict, or the text above it, is about."""

from __future__ import annotations

import re
from collections.abc import Sequence

from weighbridge.auditing.checks.names import Mention
from weighbridge.auditing.patterns import pattern
from weighbridge.presets.aliases import MODEL, member


def family_of_dict(text: str, families: Sequence[str], before: str) -> str:
    """Return the family whose members a dict that begins on a line has, or the one of the dict above if none begins.

    >>> family_of_dict("LLAMA2_CONFIGS = {", (), ""), family_of_dict("SIZES = dict(", ("gpt2",), ""), family_of_dict("MINE = {", ("gpt2",), "")
    ('llama2', 'gpt2', 'mine')
    """
    found = _OPENED.match(text)
    if found is None:
        return before if not text or text[0] in " \t}#\"'" else ""
    own = _WORDS.sub("", found["name"].lower()).strip("_")
    return own or (families[0] if families else "")


def member_of_key(text: str, family: str, above: str = "") -> Mention | None:
    """Return the member that the key at the beginning of a line names: ``"7B": {``.

    Args:
        above: The line above, whose comment may say its count: which GPT is meant is told by that alone.

    >>> member_of_key('    "7B": dict(dim=4096, n_layers=32),', "llama2").name, member_of_key('    "large": {', "gpt", "    # 774M").name
    ('llama-2-7b', 'gpt2-large')
    """
    found = _KEY.match(text) if family else None
    if found is None:
        return None
    if family in _SEVERAL:
        count = _COUNT.search(text) or _COUNT.match(above)
        families = [one for one in _SEVERAL[family] if count is not None and member([one], count["count"]) == member([one], found["size"])]
    else:
        families = [family, family.replace("_", "")]
    named = member(families, found["size"])
    return Mention(found.start("size"), named.names[0], found.end("size"), named.names, MODEL) if named is not None and found else None


_SEVERAL = {"gpt": ("gpt2", "gpt3")}
"""Families that are called alike, with sizes that are called alike."""
_COUNT = pattern(r"\s*#\s*(?P<count>\d+(?:\.\d+)?[MB])(?: param\w*)?\s*$", re.IGNORECASE)
_OPENED = pattern(r"(?P<name>[A-Za-z]\w{1,40})\s*(?::[^=]{1,60})?=\s*(?:\{|dict\(|$)")
_WORDS = pattern(r"(?<![a-z])(?:models?|all|configs?|configurations?|sizes|presets?|variants?|specs?|params|parameters|hparams|family|dims|zoo|arch\w*|settings|default)(?![a-z])|(?<![a-z])cfgs?(?![a-z])")  # fmt: skip
_KEY = pattern(
    r"\s*[\"'](?P<size>tiny|mini|small|base|medium|large|huge|x{1,2}l(?:arge)?|\d+(?:\.\d+)?[bm])[\"']\s*:\s*(?:\{|dict\(|[A-Z]\w*\(|$)",
    re.IGNORECASE,
)
