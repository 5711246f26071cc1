"""The models that a text describes by their sizes, and that no preset is: ``d_model = 512, n_layers = 6, n_heads = 8``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from math import prod

from weighbridge.auditing.checks.own_readings import OwnSizes
from weighbridge.auditing.checks.paper_lines import is_about_paper
from weighbridge.auditing.checks.scene import Scene
from weighbridge.auditing.patterns import any_word, pattern
from weighbridge.auditing.text.cell_numbers import whole_number
from weighbridge.auditing.text.memory import once_for_each_scene
from weighbridge.auditing.text.own_sizes import SIZES, placed_sizes
from weighbridge.auditing.text.settings import kind_of_label
from weighbridge.auditing.text.tables import Row
from weighbridge.auditing.text.transformer_paper import BASE, VOCAB
from weighbridge.core._namedtuple import NamedTuple

_ODD = any_word(
    r"\b(?:mixture|experts?|moe|mla|latent|mamba|ssm|s4|hyena|rwkv|retnet|conv\w*|cnn|rnn|lstm|gru|adapters?|q?lora|albert|universal|bottleneck|low[- ]rank|factori[sz]\w*|patch(?:es)?|images?|vision|vit|audio|"
    r"speech|mel|diffusion|relative position|(?:shared?|sharing) (?:across|between|all|the) layers|cross[- ]layer|layer sharing|linear attention|prefix|prompt tuning|recurr\w*|memory (?:slots|tokens)|mtp|hypernet\w*)\b"
    r"|专家|混合专家|卷积|循环神经|共享层|层间共享|跨层|参数共享|低秩|分解|图像|图片|视觉|语音|音频|扩散|适配器|线性注意力|相对位置|瓶颈"
)
"""Words of a text about a model whose layers may hold something that sizes alone do not say."""
_GROUPED = any_word(
    r"\b(?:gqa|mqa|grouped[- ]query|multi[- ]query|kv[- ]?heads?|key[- ]value heads?)\b|分组查询|多查询|n_kv|num_key_value|kv ?头"
)
_CROSSED = any_word(
    r"\b(?:cross[- ]attention|encoder-decoder|encoders? and (?:the |a )?decoders?|seq2seq|translation|translate)\b|交叉注意力|编码器-解码器|编码器和解码器|编码器与解码器|编码器加|翻译|编解码"
)
_FOURFOLD = any_word(
    r"\b(?:4|four) ?(?:x|×|times)|\b4 ?\* ?(?:n_embd|d_model|hidden|dim|d\b|h\b)|gptconfig|n_embd|nanogpt|mingpt|\b8 ?[·*×]? ?(?:h|d)\b ?[²^]|(?:4|四) ?倍|4h|4d|12 ?[×*·]? ?(?:\d+|h|d|n_embd|c)[²^]"
)
_GPT, _GATED = (
    any_word(r"\b(?:nano|mini|tiny|small|baby|pico|micro|my|own)?[- ]?gpt\b(?!-)"),
    any_word(r"\b(?:swiglu|geglu|gated|glu|llama)\b|门控"),
)
"""A GPT's network is four times as wide, unless it is gated."""
_MOST_MODELS = 6
_LEAST = 3
"""Sizes that describe a model at least, the width among them."""
_TOKENS = ("hidden", "layers", "heads", "mlp", "vocab", "kv_heads", "head_dim", "positions")


class OwnModel(NamedTuple):
    """A model that a text describes.

    Attributes:
        first: The line that it begins on.
        sizes: Its sizes by our words, each with all the values that the text gives it.
    """

    first: int
    sizes: Mapping[str, tuple[int, ...]]


class OwnModels(NamedTuple):
    """All that a text describes, and what its words leave open.

    Attributes:
        models: In the order of the text.
        odd: Whether its layers may hold more than sizes say.
        grouped: Whether keys and values may have heads of their own.
        crossed: Whether there may be a decoder that attends to an encoder.
        fourfold: Whether it says that its feed-forward network is four times as wide.
    """

    models: Sequence[OwnModel]
    odd: bool
    grouped: bool
    crossed: bool
    fourfold: bool

    def readable(self, model: OwnModel) -> Iterator[OwnSizes]:
        """Yield every choice of a model's sizes."""
        said = {word: model.sizes.get(word, (0,)) for word in _TOKENS}
        if not model.sizes.get("mlp") and self.fourfold:
            said["mlp"] = tuple(4 * hidden for hidden in said["hidden"]) if len(said["hidden"]) == 1 else (0,)
        wider = {word: values if values != (0,) else self._others(word) for word, values in said.items()}
        chosen = wider if _choices(wider) <= _MOST_CHOICES else said
        for one in product(*chosen.values()) if _choices(chosen) <= _MOST_CHOICES else ():
            yield OwnSizes(**dict(zip(chosen, one, strict=True)), crossed=self.crossed)

    def _others(self, word: str) -> tuple[int, ...]:
        """Return the values of a size that other models of the text have, and that this one may share."""
        return (0, *dict.fromkeys(value for model in self.models for value in model.sizes.get(word, ())))


