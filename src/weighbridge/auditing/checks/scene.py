"""A text, understood: what every check of it needs to know."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Collection, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache

from weighbridge.auditing.checks.field_values import has_one_key
from weighbridge.auditing.checks.main_model import AssumedModel, sizes_of
from weighbridge.auditing.checks.names import Mention
from weighbridge.auditing.claims import Claim, Line
from weighbridge.auditing.text.equations import Chain
from weighbridge.auditing.text.figures import Figures
from weighbridge.auditing.text.memory import once_for_each_scene
from weighbridge.auditing.text.numbers import Token
from weighbridge.auditing.text.size_words import LETTERS
from weighbridge.auditing.text.sizes import StatedSize
from weighbridge.auditing.text.tables import Table
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


class StatedIndex(NamedTuple):
    """Sizes that a text states plainly, so that those of one line are found without a look at ten thousand others.

    Attributes:
        on: By line.
        values: Each word with each value that is stated of it.
        hidden: Lines in order, each with the hidden size that is stated last up to it.
    """

    on: Mapping[int, Sequence[StatedSize]]
    values: frozenset[tuple[str, int]]
    hidden: Sequence[tuple[int, int]]


def index_sizes(stated: Sequence[StatedSize]) -> StatedIndex:
    """Index the sizes that a text states."""
    on: dict[int, list[StatedSize]] = {}
    for size in stated:
        on.setdefault(size.token.line, []).append(size)
    hidden: list[tuple[int, int]] = []
    latest = -1
    for line, order, value in sorted((size.token.line, order, size.value) for order, size in enumerate(stated) if size.word == "hidden"):
        if order > latest:
            latest = order
            hidden.append((line, value))
    return StatedIndex(on, frozenset((size.word, size.value) for size in stated), hidden)


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
        headings: By index of line, the line of the heading that it stands under, or -1.
        stated_index: The sizes that are stated, by where and by what they are.
        named_lines: The lines that name a model, in order.
        numbered: The statements that hold a number.
        figures: By statement, its numbers, each with its place in it.
        counted_lines: The lines that have a digit, in order.
        texts: The lines as they are read.
        sorted_figures: The numbers by what they may be, for checks that judge one kind of them.
        has_models: Whether there is any model that a claim could be held against.
        judged: Where claims end that the checks before have made, by number of line and column as written: what a later one says there is dropped.
    """

    lines: Sequence[Line]
    statements: Sequence[Sequence[Token]]
    chains: Sequence[Chain]
    meant: Mapping[str, str]
    stated: Sequence[StatedSize]
    mentions: Mapping[int, Sequence[Mention]]
    contexts: Sequence[str | None]
    main: AssumedModel | None
    models: Mapping[str | None, ModelValue]
    sizes: Mapping[str | None, dict[str, int]]
    letters: Mapping[str, int]
    alternates: Mapping[str, frozenset[str]]
    known_only: bool
    numbers: frozenset[Fraction]
    by_statement: Mapping[int, Sequence[Chain]]
    tables: Sequence[Table]
    odd: Sequence[str] = ()
    headings: Sequence[int] = ()
    stated_index: StatedIndex = StatedIndex({}, frozenset(), ())
    named_lines: Sequence[int] = ()
    numbered: Sequence[Sequence[Token]] = ()
    figures: Mapping[int, Sequence[tuple[int, Token]]] = {}
    counted_lines: Sequence[int] = ()
    texts: Sequence[str] = ()
    sorted_figures: Figures = Figures((), (), (), (), ())
    has_models: bool = True
    judged: Collection[tuple[int, int]] = frozenset()

    @property
    def given(self) -> bool:
        """Whether the model was given, and not guessed from the text."""
        return self.main is not None and self.main.given

    def chains_of(self, statement: Sequence[Token]) -> Sequence[Chain]:
        """Return the equations of a statement."""
        return self.by_statement.get(id(statement), ())

    def is_in_name(self, token: Token) -> bool:
        """Tell whether a token is part of a model's name."""
        named = self.mentions.get(token.line)
        return bool(named) and any(mention.column <= token.start < mention.end for mention in named or ())

    def naming_lines(self, line: int, reach: int) -> Sequence[int]:
        """Return the lines that name a model, of so many above a line, from the nearest on."""
        lines = self.named_lines
        return lines[bisect_left(lines, line - reach) : bisect_left(lines, line)][::-1]

    def statement_at(self, line: int) -> Sequence[Token]:
        """Return the statement that a line is part of, or none."""
        place = bisect_right(self.statements, line, key=lambda one: one[0].line)
        found = self.statements[place - 1] if place else ()
        return found if found and found[-1].line >= line else ()

    def figures_of(self, statement: Sequence[Token]) -> Sequence[tuple[int, Token]]:
        """Return the numbers of a statement, each with its place in it."""
        return self.figures.get(id(statement), ())

    def is_judged(self, line: int, start: int, end: int) -> bool:
        """Tell whether a check before has made a claim of the number between two columns: none need be made again."""
        here = self.lines[line]
        return bool(self.judged) and (here.number, end_as_written(here, start, end)) in self.judged

    def is_line_judged(self, line: int) -> bool:
        """Tell whether a check before has made a claim of every number of a line that is in no name of a model."""
        if not self.judged:
            return False
        numbers = (token for _, token in self.figures_of(self.statement_at(line)) if token.line == line)
        return all(self.is_judged(line, token.start, token.end) or self.is_in_name(token) for token in numbers)

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
        if own is None:
            return False
        hidden = self.stated_index.hidden
        place = bisect_right(hidden, line, key=lambda one: one[0])
        return place > 0 and hidden[place - 1][1] != own

    def sizes_at(self, line: int, column: int) -> dict[str, int]:
        """Return what names and letters amount to at a place."""
        return self.sizes.get(self.context(line, column), {})


