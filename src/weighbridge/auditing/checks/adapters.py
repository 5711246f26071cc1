"""What adapters train: as PEFT prints it (``trainable params: 4,194,304 || all params: 6,742,609,920``), and as sentences say it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from weighbridge.auditing.checks.lora_configs import ConfiguredAdapter, find_configs, of_line, trainable_in
from weighbridge.auditing.checks.own_counts import own_count, preset_model
from weighbridge.auditing.checks.printed_adapters import mistyped_count, rank_above
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.claims import Claim, Reason, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.rounding import fit, likeliest_value, whole
from weighbridge.auditing.text.tokens import tokens
from weighbridge.core.messages import mark
from weighbridge.presets.aliases import MODEL

_PRINTED = pattern(
    r"trainable params?\W{1,4}(?P<trainable>[\d,]+)\W+all params?\W{1,4}(?P<all>[\d,]+)(?:\W+trainable ?%\W{1,4}(?P<share>\d+(?:\.\d+)?))?", re.IGNORECASE
)  # fmt: skip

_SHARE_SAID = pattern(
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
                yield _other_trainable(scene, index, found.span("trainable"), trainable, setup)
        share = found if found["share"] else _SHARE_SAID.search(line.text)
        if share is not None and everything:
            group = "share" if share["share"] else "said"
            yield from _three(scene, index, found, share[group], share.span(group))


def _three(scene: Scene, index: int, found: re.Match[str], share: str, span: tuple[int, int]) -> Iterator[Claim]:
    """Check a share against both counts, and which of the three is the one that is mistyped."""
    trainable, everything = (int(found[name].replace(",", "")) for name in ("trainable", "all"))
    odd = mistyped_count(trainable, everything, share.rstrip("% "))
    if odd:
        right = Fraction(share.rstrip("% ")) / 100
        true = round(everything * right) if odd == "trainable" else round(trainable / right)
        reason = because(
            mark("{share}% of the {all} parameters are about {right}")
            if odd == "trainable"
            else mark("{trainable} are {share}% of about {right}"),
            share=share.rstrip("% "),
            all=everything,
            trainable=trainable,
            right=true,
        )
        yield _claim(scene, index, found.span(odd), trainable if odd == "trainable" else everything, true, reason, verdict="wrong")
        return
    rank = rank_above(scene, index)
    if rank and trainable % rank:
        reason = because(mark("an adapter of rank {rank} trains a multiple of {rank} parameters"), rank=rank)
        yield _claim(scene, index, found.span("trainable"), trainable, trainable - trainable % rank, reason, verdict="wrong")
    yield _share(scene, index, share, span, Fraction(100 * trainable, everything))


def _sentences(scene: Scene) -> Iterator[Claim]:
    """Check what a sentence that says rank, modules and model makes trainable: ``LoRA of rank 8 on q_proj and v_proj of Llama-2-7B``."""
    for index in scene.counted_lines:
        line = scene.lines[index]
        if len(line.text) <= _LONGEST and "lora" in line.text.lower() and _LORA.search(line.text) and _TRAINS.search(line.text):
            ends = [m.end() for m in _END.finditer(line.text)]
            for start, stop in zip([0, *ends], [*ends, len(line.text)], strict=True):
                yield from _sentence(scene, index, start, stop)


def _sentence(scene: Scene, index: int, start: int, stop: int) -> Iterator[Claim]:
    text = scene.lines[index].text[start:stop]
    ranks = {match[1] or match[2] for match in _RANK.finditer(text)}
    counted, shares = list(_TRAINABLE.finditer(text)), list(_SHARE_TRAINED.finditer(text))
    models = [m for m in scene.mentions.get(index, ()) if m.kind == MODEL and m.name and start <= m.column < stop]
    targets = _targets(text)
    if len(ranks) != 1 or len(models) != 1 or not targets or _MORE.search(text) or len(counted) > 1 or len(shares) > 1:
        return
    rank, name = int(ranks.pop()), str(models[0].name)
    tried = (trainable_in(name, {"r": rank, "target_modules": names}) for names in targets)
    right = next((trained for trained in tried if trained is not None), None)
    base = preset_model(name)
    whole_model = own_count(base) if base is not None else None
    if right is None or not whole_model:
        return
    for match in counted:
        figure = next(iter(tokens(next(filter(None, match.groups())), index)), None)
        if figure is not None and figure.kind == "num":
            found, number = fit(figure, Fraction(right)), likeliest_value(figure) or Fraction(0)
            span = next(match.span(group) for group in (1, 2) if match[group])
            if found is None and figure.unit and abs(number - right) * 50 < right:
                continue  # cut or rounded up, of a figure in a sentence
            reason = because(mark("should be {right}"), right=right) if found is None else found.reason
            yield _claim(
                scene, index, (start + span[0], start + span[1]), number, right, reason, verdict="wrong" if found is None else found.verdict
            )
    for match in shares:
        group = 1 if match[1] else 2
        span = start + match.start(group), start + match.end(group)
        yield from _share_of_sentence(scene, index, match[group], span, (Fraction(right), Fraction(whole_model)))


def _share_of_sentence(scene: Scene, index: int, written: str, span: tuple[int, int], counts: tuple[Fraction, Fraction]) -> Iterator[Claim]:
    """Hold a share that a sentence says against the adapter's of the model, alone or with it; far off both it is wrong."""
    value, (trained, base) = Fraction(written.rstrip("% ")), counts
    places = len(written.rstrip("% ").partition(".")[2])
    truths = [100 * trained / (base + trained), 100 * trained / base]
    if any(abs(value - one) * 10**places <= 1 for one in truths):
        yield _claim(scene, index, span, value, truths[0], because(mark("rounded")), kind="share", verdict="rounded")
    elif all(value > SHARE_FAR * one or value * SHARE_FAR < one for one in truths):
        reason = because(mark("should be {right} %"), right=f"{float(truths[0]):.{max(2, min(places, 4))}f}")
        yield _claim(scene, index, span, value, truths[0], reason, kind="share", verdict="wrong")


