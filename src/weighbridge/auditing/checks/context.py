"""What every check of a text needs to know: its statements, its letters, its model, and what a size is in each line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from weighbridge.auditing.checks.main_model import Assumed, assume, sizes_of
from weighbridge.auditing.checks.names import Mention
from weighbridge.auditing.checks.settle import is_whole
from weighbridge.auditing.checks.subjects import contexts as bound
from weighbridge.auditing.checks.subjects import named as names_in
from weighbridge.auditing.claims import Claim, Line, said
from weighbridge.auditing.text.equations import Chain, chains, statements
from weighbridge.auditing.text.size_words import LETTERS
from weighbridge.auditing.text.sizes import Stated, apart, meanings, stated, usual
from weighbridge.auditing.text.tables import Table, tables
from weighbridge.auditing.text.tokens import Token, tokens
from weighbridge.blueprints import model_type_of
from weighbridge.core.errors import WeighbridgeError
from weighbridge.core.messages import mark
from weighbridge.load import load
from weighbridge.presets.aliases import FAMILY, MODEL, preset_configs

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


class Scene(NamedTuple):
    """A text, understood.

    Attributes:
        lines: Its lines.
        statements: Their tokens.
        chains: Its equations.
        meant: What single letters mean, as our words.
        stated: The sizes it states.
        mentions: By index of line, the models named there.
        contexts: By index of line, the model that the line is about; the empty string is the main model, None
            is one that cannot be told.
        main: The main model, or None.
        models: The models of all contexts.
        sizes: By context, what names and letters amount to.
        letters: What letters stand for by a table of symbols of the text.
        alternates: By the likeliest preset of each name, all that it may be.
        known_only: Whether every model it names is known.
        numbers: The whole numbers of four digits and more that the text has in full.
        by_statement: Its equations by the statement they stand in.
        tables: Its tables.
        odd: The letters of a table of symbols that are not the sizes of the model it names: slips.
    """

    lines: Sequence[Line]
    statements: Sequence[Sequence[Token]]
    chains: Sequence[Chain]
    meant: Mapping[str, str]
    stated: Sequence[Stated]
    mentions: Mapping[int, Sequence[Mention]]
    contexts: Sequence[str | None]
    main: Assumed | None
    models: Mapping[str, ModelValue]
    sizes: Mapping[str | None, dict[str, int]]
    letters: Mapping[str, int]
    alternates: Mapping[str, frozenset[str]]
    known_only: bool
    numbers: frozenset[Fraction]
    by_statement: Mapping[int, Sequence[Chain]]
    tables: Sequence[Table]
    odd: Sequence[str] = ()

    @property
    def given(self) -> bool:
        """Whether the model was given, and not guessed from the text."""
        return self.main is not None and self.main.given

    def chains_of(self, statement: Sequence[Token]) -> Sequence[Chain]:
        """Return the equations of a statement."""
        return self.by_statement.get(id(statement), ())

    def context(self, line: int, column: int) -> str | None:
        """Return the model that a place of the text is about."""
        name = self.contexts[line]
        named = self.mentions.get(line, ())
        for mention in named:
            if mention.column <= column:
                name = mention.name
        if named and named[0].column > column and not set(self.lines[line].text[column : named[0].column]) & _BREAKS:
            name = named[0].name
        if name is not None and self.main is not None and name == self.main.name:
            return ""
        return name

    def model_at(self, line: int, column: int) -> ModelValue | None:
        """Return the model that a place of the text is about, if it can be told."""
        name = self.context(line, column)
        return None if name is None else self.models.get(name)

    def is_at_other_sizes(self, line: int) -> bool:
        """Tell whether the hidden size that is stated last, up to a line, is not that of the model the line is about."""
        model = self.model_at(line, 0)
        own = words_of(model).get("hidden") if model is not None else None
        before = [size.value for size in self.stated if size.word == "hidden" and size.token.line <= line]
        return bool(before) and own is not None and before[-1] != own

    def sizes_at(self, line: int, column: int) -> dict[str, int]:
        """Return what names and letters amount to at a place."""
        return self.sizes.get(self.context(line, column), {})


def understand(lines: Sequence[Line], model: ModelValue | None = None) -> Scene:
    """Read a text as far as it needs to be understood before anything can be checked.

    Args:
        lines: The text.
        model: The model it is about, if that is known.
    """
    spoken = statements(lines)
    meant = usual(spoken, meanings(spoken))
    sizes = [size for statement in spoken for size in stated(statement, meant)] + list(apart(spoken))
    laid = tables(lines)
    letters = notation(laid)
    named = names_in(lines)
    main, weighed = _weighed(lines, named, sizes, letters, model)
    odd: Sequence[str] = ()
    if main is not None and weighed is not None:
        odd = _at_odds(letters, words_of(weighed))  # one size of a model that is named: a slip, which configuration tells
        letters = {letter: value for letter, value in letters.items() if letter not in odd}
    named = _by_sizes(_resolved(lines, named, main), sizes)
    contexts = bound(lines, named, main.name if main is not None else None)
    models = _models(contexts, named)
    if weighed is not None:
        models[""] = weighed
    equations = [chain for statement in spoken for chain in chains(statement)]
    chained: dict[int, list[Chain]] = {}
    for chain in equations:
        chained.setdefault(id(chain.tokens), []).append(chain)
    amounts: dict[str | None, dict[str, int]] = {name: _with_letters(words_of(found), meant) for name, found in models.items()}
    amounts[""] = {**amounts.get("", _with_letters(_agreed(sizes), meant)), **letters}
    alternates: dict[str, frozenset[str]] = {}
    for mention in (m for found in named.values() for m in found if m.kind == MODEL and m.name):
        alternates[str(mention.name)] = alternates.get(str(mention.name), frozenset()) | set(mention.names)
    known_only = all(m.kind in (MODEL, FAMILY) for found in named.values() for m in found)
    full = frozenset(
        t.value
        for statement in spoken
        for t in statement
        if t.kind == "num" and t.value and t.value >= 1000 and not t.unit and not t.places
    )
    return Scene(
        lines,
        spoken,
        equations,
        meant,
        sizes,
        named,
        contexts,
        main,
        models,
        amounts,
        letters,
        alternates,
        known_only,
        full,
        chained,
        laid,
        odd,
    )


def _weighed(
    lines: Sequence[Line],
    named: Mapping[int, Sequence[Mention]],
    sizes: Sequence[Stated],
    letters: Mapping[str, int],
    model: ModelValue | None,
) -> tuple[Assumed | None, ModelValue | None]:
    """Return the main model: the one that is given, or what names, sizes and the text's own notation tell."""
    if model is not None:
        return _given(model), model
    main = _main(lines, named, sizes)
    if main is None:
        return None, None
    try:
        weighed = load(dict(main.config)) if main.config is not None else load(main.name)
        named_class = _stated_class(lines, weighed) if main.config is None else None
        if named_class is not None and named_class != weighed.class_name:
            weighed = load(main.name, named_class)
    except WeighbridgeError:
        return None, None  # sizes that fit no model: the text is held against itself alone
    own = words_of(weighed)
    if len(_at_odds(letters, own)) > main.named:
        return None, None  # a notation table with other sizes: it is another model of that family
    if _names_another_class(lines, weighed):
        return None, None
    told = main.named and any(m.kind == MODEL and m.name == main.name for found in named.values() for m in found)
    if not told and not _is_supported(lines, weighed):
        main = main._replace(firm=False)
    return main, weighed


