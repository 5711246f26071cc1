"""What every check of a text needs to know: its statements, its letters, its model, and what a size is in each line."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate, takewhile

from weighbridge.auditing.checks.family_members import by_counts, by_sizes, is_about_another, majority_sizes, resolve_families
from weighbridge.auditing.checks.main_model import AssumedModel, assume
from weighbridge.auditing.checks.names import Mention
from weighbridge.auditing.checks.on_demand import OnDemand
from weighbridge.auditing.checks.own_counts import is_whole, preset_model
from weighbridge.auditing.checks.scene import Scene, index_sizes, words_of
from weighbridge.auditing.checks.sentence_subjects import is_background
from weighbridge.auditing.checks.subjects import contexts as bound
from weighbridge.auditing.checks.subjects import models_by_line
from weighbridge.auditing.claims import Line, because
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.equations import Chain, chains
from weighbridge.auditing.text.figures import sort_figures
from weighbridge.auditing.text.head_units import with_head_units
from weighbridge.auditing.text.letters import letter_meanings, meanings
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.owners import is_after_a_part, is_of_a_part
from weighbridge.auditing.text.size_words import LETTERS
from weighbridge.auditing.text.sizes import StatedSize, find_sizes, sizes_on_two_lines
from weighbridge.auditing.text.statements import statements
from weighbridge.auditing.text.tables import Table, tables
from weighbridge.auditing.text.tokens import tokens
from weighbridge.blueprints import model_type_of
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import WeighbridgeError
from weighbridge.core.messages import mark
from weighbridge.load import load
from weighbridge.presets.aliases import FAMILY, MODEL

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


def understand(lines: Sequence[Line], model: ModelValue | None = None) -> Scene:
    """Read a text as far as it needs to be understood before anything can be checked.

    Args:
        lines: The text.
        model: The model it is about, if that is known.
    """
    laid = tables(lines)
    spoken = with_head_units(statements(lines), laid)
    meant = letter_meanings(spoken, meanings(spoken))
    sizes = _of_the_model(lines, [size for statement in spoken for size in find_sizes(statement, meant)])
    sizes += sizes_on_two_lines(spoken)
    letters = notation(laid)
    named = by_counts(lines, models_by_line(lines))
    main, weighed = _main_model(lines, named, sizes, letters, model)
    odd: Sequence[str] = ()
    if main is not None and weighed is not None:
        odd = _differing_letters(letters, words_of(weighed))  # one size of a model that is named: a slip, which configuration tells
        letters = {letter: value for letter, value in letters.items() if letter not in odd}
    named = by_sizes(resolve_families(lines, named, main), sizes)
    contexts = bound(lines, named, main.name if main is not None else None)
    names = {name for name in contexts if name} | {m.name for mentions in named.values() for m in mentions if m.name}
    models = OnDemand(names, preset_model)
    if weighed is not None:
        models.know("", weighed)
    equations = [chain for statement in spoken for chain in chains(statement) if not _begins_with_name(chain, named)]
    own = words_of(weighed) if weighed is not None else majority_sizes(sizes)
    amounts = OnDemand(names, lambda name: _with_letters(words_of(models[name]), meant) if name in models else None)
    amounts.know("", {**_with_letters(own, meant), **letters})
    known_only = all(m.kind in (MODEL, FAMILY) for found in named.values() for m in found)
    figures = _figures(spoken)
    numbered = [statement for statement in spoken if id(statement) in figures]
    full = frozenset(t.value for found in figures.values() for _, t in found if t.value and t.value >= 1000 and not t.unit and not t.places)
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
        _alternates(named),
        known_only,
        full,
        _by_statement(equations),
        laid,
        odd,
        tuple(accumulate((index if line.heading else -1 for index, line in enumerate(lines)), max)),
        index_sizes(sizes),
        sorted(line for line, found in named.items() if found),
        numbered,
        figures,
        [index for index, line in enumerate(lines) if _DIGIT.search(line.text)],
        [line.text for line in lines],
        sort_figures(numbered, figures),
        main is not None or any(m.names for found in named.values() for m in found),
    )


_DIGIT = pattern(r"\d")


def _alternates(named: Mapping[int, Sequence[Mention]]) -> dict[str, frozenset[str]]:
    """Return, for each model that is named, all the models that its mentions may mean."""
    found: dict[str, frozenset[str]] = {}
    for mention in (m for mentions in named.values() for m in mentions if m.kind == MODEL and m.name):
        found[str(mention.name)] = found.get(str(mention.name), frozenset()) | set(mention.names)
    return found


def _by_statement(equations: Sequence[Chain]) -> dict[int, list[Chain]]:
    """Return the equations of each statement, by its identity."""
    found: dict[int, list[Chain]] = {}
    for chain in equations:
        found.setdefault(id(chain.tokens), []).append(chain)
    return found


def _figures(spoken: Sequence[Sequence[Token]]) -> dict[int, Sequence[tuple[int, Token]]]:
    """Return the numbers of each statement that has any, by its identity: most checks look at nothing else."""
    found = {id(statement): [(place, token) for place, token in enumerate(statement) if token.kind == "num"] for statement in spoken}
    return {key: numbers for key, numbers in found.items() if numbers}


def _begins_with_name(chain: Chain, named: Mapping[int, Sequence[Mention]]) -> bool:
    """Tell whether what looks like a product is the name of a model: ``Mixtral 8x7B ≈ 46.7B``."""
    mentions = named.get(chain.tokens[chain.start].line)
    if not mentions:
        return False
    left = takewhile(lambda token: token.kind != "rel", chain.tokens[chain.start : chain.end])
    numbers = [token for token in left if token.kind == "num"]
    return len(numbers) > 1 and any(m.column <= numbers[0].start and numbers[-1].end <= m.end for m in mentions)


def _of_the_model(lines: Sequence[Line], sizes: Sequence[StatedSize]) -> list[StatedSize]:
    """Leave out the sizes that the words beside them, or before them in their sentence, give to something else than the model."""
    parts: dict[int, list[int]] = {}
    for size in sizes:
        label, token = size.label, size.token
        if label.line == token.line:
            first, last = min(label.start, token.start), max(label.end, token.end)
            if is_of_a_part(lines[token.line].text, first, last, labelled=label.start < token.start):
                parts.setdefault(token.line, []).append(token.start)
    return [s for s in sizes if not is_after_a_part(lines[s.token.line].text, parts.get(s.token.line, ()), s.token.start)]


def _main_model(
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
    if len(_differing_letters(letters, own)) > main.named:
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


def _differing_letters(letters: Mapping[str, int], own: Mapping[str, int]) -> list[str]:
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


_LETTER = pattern(r"[A-Za-z]\w{0,2}'?")


def _with_letters(sizes: Mapping[str, int], meant: Mapping[str, str]) -> dict[str, int]:
    return {**sizes, **{letter: sizes[word] for letter, word in meant.items() if word in sizes}}


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
    if named and all(is_background(lines[index].text, m.column) for index, found in named.items() for m in found):
        return None  # ``By comparison, Qwen3-8B has 36 layers`` says nothing of which model the rest is about
    for found in named.values():
        counts.update(mention.name for mention in found if mention.name)
        allowed.update(name for mention in found for name in mention.names)
    own = [size for size in sizes if not is_about_another(named.get(size.token.line, ()), size.token.start)]
    bert = any(_BERT.search(line.text.lower()) for line in lines)
    if named and not allowed and not bert:
        return None
    order = [name for name, _ in counts.most_common()]
    return assume(order, majority_sizes(own), bert=bert, allowed=allowed)