def _choices(said: Mapping[str, tuple[int, ...]]) -> int:
    return prod(map(len, said.values()))


_MOST_CHOICES = 16


def own_models(scene: Scene, *, least: int = 0) -> OwnModels | None:
    """Return the models that a text without a known subject describes, or None if there are none, or too many to tell apart.

    Args:
        least: How many sizes are enough, whichever they are; by default three, the width among them.
    """
    if scene.given or (scene.main is not None and scene.main.named):
        return None
    found = [
        one for one in _sizes_by_line(scene) if (len(one.sizes) >= least if least else "hidden" in one.sizes and len(one.sizes) >= _LEAST)
    ]
    text = "\n".join(scene.texts)
    if is_about_paper(scene) and not any({512, 2048} <= {*one.sizes.get("hidden", ()), *one.sizes.get("mlp", ())} for one in found):
        found.append(OwnModel(0, {word: (value,) for word, value in {**BASE, "vocab": VOCAB}.items()}))
    if not found or len(found) > _MOST_MODELS:
        return None
    crossed = _says(_CROSSED, text) or is_about_paper(scene)
    fourfold = _says(_FOURFOLD, text) or (_says(_GPT, text) and not _says(_GATED, text))
    return OwnModels(found, _says(_ODD, text), _says(_GROUPED, text), crossed, fourfold)


def _says(words: re.Pattern[str], text: str) -> bool:
    return words.search(text) is not None


@once_for_each_scene
def _sizes_by_line(scene: Scene) -> list[OwnModel]:
    """Return the sizes of a text line by line: what contradicts those above, and is more than one, is another model's."""
    found: list[tuple[int, dict[str, list[int]]]] = []
    rows = rows_by_line(scene)
    for line in scene.counted_lines:
        said = [(word, value) for word, value, start, _ in sizes_on_line(scene, line, rows) if not _is_result(scene.texts[line], start)]
        if not said:
            continue
        current = found[-1][1] if found else None
        said = [(_of_inner(value, current, said) if word == "inner" else word, value) for word, value in said]
        words = {word for word, _ in said}
        contradicted = current is not None and any(
            value not in current[word] for word, value in said if word in current and word in _TELLING
        )
        if current is None or (contradicted and len(words) >= _SEVERAL and words & {"hidden", "layers"}):
            current = {}
            found.append((line, current))
        for word, value in said:
            values = current.setdefault(word, [])
            if value not in values:
                values.append(value)
    return [OwnModel(first, {word: tuple(values) for word, values in sizes.items()}) for first, sizes in found]


@once_for_each_scene
def rows_by_line(scene: Scene) -> dict[int, Row]:
    """Return the rows of a text's tables, other than their heads, by the lines that they stand on."""
    return {line: row for table in scene.tables for row in table.rows for line in range(row.line, row.cells[-1].line + 1)}


def sizes_on_line(scene: Scene, line: int, rows: Mapping[int, Row]) -> Sequence[tuple[str, int, int, int]]:
    """Return the sizes of a line; of a row of a table, the one that its first cell names and its second has.

    Args:
        rows: What :func:`rows_by_line` returns.
    """
    row = rows.get(line)
    if row is None:
        return placed_sizes(scene.texts[line])
    if (
        len(row.cells) < _PAIR
        or (value := whole_number(row.cells[1])) is None
        or sum(whole_number(cell) is not None for cell in row.cells[1:]) > 1
    ):
        return ()
    word = kind_of_label(row.cells[0].text)
    if word not in SIZES:
        return ()
    start = scene.texts[line].find(row.cells[1].text.strip("*`~ "), row.cells[1].start)
    return ((word, value, max(start, row.cells[1].start), row.cells[1].end),)


_PAIR = 2


def _of_inner(value: int, current: Mapping[str, Sequence[int]] | None, said: Sequence[tuple[str, int]]) -> str:
    """Return which width a ``hidden_dim`` is: that of the feed-forward network, where the model's is said and is another."""
    widths = [other for word, other in said if word == "hidden"] or list((current or {}).get("hidden", ()))
    return "mlp" if widths and value not in widths else "hidden"


_TELLING = frozenset(("hidden", "layers", "heads", "mlp", "vocab"))
_SEVERAL = 2
_RESULT = pattern(r"(?:因此|所以|于是|则|即|hence|so|thus|therefore)[^,，;；。]{0,24}$", re.IGNORECASE)


def _is_result(text: str, start: int) -> bool:
    """Tell whether a size is said to follow from the others, so that it is a claim of itself: ``so each head is 64 wide``."""
    return _RESULT.search(text, max(0, start - _BEFORE), start) is not None


_BEFORE = 40