def _names_another_class(lines: Sequence[Line], model: ModelValue) -> bool:
    """Tell whether the text's first lines name classes, none of which is of the model's type: then it is about another model."""
    types = {model_type_of(name) for text in _first(lines) for name in _CLASS.findall(text)} - {None}
    return bool(types) and model.model_type not in types


def _at_odds(letters: Mapping[str, int], own: Mapping[str, int]) -> list[str]:
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


_TOTAL = re.compile(r"\d (?:parameters\b(?! more)|个参数)|\btotal\b|总参数|总计", re.IGNORECASE)


def _models(contexts: Sequence[str | None], named: Mapping[int, Sequence[Mention]]) -> dict[str, ModelValue]:
    """Load the models that a text names."""
    models: dict[str, ModelValue] = {}
    for name in {name for name in contexts if name} | {m.name for found in named.values() for m in found if m.name}:
        try:
            models[name] = load(name)
        except WeighbridgeError:
            continue
    return models


def notation(laid: Sequence[Table]) -> dict[str, int]:
    """Return what letters stand for by a table of symbols: a letter in the first cell of its rows, a number in the last.

    >>> from weighbridge.auditing.text.reading import read_lines
    >>> notation(tables(read_lines(b"| V | vocab_size | 30522 |\\n|---|---|---|\\n| H | hidden_size | 768 |")))
    {'V': 30522, 'H': 768}
    """
    found: dict[str, int] = {}
    for table in laid:
        rows = [row for row in (*table.head, *table.rows) if _LETTER.fullmatch(row.cells[0].text.strip("$*` "))]
        values = {row.cells[0].text.strip("$*` "): row.cells[-1].text.replace(",", "").strip("$*` ;") for row in rows if len(row.cells) > 2}
        if len(values) >= 2 and all(value.isdigit() and len(value) < 12 for value in values.values()):
            found |= {letter: int(value) for letter, value in values.items()}
    return found


_LETTER = re.compile(r"[A-Za-z]\w{0,2}'?")


