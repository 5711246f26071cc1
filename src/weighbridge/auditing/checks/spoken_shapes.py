"""Shapes that Chinese sentences give the matrices of a model: ``词嵌入矩阵的形状为 [30522, 768]``, ``升维矩阵是 768×3072``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from weighbridge.auditing.checks.count_subjects import of_mention
from weighbridge.auditing.checks.field_values import values_of
from weighbridge.auditing.checks.fields import field_claim, is_composite
from weighbridge.auditing.checks.plain_fields import is_fair_vocabulary
from weighbridge.auditing.checks.results import is_slip
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.checks.sentence_doubts import SUPPOSED
from weighbridge.auditing.checks.sentence_subjects import sentence_bounds, subject_of_sentence
from weighbridge.auditing.checks.size_doubts import is_of_their_own
from weighbridge.auditing.checks.stated_fields import LONGEST
from weighbridge.auditing.claims import Claim
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.core._namedtuple import TYPE_CHECKING

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

_PAIRS: dict[str, tuple[tuple[str, str], ...]] = {
    "words": (("vocab", "hidden"),),
    "places": (("positions", "hidden"),),
    "types": (("types", "hidden"),),
    "up": (("hidden", "mlp"),),
    "down": (("mlp", "hidden"),),
    "maps": (("hidden", "head_dim"), ("hidden", "hidden")),
}
"""The two sizes of a matrix, by what it is called; one that is called alike in several models has several."""
_EMBEDS = r"\s?(?:的)?(?:嵌入|embeddings?|词?向量|编码)(?:层|矩阵|表|权重)*"
_NAMES = (
    ("words", rf"(?:(?<![\u4e00-\u9fff])(?:tokens?|words?)|词元|词|输入|单词){_EMBEDS}|\bwte\b"),
    ("places", rf"(?:positions?|positional|位置){_EMBEDS}|\bwpe\b"),
    ("types", rf"(?:segments?|token[_ ]types?|句子|片段|段落?|分段){_EMBEDS}"),
    ("up", r"(?:升维|扩维|上投影|第一个?(?:全连接|线性)层?)(?:的)?(?:映射|变换|投影|权重)?(?:的)?矩阵"),
    ("down", r"(?:降维|下投影|第二个?(?:全连接|线性)层?)(?:的)?(?:映射|变换|投影|权重)?(?:的)?矩阵"),
    ("maps", r"Q\s?[、,，/]\s?K\s?(?:[、,，/]|和|与)\s?V\s?(?:的)?(?:映射|投影|权重)?(?:的)?矩阵"),
)
_SIZE = r"(?:\d{1,3}(?:,\d{3})+|\d{1,7})(?![\d.]*\d)"
_STATED = pattern(
    "(?:" + "|".join(f"(?P<{name}>{words})" for name, words in _NAMES) + ")"
    r"(?:的)?(?:权重)?(?:的)?(?:形状|维度|大小|尺寸|shape|size)?\s?(?:均|都|就)?\s?(?:是|为|[:：=])?\s?(?:一个)?\s?"
    rf"(?:[\[(（]\s?(?P<first>{_SIZE})\s?[,，×x*]\s?(?P<second>{_SIZE})\s?[\])）]|(?P<rows>{_SIZE})\s?[×x*]\s?(?P<columns>{_SIZE})(?!\s?[×x*=≈/+]))",
    re.IGNORECASE,
)


def check(scene: Scene, tabled: Collection[int]) -> Iterator[Claim]:
    """Hold both numbers of such a shape against the model that its sentence is about; a slip of one, beside the other, is wrong.

    Args:
        tabled: The lines of tables whose rows or columns are models.
    """
    for index in scene.counted_lines:
        text = scene.lines[index].text
        if index in tabled or text.isascii() or len(text) > LONGEST or "|" in text:
            continue
        for found in _STATED.finditer(text):
            models = _models(scene, index, found.start())
            if models:
                yield from _hold(scene, index, found, models)


def _models(scene: Scene, index: int, column: int) -> Sequence[ModelValue]:
    start, stop = sentence_bounds(scene, index, column)
    mention, _ = subject_of_sentence(scene, index, start, stop, column)
    subject = of_mention(scene, mention, firm=True) if mention is not None and mention.name else None
    return [model for model in subject.models if model.description is not None and not is_composite(model)] if subject is not None else ()


def _hold(scene: Scene, index: int, found: re.Match[str], models: Sequence[ModelValue]) -> Iterator[Claim]:
    groups = ("first", "second") if found["first"] else ("rows", "columns")
    tokens = [Token("num", "", index, *found.span(group)) for group in groups]
    said = [int(found[group].replace(",", "")) for group in groups]
    pairs = _PAIRS[next(name for name, _ in _NAMES if found[name])]
    for pair in pairs:
        if all(_is_own(models, word, value) for word, value in zip(pair, said, strict=True)):
            for token, word, value in zip(tokens, pair, said, strict=True):
                yield field_claim(scene, token, word, value, value, "exact")
            return
    slips = [slip for pair in pairs if (slip := _slip(models[0], pair, said)) is not None]
    text = scene.lines[index].text
    if len(slips) == 1 and SUPPOSED.search(text) is None and not is_of_their_own(scene, index):
        place, word, right = slips[0]
        yield field_claim(scene, tokens[place], word, said[place], right, "wrong")


def _is_own(models: Sequence[ModelValue], word: str, value: int) -> bool:
    rows = [values_of(model, word) for model in models]
    return any(value in own or (word == "vocab" and any(is_fair_vocabulary(value, one) for one in own)) for own in rows)


def _slip(model: ModelValue, pair: tuple[str, str], said: Sequence[int]) -> tuple[int, str, int] | None:
    """Return which of two sizes is the model's but for one digit, where the other is the model's."""
    for place in (0, 1):
        if _is_own((model,), pair[1 - place], said[1 - place]) and not _is_own((model,), pair[place], said[place]):
            near = [own for own in values_of(model, pair[place]) if is_slip(str(said[place]), str(own))]
            return (place, pair[place], near[0]) if len(near) == 1 else None
    return None
