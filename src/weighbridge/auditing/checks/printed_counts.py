"""Counts that code prints of the model it loads: ``sum(p.numel() for p in model.parameters())`` below ``from_pretrained("bert-base-uncased")``."""

from __future__ import annotations

import re
from collections.abc import Iterator

from weighbridge.auditing.checks.count_subjects import Subject, of_mention
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.settle import settle
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.checks.wrong_counts import report_wrong_count, total_claim
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.tokens import tokens
from weighbridge.presets.aliases import MODEL

_COUNTS = pattern(r"numel\(\)|num_parameters\(|count_param\w*\(|n_params\b|param_count\w*\(|get_num_params\(|\.nelement\(\)")
_PRINTED = pattern(
    r"\s*(?:(?:Out\[\d*\]|[#>=]+|Output|(?:Total |Number of |Trainable )*[Pp]aram\w*)[:=]?\s*)*(?P<number>\d{1,3}(?:,\d{3}){2,}|\d{7,13})(?:\s*param\w*)?\s*",
    re.IGNORECASE,
)
_BESIDE = pattern(r"(?:#|==|=>|→|//)\s*(?:=\s*)?(?P<number>\d{1,3}(?:,\d{3}){2,}|\d{7,13})(?![\d,.]*\d)\s*(?:param\w*)?\s*$")
_LOADS = pattern(r"from_pretrained|AutoModel|load_model|hub\.load|Model\(|pipeline\(", re.IGNORECASE)
_CHANGED = pattern(
    r"resize_token_embeddings|num_labels|requires_grad|lora|peft|prune|freeze|add_tokens|from_config|quantiz|load_in_|\.head\b|classifier|nn\.|trainable",
    re.IGNORECASE,
)
"""Words of code by which a model is no longer the one that was loaded, or only a part of it is counted."""
_ABOVE, _BELOW = 12, 4


def check(scene: Scene) -> Iterator[Claim]:
    """Check the number printed below, or remarked beside, each line of code that counts a model's parameters."""
    for index in range(len(scene.lines)) if any(map(_COUNTS.search, scene.texts)) else ():
        if _COUNTS.search(scene.texts[index]) is None:
            continue
        subject = _loaded(scene, index)
        if subject is None:
            continue
        beside = _BESIDE.search(scene.texts[index])
        line, found = (index, beside) if beside is not None else _printed_below(scene, index)
        if found is not None:
            token = next(one for one in tokens(found["number"], line) if one.kind == "num")
            token = token._replace(start=found.start("number"), end=found.end("number"))
            held = settle(token, subject.models)
            if held is not None:
                yield total_claim(scene, token, held.verdict, held.expected, held.reason)
            else:
                yield from report_wrong_count(scene, token, subject, "total")


def _loaded(scene: Scene, index: int) -> Subject | None:
    """Return the one model that the code down to a line loads, if nothing changes it."""
    first = max(0, index - _ABOVE)
    named = [(m, line) for line in range(index, first - 1, -1) for m in scene.mentions.get(line, ()) if m.kind == MODEL]
    code = " ".join(scene.texts[first : index + 1])
    if not named or len({m.name for m, _ in named}) > 1 or _CHANGED.search(code) or is_of_their_own(scene, index):
        return None
    if not any(_LOADS.search(scene.texts[line]) for _, line in named):
        return None
    return of_mention(scene, named[0][0], firm=True)


def _printed_below(scene: Scene, index: int) -> tuple[int, re.Match[str] | None]:
    for line in range(index + 1, min(len(scene.lines), index + 1 + _BELOW)):
        found = _PRINTED.fullmatch(scene.texts[line])
        if found is not None:
            return line, found
        if _COUNTS.search(scene.texts[line]):
            break
    return index, None
