"""The models that a cell of a table names: by a full name, a family and a size, or the size alone."""

from __future__ import annotations

import re
from collections.abc import Sequence

from weighbridge.auditing.checks.count_subjects import Subject, of_mention
from weighbridge.auditing.checks.member_sizes import family_of
from weighbridge.auditing.checks.names import SIZE_WORDS, UNKNOWN, Mention, find_mentions
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.patterns import pattern
from weighbridge.presets.aliases import FAMILY, MODEL, join_runs, member, runs
from weighbridge.presets.aliases import table as names_table


def models_of_cell(scene: Scene, text: str, families: Sequence[str]) -> Subject | None:
    """Return the models that a cell names, sizes alone taken for members of the table's families."""
    mentions = list(find_mentions(text))
    for mention in mentions:
        if mention.kind != UNKNOWN and (_ADDS.match(text, mention.end) or _ADDED.search(text, 0, mention.column)):
            return None  # ``ResNet-50 + CBAM`` is another model
        if mention.kind == MODEL:
            return _of(scene, _of_families(mention, text, families), firm=len(mentions) == 1 and _is_whole(text, mention))
        if mention.kind == FAMILY:
            rest = SIZE_WORDS.search(text, mention.end)
            found = member([family_of(text[mention.column : mention.end])], rest[1]) if rest else None
            return _of(scene, Mention(0, found.names[0], 0, found.names, MODEL), firm=False) if found else None
    if mentions:
        written = _WRITTEN.match(text, mentions[0].column)
        return _of_family_and_name(scene, written[0], families) if len(mentions) == 1 and written is not None else None
    size = SIZE_WORDS.search(text)
    plain = re.sub(r"[^\w]", "", SIZE_WORDS.sub("", text, count=1)) if size else text
    return member_of(scene, size[1], families, firm=False) if size and len(plain) <= 3 else None


_WRITTEN = pattern(r"[\w./-]+")


def _of_family_and_name(scene: Scene, written: str, families: Sequence[str]) -> Subject | None:
    """Return the model that a name means only behind that of its table's family: ``ViT-g/14`` below ``DINOv2``."""
    named = [names_table().get(join_runs([family, *runs(written)])) for family in families]
    found = next((one for one in named if one is not None and one.kind == MODEL), None)
    return _of(scene, Mention(0, found.names[0], 0, found.names, MODEL), firm=False) if found is not None else None


def _of_families(mention: Mention, text: str, families: Sequence[str]) -> Mention:
    """Take a name for what it means in its table's families, ``ViT-L/14`` below ``DINOv2`` is no CLIP; the one that it is written with leaves all that it may mean."""
    written = join_runs(runs(text[mention.column : mention.end]))

    def means(name: str, among: Sequence[str]) -> bool:
        return any(join_runs(runs(name)).startswith(family) for family in among)

    names = tuple(name for name in mention.names if means(name, [family for family in families if not written.startswith(family)]))
    names = names or tuple(sorted(mention.names, key=lambda name: not means(name, families)))
    return mention if names == mention.names else mention._replace(name=names[0], names=names)


_ADDS = pattern(r"[*_`\s]*(?:[(（][^()（）]{0,24}[)）])?\s*(?:[+＋]|w/|with\b)\s*(?:an? )?[*_`]*[A-Za-z\u4e00-\u9fff]", re.IGNORECASE)
_ADDED = pattern(r"[A-Za-z)）\u4e00-\u9fff]\s*[+＋]\s*[*_`]*$")


def _is_whole(text: str, mention: Mention) -> bool:
    """Tell whether a cell holds nothing but the name."""
    rest = re.sub(r"\([^)]*\)|\[[^\]]*\]|https?\S+|[\W_]", "", text[: mention.column] + text[mention.end :])
    return len(rest) <= 6


def member_of(scene: Scene, size: str, families: Sequence[str], *, firm: bool) -> Subject | None:
    """Return the member of a family that has a size."""
    found = member(families, size)
    return _of(scene, Mention(0, found.names[0], 0, found.names, MODEL), firm=firm) if found is not None else None


def _of(scene: Scene, mention: Mention, *, firm: bool) -> Subject | None:
    found = of_mention(scene, mention, firm=firm)
    return found._replace(firm=firm) if found is not None else None
