"""Where a text names models: runs of letters and digits that the table of :mod:`weighbridge.presets.aliases` knows."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from weighbridge.auditing.checks.likenesses import is_likened, is_of_a_backbone
from weighbridge.auditing.checks.name_starts import begins_name, is_other, may_begin
from weighbridge.auditing.patterns import any_word, pattern
from weighbridge.auditing.text.memory import once_for_each_text
from weighbridge.core._namedtuple import NamedTuple
from weighbridge.presets.aliases import FAMILY, MODEL, Meaning, table

UNKNOWN = "unknown"


class Mention(NamedTuple):
    """A model named in a line: where, and what it means.

    Attributes:
        column, end: Where it stands in the text as read.
        name: The likeliest preset; None for a family, and for a model that is not known.
        names: All presets that it may be; for a family its members.
        kind: ``model``, ``family`` or ``unknown``.
    """

    column: int
    name: str | None
    end: int = 0
    names: tuple[str, ...] = ()
    kind: str = UNKNOWN


_HARMLESS = frozenset(
    "instruct chat hf it base sft dpo gptq awq gguf fp16 int4 int8 model models params param parameters version en bf16 uncased cased quickgelu deduped config cfg".split()
)
"""What may follow a name after a hyphen without making it another model's."""
_SAME_MODEL = pattern(r"\d{4,}|finetuned|v\d.*")
_LIKENESS = frozenset("style styled like based by from type types family inspired and or to in vs".split())
"""What may follow a name after a hyphen when no model is named: ``GPT-style``, ``bert-by-hand``."""
_FILE = pattern(r"[\w./-]*\.(?:md|py|sh|ipynb|rst|html?|ya?ml|toml|txt|png|svg)(?![a-z])")
_TIMES = pattern(r"(?<=\d)×(?=\d{1,2}b(?![a-z]))")
"""The sign in ``Mixtral 8×7B``."""
_QUOTES = frozenset("'\"`")
_MAKERS = frozenset(
    "meta google facebook openai microsoft mistralai params param config cfg hparams sizes dims model calculate calc count compute estimate get build create load".split()
)
"""What may stand before a name and a hyphen: its makers, and words of code, ``params_llama_3_2_1b``."""
_RUN = pattern(r"[a-z0-9]+(?:\.[0-9]+[a-z]*)*")
_WORDS = frozenset(
    "ada afm align clip command ctrl curie dia dit donut funnel git glam know led luke mit mra opt orion sam solar switch turing yi".split()
)
"""Families that are called by a word of ordinary prose: ``git`` and ``which led to`` name no model, ``GIT`` and ``LED`` do."""
_PARTS = frozenset("distil long prot sentence".split())
"""Words that begin models' names, and are none alone."""
_OPENING = pattern(r"(?:^|[.!?。！？:：;；|>#*•\-(（])[\s\W]*$")
"""What stands before the first word of a sentence, whose capital says nothing."""
_GAP = pattern(r"[\s\-_/.,()\[\]*:\"'’“”]{1,3}")
_MOST = 8


def find_mentions(text: str) -> Iterator[Mention]:
    """Yield the models that a text names, from left to right, each by its longest name.

    >>> [(m.kind, m.name) for m in find_mentions("BERT Large is bigger than bert-base-chinese; GPT-2 is a family, ChatGPT unknown")]
    [('model', 'bert-large-uncased'), ('model', 'bert-base-chinese'), ('family', None), ('unknown', None)]
    """
    yield from _mentions(text)


@once_for_each_text
def _mentions(text: str) -> tuple[Mention, ...]:
    """Return the models that a line or a cell names; several checks ask, and tables name a model many times."""
    found = tuple(_read_names(text))
    if all(m.kind != UNKNOWN for m in found) or "](" not in text:
        return found
    links = [link.span("address") for link in _LINK.finditer(text)]
    return tuple(m for m in found if m.kind != UNKNOWN or not any(start <= m.column < end for start, end in links))