@once_for_each_scene
def first_lines(scene: Scene) -> Mapping[str | None, int]:
    """Return the first line that names each model."""
    found: dict[str | None, int] = {}
    for line, mentions in scene.mentions.items():
        for mention in mentions:
            found[mention.name] = min(line, found.get(mention.name, line))
    return found


@lru_cache(maxsize=2048)
def words_of(model: ModelValue) -> Mapping[str, int]:
    """Return a model's sizes by our words.

    >>> from weighbridge import model
    >>> words_of(model("bert-base-uncased"))["mlp"]
    3072
    """
    if model.description is None:
        return {}
    values = vars(model.description.sizes)
    sizes = {word: values[word] for word in (*LETTERS.values(), "head_dim", "kv_heads") if isinstance(values.get(word), int)}
    if has_one_key(model):
        sizes["kv_heads"] = 1
    return {word: value for word, value in sizes.items() if not isinstance(value, bool)}


def nested_words(model: ModelValue) -> list[dict[str, int]]:
    """Return the sizes of the models that a model is made of: CLIP's of its text and its images.

    >>> from weighbridge import model
    >>> sorted(words["hidden"] for words in nested_words(model("clip-vit-large-patch14")))
    [768, 1024]
    """
    raw = model.description.raw if model.description is not None else {}
    return [sizes_of(part) for part in raw.values() if isinstance(part, Mapping)]


def claim(lines: Sequence[Line], first: Token, last: Token, kind: str, verdict: str, **facts: object) -> Claim:
    """Make a claim about the words from one token to another."""
    line = lines[first.line]
    end = last.end if last.line == first.line else len(line.text)
    begin = line.at[first.start] if first.start < len(line.at) else 0
    text = " ".join(line.text[first.start : end].split())
    return Claim(line.number, begin, end_as_written(line, first.start, end), text, kind, verdict, **facts)  # type: ignore[arg-type]


def end_as_written(line: Line, start: int, end: int) -> int:
    """Return where words end in a line as it was written, of which it is known where they stand in it as it is read."""
    begin = line.at[start] if start < len(line.at) else 0
    return max(line.at[end - 1] + 1 if 0 < end <= len(line.at) else len(line.raw), begin)


_BREAKS = frozenset(",;:.，；。：、|()")