def _with_letters(sizes: dict[str, int], meant: Mapping[str, str]) -> dict[str, int]:
    return {**sizes, **{letter: sizes[word] for letter, word in meant.items() if word in sizes}}


def words_of(model: ModelValue) -> dict[str, int]:
    """Return a model's sizes by our words.

    >>> from weighbridge import model
    >>> words_of(model("bert-base-uncased"))["mlp"]
    3072
    """
    if model.description is None:
        return {}
    values = vars(model.description.sizes)
    sizes = {word: values[word] for word in (*LETTERS.values(), "head_dim", "kv_heads") if isinstance(values.get(word), int)}
    return {word: value for word, value in sizes.items() if not isinstance(value, bool)}


def claim(lines: Sequence[Line], first: Token, last: Token, kind: str, verdict: str, **facts: object) -> Claim:
    """Make a claim about the words from one token to another."""
    line = lines[first.line]
    end = last.end if last.line == first.line else len(line.text)
    begin = line.at[first.start] if first.start < len(line.at) else 0
    finish = line.at[end - 1] + 1 if 0 < end <= len(line.at) else len(line.raw)
    text = " ".join(line.text[first.start : end].split())
    return Claim(line.number, begin, max(finish, begin), text, kind, verdict, **facts)  # type: ignore[arg-type]


_BERT = re.compile(r"(?<![a-z])bert(?=model|for|config|base|large|[^a-z]|$)")
_BREAKS = frozenset(",;:.，；。：、|()")
_CLASS = re.compile(r"[A-Z]\w{2,80}")


def _stated_class(lines: Sequence[Line], model: ModelValue) -> str | None:
    """Return the class that the text's first lines name, if the model's family has it."""
    if model.description is None:
        return None
    found = {name for text in _first(lines) for name in _CLASS.findall(text) if name in model.description.family.classes}
    return found.pop() if len(found) == 1 else None


def _first(lines: Sequence[Line]) -> list[str]:
    return [line.text for line in lines if line.text.strip()][:4]


def _given(model: ModelValue) -> Assumed:
    return Assumed(model.source, None, said(mark("given")), named=True, given=True)


def _main(lines: Sequence[Line], named: Mapping[int, Sequence[Mention]], sizes: Sequence[Stated]) -> Assumed | None:
    counts: Counter[str] = Counter()
    allowed: set[str] = set()
    for found in named.values():
        counts.update(mention.name for mention in found if mention.name)
        allowed.update(name for mention in found for name in mention.names)
    own = [size for size in sizes if not _other(named.get(size.token.line, ()), size.token.start)]
    bert = any(_BERT.search(line.text.lower()) for line in lines)
    if named and not allowed and not bert:
        return None
    order = [name for name, _ in counts.most_common()]
    return assume(order, _agreed(own), bert=bert, allowed=allowed)


def _resolved(lines: Sequence[Line], named: dict[int, list[Mention]], main: Assumed | None) -> dict[int, list[Mention]]:
    """Take a family's bare name, such as ``Mixtral``, for the model of that family that the text is about."""
    if main is None:
        return named
    return {
        index: [m._replace(name=main.name, kind=MODEL) if m.kind == FAMILY and main.name in m.names else m for m in found]
        for index, found in named.items()
    }


def _by_sizes(named: dict[int, list[Mention]], sizes: Sequence[Stated]) -> dict[int, list[Mention]]:
    """Take a family's bare name for its member whose sizes stand beside it: ``GPT-2, 12-layer, 768-hidden``."""
    beside: dict[int, dict[str, int]] = {}
    for size in sizes:
        beside.setdefault(size.token.line, {})[size.word] = size.value
    for index, found in named.items():
        told = beside.get(index, {})
        if len(found) != 1 or found[0].kind != FAMILY or not told:
            continue
        fitting = [
            name
            for name in found[0].names
            if all(sizes_of(preset_configs()[name]).get(word, value) == value for word, value in told.items())
        ]
        if fitting and (len(told) > 1 or len(fitting) == len(found[0].names)):
            named[index] = [found[0]._replace(name=fitting[0], names=tuple(fitting), kind=MODEL)]
    return named


def _other(found: Sequence[Mention], column: int) -> bool:
    """Tell whether what stands here is said of a large sister, or of a model that cannot be told."""
    before = [mention for mention in found if mention.column <= column]
    return bool(before) and (before[-1].name is None or "large" in before[-1].name)


def _agreed(sizes: Sequence[Stated]) -> dict[str, int]:
    """Return the size that is stated most often for each word; firm statements count more, the first wins."""
    votes: dict[str, Counter[int]] = {}
    for size in sizes:
        votes.setdefault(size.word, Counter())[size.value] += 10 if size.firm else 1
    return {word: counter.most_common(1)[0][0] for word, counter in votes.items()}