_LINK = pattern(r"\]\((?P<address>https?://[^\s()]+)\)")
"""Where a link leads: a file's name there is no other model than the link's words name."""


def _read_names(text: str) -> Iterator[Mention]:
    lower = text.lower()
    lower = _DOUBLED.sub(lambda twice: " " * len(twice["name"]) + twice["name"], lower) if lower.count("-") > 1 else lower
    lower = _TIMES.sub("x", lower) if "×" in lower else lower
    begins = list(map(may_begin, _RUN.findall(lower)))
    runs = list(_RUN.finditer(lower)) if True in begins else []
    names, index, named = table(), 0, False
    while index < len(runs):
        if not begins[index]:
            index += 1
            continue
        first = runs[index].group()
        best = _longest_name(lower, runs, index, names)
        if best is not None and first in _MAKERS and index + 1 < len(runs):
            own = _longest_name(lower, runs, index + 1, names)
            if own is not None and own[0] > best[0]:
                index += 1  # ``OpenAI GPT OSS 120B`` is no ``OpenAI GPT``
                best = own
        last = best[0] if best is not None else index
        if _is_prose(text, runs[index].start(), runs[last].end()):
            index = last + 1
            continue
        if best is not None:
            mention = _mention(lower, runs, index, *best)
            if mention is not None:
                place = mention.column, mention.end
                another = is_of_a_backbone(lower, *place) or (not named and is_likened(lower, *place))
                named = named or not another
                yield mention if not another else Mention(mention.column, None, mention.end)
            index = best[0] + 1
        else:
            following = runs[index + 1].group() if index + 1 < len(runs) and lower[runs[index].end()] == "-" else ""
            if is_other(first) and following not in _LIKENESS and not _MAKER.match(lower, runs[index].end()):
                yield Mention(runs[index].start(), None, runs[index].end())
            index += 1


_DOUBLED = pattern(r"(?<![\w.-])(?P<name>[a-z][a-z0-9.]{1,24}(?:-[a-z0-9.]{1,12}){1,5})(?P=name)(?![\w-])")
"""A name pasted twice without a space, as pages that offer a model do: ``Qwen3-235B-A22BQwen3-235B-A22B``."""


def _is_prose(text: str, start: int, end: int) -> bool:
    """Tell whether a word that is also a family's name is only a word here, by how it is written."""
    written = text[start:end]
    word = written.lower()
    if word in _PARTS:
        return True
    if word == "mit" and written != "MiT":
        return True  # a licence, a place to study
    if word not in _WORDS or written.isupper():
        return False
    return written.islower() or (written.istitle() and _OPENING.search(text, max(0, start - 8), start) is not None)


def _longest_name(lower: str, runs: list[re.Match[str]], index: int, names: Mapping[str, Meaning]) -> tuple[int, Meaning] | None:
    """Return the longest name that begins with a run: its last run, and what it means."""
    best, key, version = None, "", ""
    for place in range(index, min(index + _MOST, len(runs))):
        run = runs[place]
        if place > index and not _GAP.fullmatch(lower, runs[place - 1].end(), run.start()):
            break
        digits = key[-1:].isdigit() and run.group()[0].isdigit()
        if digits and version == key and lower[run.start() - 1] in "_-" and run.group().isdigit():
            version += "." + run.group()  # ``llama_3_2_1b`` is written where no dot may stand
        else:
            version += "-" + run.group() if version[-1:].isdigit() and run.group()[0].isdigit() else run.group()
        key += "-" + run.group() if digits else run.group()
        if key in names:
            best = (place, names[key])
        elif version in names and version != key:
            best = (place, names[version])
        if not begins_name(key) and (version == key or not begins_name(version)):
            break
    return best


