"""The model that a whole text is about: the one that is given, or what its names, sizes and notation tell."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence

from weighbridge.auditing.checks.background import is_background, names_tokenizer
from weighbridge.auditing.checks.family_members import is_about_another, majority_sizes
from weighbridge.auditing.checks.main_model import AssumedModel, assume, sizes_of
from weighbridge.auditing.checks.names import Mention
from weighbridge.auditing.checks.own_counts import is_whole, preset_model
from weighbridge.auditing.checks.scene import words_of
from weighbridge.auditing.claims import Line, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.own_sizes import plain_sizes_of
from weighbridge.auditing.text.size_words import LETTERS
from weighbridge.auditing.text.sizes import StatedSize
from weighbridge.auditing.text.tokens import tokens
from weighbridge.auditing.text.transformer_paper import names_paper
from weighbridge.blueprints import model_type_of
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import WeighbridgeError
from weighbridge.core.messages import mark
from weighbridge.load import load
from weighbridge.presets.aliases import MODEL, preset_configs

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


def model_of_text(
    lines: Sequence[Line],
    named: Mapping[int, Sequence[Mention]],
    sizes: Sequence[StatedSize],
    letters: Mapping[str, int],
    model: ModelValue | None,
) -> tuple[AssumedModel | None, ModelValue | None]:
    """Return the main model: the one that is given, or what names, sizes and the text's own notation tell."""
    if model is not None:
        return _assumption(model), model
    main = _main_models(lines, named, sizes)
    if main is None:
        return None, None
    try:
        weighed = load(dict(main.config)) if main.config is not None else preset_model(main.name)
        if weighed is None:
            return None, None
        named_class = _stated_class(lines, weighed) if main.config is None else None
        if named_class is not None and named_class != weighed.class_name:
            weighed = load(main.name, named_class)
    except WeighbridgeError:
        return None, None  # sizes that fit no model: the text is held against itself alone
    own = words_of(weighed)
    if len(differing_letters(letters, own)) > main.named:
        return None, None  # a notation table with other sizes: it is another model of that family
    if _names_another_class(lines, weighed):
        return None, None
    told = main.named and any(m.kind == MODEL and m.name == main.name for found in named.values() for m in found)
    if not told and not _is_supported(lines, weighed):
        main = main._replace(firm=False)
    return main, weighed


def _names_another_class(lines: Sequence[Line], model: ModelValue) -> bool:
    """Tell whether the text's first lines name classes, none of which is of the model's type: then it is about another model."""
    types = {model_type_of(name) for text in _first_lines(lines) for name in _CLASS.findall(text)} - {None}
    return bool(types) and model.model_type not in types


def differing_letters(letters: Mapping[str, int], own: Mapping[str, int]) -> list[str]:
    """Return the letters of a table of symbols that are not the model's sizes."""
    return [letter for letter, value in letters.items() if own.get(LETTERS.get(letter, ""), value) != value]


def _is_supported(lines: Sequence[Line], model: ModelValue) -> bool:
    """Tell whether a model that sizes alone tell has a total that the text states, if it states one.

    The same sizes make many models: another class, biases, a tied head. A total that none of the
    conventions gives refutes the guess.
    """
    stated = [
        token for index, line in enumerate(lines) if _TOTAL.search(line.text) for token in tokens(line.text, index) if _is_total(token)
    ]
    return not stated or any(is_whole(model, int(token.value or 0)) for token in stated)


def _is_total(token: Token) -> bool:
    return token.kind == "num" and token.value is not None and not token.unit and not token.places and token.value >= 100_000


_TOTAL = pattern(r"\d (?:parameters\b(?! more)|个参数)|\btotal\b|总参数|总计", re.IGNORECASE)
_BERT = pattern(r"(?<![a-z])bert(?=model|for|config|base|large|[^a-z]|$)")
_CLASS = pattern(r"[A-Z]\w{2,80}")


def _stated_class(lines: Sequence[Line], model: ModelValue) -> str | None:
    """Return the class that the text's first lines name, if the model's family has it."""
    if model.description is None:
        return None
    found = {name for text in _first_lines(lines) for name in _CLASS.findall(text) if name in model.description.family.classes}
    return found.pop() if len(found) == 1 else None


def _first_lines(lines: Sequence[Line]) -> list[str]:
    return [line.text for line in lines if line.text.strip()][:4]


def _assumption(model: ModelValue) -> AssumedModel:
    return AssumedModel(model.source, None, because(mark("given")), named=True, given=True)


def _main_models(lines: Sequence[Line], named: Mapping[int, Sequence[Mention]], sizes: Sequence[StatedSize]) -> AssumedModel | None:
    counts: Counter[str] = Counter()
    allowed: set[str] = set()
    told = {index: [m for m in found if not _is_beside(lines[index].text, m)] for index, found in named.items()}
    if named and not any(told.values()):
        return None  # ``By comparison, Qwen3-8B has 36 layers`` says nothing of which model the rest is about
    for index, found in named.items():
        own = [m for m in found if not names_tokenizer(lines[index].text, m.end)]
        counts.update(m.name for m in own if m.name)
        allowed.update(name for m in own for name in m.names)
    sizes = [size for size in sizes if not is_about_another(named.get(size.token.line, ()), size.token.start)]
    bert = any(_BERT.search(line.text.lower()) for line in lines)
    if named and not allowed and not bert:
        return None
    order = [name for name, _ in counts.most_common()]
    guess = assume(order, majority_sizes(sizes), bert=bert, allowed=allowed)
    return None if guess is not None and not named and not bert and is_refuted(lines, guess) else guess


def _is_beside(text: str, mention: Mention) -> bool:
    """Tell whether a model is only brought in: beside another one, or for its tokenizer."""
    return is_background(text, mention.column) or names_tokenizer(text, mention.end)


def is_refuted(lines: Sequence[Line], guess: AssumedModel) -> bool:
    """Tell whether a model that some sizes suggest is another than the text's.

    The text has sizes, in words or in settings, that are not that one's, or it names the Transformer of 2017, whose sizes a small BERT has.
    """
    if any(names_paper(line.text) for line in lines):
        return True
    said: dict[str, set[int]] = {}
    for line in lines:
        for word, value in plain_sizes_of(line.text):
            said.setdefault(word, set()).add(value)
    own = sizes_of(guess.config if guess.config is not None else preset_configs().get(guess.name, {}))
    if "vocab" in own and own["vocab"] not in said.get("vocab", ()):
        return True  # widths and depths are everybody's
    return any(word in own and own[word] not in values for word, values in said.items())
