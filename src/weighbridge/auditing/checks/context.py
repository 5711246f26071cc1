"""What every check of a text needs to know: its statements, its letters, its model, and what a size is in each line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate, takewhile

from weighbridge.auditing.checks.family_members import by_counts, by_sizes, by_tags, majority_sizes, resolve_families
from weighbridge.auditing.checks.names import Mention
from weighbridge.auditing.checks.on_demand import OnDemand
from weighbridge.auditing.checks.own_counts import preset_model
from weighbridge.auditing.checks.scene import Scene, index_sizes, words_of
from weighbridge.auditing.checks.subjects import contexts as bound
from weighbridge.auditing.checks.subjects import models_by_line
from weighbridge.auditing.checks.text_subject import differing_letters, model_of_text
from weighbridge.auditing.claims import Line
from weighbridge.auditing.patterns import pattern
from weighbridge.auditing.text.equations import Chain, chains
from weighbridge.auditing.text.figures import sort_figures
from weighbridge.auditing.text.head_units import with_head_units
from weighbridge.auditing.text.letters import letter_meanings, meanings
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.owners import is_after_a_part, is_of_a_part
from weighbridge.auditing.text.sizes import StatedSize, find_sizes, sizes_on_two_lines
from weighbridge.auditing.text.statements import statements
from weighbridge.auditing.text.table_rows import tables
from weighbridge.auditing.text.tables import Table
from weighbridge.core._namedtuple import TYPE_CHECKING
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
    named = by_tags(lines, by_counts(lines, models_by_line(lines)))
    main, weighed = model_of_text(lines, named, sizes, letters, model)
    odd: Sequence[str] = ()
    if main is not None and weighed is not None:
        odd = differing_letters(letters, words_of(weighed))  # one size of a model that is named: a slip, which configuration tells
        letters = {letter: value for letter, value in letters.items() if letter not in odd}
    named = by_sizes(lines, resolve_families(lines, named, main), sizes)
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
    full = frozenset(t.value for found in figures.values() for _, t in found if not t.unit and not t.places and t.value and t.value >= 1000)
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
    for mentions in named.values():
        known = [m for m in mentions if m.kind == MODEL and m.name]
        for mention in known:
            exact = min(
                (m.names for m in known if m.name == mention.name), key=len
            )  # its family's bare name beside it brings no sisters in
            found[str(mention.name)] = found.get(str(mention.name), frozenset()) | set(exact)
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