def _mention(lower: str, runs: list[re.Match[str]], index: int, last: int, named: Meaning) -> Mention | None:
    start, end = runs[index].start(), runs[last].end()
    before = runs[index - 1].group() if index else ""
    if start > 1 and lower[start - 1] in "-_" and lower[start - 2].isalnum() and before not in _MAKERS:
        return None if named.kind == FAMILY else Mention(start, None, end)
    if named.kind == FAMILY and (lower[end : end + 1] == "/" or _MAKER.match(lower, end)):
        return None
    if named.kind == FAMILY and lower[start:end] in named.names and lower[start - 1 : start] in _QUOTES and lower[end : end + 1] in _QUOTES:
        named = Meaning(MODEL, (lower[start:end],))  # ``from_pretrained("gpt2")`` is the repository of that name
    if named.kind == MODEL and (patch := _PATCH.match(lower, end)) is not None:
        return Mention(start, None, patch.end())  # ``ViT-S/14`` has another patch than the one of that name
    if (width := _WIDTH.match(lower, end)) is not None:
        return Mention(start, None, width.end())
    following = runs[last + 1] if last + 1 < len(runs) else None
    glued = following is not None and following.start() == end + 1 and lower[end] in "-_"
    if (
        glued
        and following is not None
        and following.group() not in _HARMLESS
        and not (named.kind == MODEL and _SAME_MODEL.fullmatch(following.group()))
    ):
        if named.kind == FAMILY and (following.group() in _LIKENESS or _FILE.match(lower, end)):
            return None
        return Mention(start, None, following.end())
    if named.kind == FAMILY:
        return Mention(start, None, end, named.names, FAMILY)
    return Mention(start, named.names[0], end, named.names, MODEL)


_WIDTH = pattern(r" \d{2,3}[a-z]?(?=\s?@)")
"""Behind a name, a width that makes it another of its kind: ``MobileNet-V2 110d @ 75%``."""
_MAKER = pattern(r" (?:ai|inc|labs|research|team)\b")
"""Behind a name, what makes it that of those who made the models: ``developed by Mistral AI``, ``the Qwen team``."""
_PATCH = pattern(r"/\d{1,2}(?![\w./])")


SIZE_WORDS = pattern(
    r"(?<![a-z0-9.\-])(base|large|small|tiny|mini|medium|huge|giant|xlarge|xxlarge|xl|xxl|turbo|scout|maverick|\d+(?:\.\d+)?\s?[bm]|\d+x\d+b)(?![a-z0-9])",
    re.IGNORECASE,
)


ASIDE = pattern(r"[(（]\s?(?:而|相比|对比|不同于|相对|作为对比|vs\.?|versus|compared|while|whereas)", re.IGNORECASE)
"""An aside about another model, behind the sizes of one: ``BERT-large 有 24 层（而原始 Transformer 有 6 层）``."""


ANOTHER = any_word(
    r"\b(?:the|its|an?|our|their) (?:\d[\d.]*\s?[BM]|x*large|base|small|medium|tiny|larger|smaller|bigger|biggest|smallest|largest|other|second|latter|former|old|new)\b(?! of)|"
    r"\b\d[\d.]*\s?[BM] (?:version|model|variant|one|checkpoint|sibling)|\b(?:siblings?|sisters?|variants?|baselines?|successors?|predecessors?|teachers?|students?|drafts?|another|others|counterparts?)\b|"
    r"\d[\d.]*\s?[BM]\s?(?:版本?|模型)?\s?(?:则|只?有|仅有|是|为|[:：])|版本?(?:则|有|是|为|[:：])|学生|教师|另一|后者|前者|本文(?:的|所提)?(?:模型|方法)",
)
"""Words by which a text goes on to a model that it does not name: ``the 7B version has``, ``its sibling``."""


def strip_names(text: str) -> str:
    """Return a text without the names of models.

    >>> strip_names("the llama-3-8b has")
    'the  has'
    """
    for mention in reversed(list(find_mentions(text))):
        text = text[: mention.column] + text[mention.end :]
    return text