def _targets(text: str) -> list[list[str]]:
    """Return the modules that a sentence puts an adapter on, under the names that models have for them."""
    named = sorted(set(_TARGETS.findall(text)))
    if named:
        return [named]
    return (
        [["q_proj", "v_proj"], ["query", "value"]]
        if _QUERY_VALUE.search(text) and not re.search(r"\bkey|output|键|输出|FFN|MLP", text)
        else []
    )


SHARE_FAR = Fraction(5, 4)
"""How far a share must be off before it is wrong: some divide by a rounded count."""
_LONGEST = 2000
_END = pattern(r"[。;；!?！？|](?!\d)|\.(?=\s)")
_LORA = pattern(r"\bQ?LoRA(?![A-Za-z])", re.IGNORECASE)
_TRAINS = pattern(r"[Tt]rain|训练")
_RANK = pattern(r"(?<![A-Za-z_])(?:rank|r)(?:\s*(?:=|of|为|is|:|：|-|–)?\s*|\s*\$=\$\s*)(\d{1,4})\b|秩(?:为|是|=|:|：|取|设|\s)*(\d{1,4})")
_TARGETS = pattern(r"(?<![A-Za-z_])(?:(?:[qkvo]|gate|up|down)_proj|c_attn|query_key_value)(?![A-Za-z_])")
_QUERY_VALUE = pattern(
    r"\bquer(?:y|ies) and values?\b|\bquery/value\b|\b[Qq] and [Vv]\b|\bW_?[qQ],? (?:and )?W_?[vV]\b|[Qq] ?[、和与] ?[Vv](?![A-Za-z])|查询(?:矩阵|投影)?[、和与]值"
)
_TRAINABLE = pattern(
    r"((?<![\d.,])\d[\d,]{3,}|(?<![\d.,])\d+(?:\.\d+)?\s?(?:[MK]|million|万)(?![A-Za-z]))\s*(?:parameters (?:are |become )?trainable|trainable|个?可训练|parameters\b|params\b)|"
    r"可训练(?:的)?参数(?:量|数|数量|总数)?(?:约为?|大约|仅|只有|只|共|有|为|是|[\s:：=])*((?<![\d.,])\d[\d,]{3,}(?![\d.%])|\d+(?:\.\d+)?\s?(?:[MK]|万)(?![A-Za-z%]))"
)
_SHARE_TRAINED = pattern(
    r"(?<![\d.])(\d{1,2}(?:\.\d+)?\s?%) of (?:the |its |all |all the )?(?:model'?s? |total |original )?(?:param|weights)|可训练(?:的)?参数(?:量|数)?(?:约|仅|只|大约|共|大概)*(?:占|为|是)[^%\d]{0,12}(\d{1,2}(?:\.\d+)?\s?%)"
)
_MORE = pattern(
    r"bias|embed|lm_head|\bper\b|\beach\b|\bevery\b|\bone\b|\bsingle\b|\balone\b|单个|一个|DoRA|modules_to_save|每|full|instead|than|versus|\bvs\b|original|全参|全量|相比",
    re.IGNORECASE,
)
"""Words by which more is trained, or less is meant, than rank and modules say."""


def _other_trainable(scene: Scene, index: int, span: tuple[int, int], trainable: int, setup: ConfiguredAdapter) -> Claim:
    """Say that the text's own config makes another number trainable."""
    line = scene.lines[setup.line].number
    reason = because(
        mark("should be {right}: the config on line {line} makes that many parameters of {name} trainable"),
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
