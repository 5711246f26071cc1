"""What PEFT prints: ``trainable params: 4,194,304 || all params: 6,742,609,920 || trainable%: 0.0622``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from weighbridge.auditing.checks.lora_configs import ConfiguredAdapter, find_configs, of_line, trainable_in
from weighbridge.auditing.checks.own_counts import own_count
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.claims import Claim, Reason, because
from weighbridge.auditing.text.rounding import fit, likeliest_value, whole
from weighbridge.auditing.text.tokens import tokens
from weighbridge.core.messages import mark
from weighbridge.presets.aliases import MODEL

_PRINTED = re.compile(
    r"trainable params?\W{1,4}(?P<trainable>[\d,]+)\W+all params?\W{1,4}(?P<all>[\d,]+)(?:\W+trainable ?%\W{1,4}(?P<share>\d+(?:\.\d+)?))?", re.IGNORECASE
)  # fmt: skip

_SHARE_SAID = re.compile(
    r"trainable ?(?:param(?:eter)?s?)? ?%\W{0,4}(?:is|was|of|为|是|占)?\W{0,3}(?P<share>\d+(?:\.\d+)? ?%?)|可训练参数(?:的?占比|比例)\D{0,4}(?P<said>\d+(?:\.\d+)? ?%)",
    re.IGNORECASE,
)
"""The share said in words of the same line: ``trainable% is 0.56``."""


def check(scene: Scene) -> Iterator[Claim]:
    """Check such a line: its share against its two counts, and all parameters against the model with the adapter on it."""
    yield from _sentences(scene)
    setups = list(find_configs(scene))
    for index, line in enumerate(scene.lines):
        found = _PRINTED.search(line.text) if "trainable" in line.text.lower() else None
        if found is None:
            continue
        trainable, everything = (int(found[name].replace(",", "")) for name in ("trainable", "all"))
        setup = of_line(setups, index)
        model = setup.model if setup is not None else scene.model_at(index, found.start())
        base = own_count(model) if model is not None else None
        if base is not None and everything in (base, base + trainable):
            reason = because(mark("{right} of the model and {more} of the adapter"), right=base, more=everything - base)
            yield _claim(scene, index, found.span("all"), everything, everything, reason)
            if setup is None or setup.trainable == trainable:
                yield _claim(scene, index, found.span("trainable"), trainable, trainable, reason)
            else:
                yield _otherwise(scene, index, found.span("trainable"), trainable, setup)
        share = found if found["share"] else _SHARE_SAID.search(line.text)
        if share is not None and everything:
            group = "share" if share["share"] else "said"
            yield _share(scene, index, share[group], share.span(group), Fraction(100 * trainable, everything))


def _sentences(scene: Scene) -> Iterator[Claim]:
    """Check what a sentence that says rank, modules and model makes trainable: ``LoRA of rank 8 on q_proj and v_proj of Llama-2-7B``."""
    for index, line in enumerate(scene.lines):
        if "rainable" not in line.text or len(line.text) > _LONGEST or not _LORA.search(line.text) or _MORE.search(line.text):
            continue
        ranks, said = set(_RANK.findall(line.text)), list(_TRAINABLE.finditer(line.text))
        models = [m for m in scene.mentions.get(index, ()) if m.kind == MODEL and m.name]
        if len(ranks) != 1 or len(said) != 1 or len(models) != 1 or not (targets := sorted(set(_TARGETS.findall(line.text)))):
            continue
        right = trainable_in(str(models[0].name), {"r": int(ranks.pop()), "target_modules": targets})
        figure = next(iter(tokens(said[0]["number"], index)), None)
        if right is None or figure is None or figure.kind != "num":
            continue
        found = fit(figure, Fraction(right))
        number = likeliest_value(figure) or Fraction(0)
        reason = because(mark("should be {right}"), right=right) if found is None else found.reason
        yield _claim(scene, index, said[0].span("number"), number, right, reason, verdict="wrong" if found is None else found.verdict)


_LONGEST = 2000
_LORA = re.compile(r"\bLoRA\b")
_RANK = re.compile(r"\b(?:rank|r)\s*(?:=|of|为)?\s*(\d{1,4})\b")
_TARGETS = re.compile(r"\b(?:[qkvo]|gate|up|down)_proj\b|\bc_attn\b")
_TRAINABLE = re.compile(r"(?P<number>(?<![\d.,])\d[\d,]{3,}|\d+(?:\.\d+)?\s?[MK])\s*(?:trainable|个?可训练)")
_MORE = re.compile(r"bias|embed|lm_head|\bper\b|\beach\b|DoRA|modules_to_save|每", re.IGNORECASE)
"""Words by which more is trained, or less is meant, than rank and modules say."""


def _otherwise(scene: Scene, index: int, span: tuple[int, int], trainable: int, setup: ConfiguredAdapter) -> Claim:
    """Say that the text's own config makes another number trainable."""
    line = scene.lines[setup.line].number
    reason = because(
        mark("should be {right}: the config on line {line} makes so many of {name} trainable"),
        right=setup.trainable,
        line=line,
        name=setup.name,
    )
    return _claim(scene, index, span, trainable, setup.trainable, reason, verdict="wrong")


def _share(scene: Scene, index: int, written: str, span: tuple[int, int], right: Fraction) -> Claim:
    written = written.rstrip("% ")
    value = Fraction(written)
    places = len(written.partition(".")[2])
    away = abs(value - right) * 10 ** min(places, 10)
    if away <= 1:
        return _claim(scene, index, span, value, right, because(mark("rounded")), kind="share", verdict="rounded")
    reason = because(mark("should be {right}%"), right=f"{float(right):.{max(2, min(places, 4))}f}")
    return _claim(scene, index, span, value, right, reason, kind="share", verdict="wrong")


def _claim(
    scene: Scene,
    index: int,
    span: tuple[int, int],
    value: int | Fraction,
    right: int | Fraction,
    reason: Reason,
    *,
    kind: str = "total",
    verdict: str = "exact",
) -> Claim:
    line = scene.lines[index]
    start, end = line.at[span[0]], line.at[span[1] - 1] + 1
    number = whole(Fraction(value))
    return Claim(
        line.number,
        start,
        end,
        line.text[span[0] : span[1]],
        kind,
        verdict,
        number,
        whole(Fraction(right)),
        whole(Fraction(value - right)),
        reason,
    )
