"""Options that were given and change nothing: the answer is computed once more without each of them, with another value too, and names them."""

from __future__ import annotations

from weighbridge.commands.options import OUTPUT, SOURCE, Answer, Arguments, Option
from weighbridge.core._namedtuple import TYPE_CHECKING
from weighbridge.core.errors import WeighbridgeError
from weighbridge.core.messages import mark, translator

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from typing import Any

    from weighbridge.documents.document import Document

ECHOED = frozenset(
    "batch seq decoder_seq encoder_seq images patches audios question dtype dtype_from engine settings layout taken published inputs".split()
)
"""Keys of an answer that repeat what was asked."""

BESIDE = frozenset((*SOURCE, *OUTPUT))
"""Options that say which model, and in which form the answer comes."""

WORDS = {"dtype": ("float32", "bfloat16"), "attention": ("eager", "flash")}
"""Further values of options of which two may cost the same, as 16 bits of either kind do."""

SAME = mark("Without effect here: {options}.")
"""What is said of options that change nothing."""


def with_idle(
    answer: Callable[[Arguments], Answer],
    arguments: Arguments,
    options: Sequence[Option],
    sentence: str = SAME,
    differs: Callable[[Arguments, Arguments], bool] | None = None,
) -> Answer:
    """Return what a command answers, and name those of *options* that were given and change nothing.

    Args:
        answer: The command's own answer.
        arguments: What is asked.
        options: Which options are tried.
        sentence: What is said of them in the document.
        differs: Shows of two questions, by one figure of their answers, that these differ; where it does, they are not answered whole.
    """
    model = arguments.model()
    values = {name: value for name, value in vars(arguments).items() if name != "_open"}
    found = answer(Arguments(values, lambda *_: model))

    given = [option for option in options if _may_be_idle(option, values[option.name])]
    if not given:
        return found

    def idle(data: dict[str, Any]) -> list[str]:
        figures = _without_echo(data)
        asked = Arguments(values, lambda *_: model)

        def is_same(other: Arguments) -> bool:
            return not (differs is not None and differs(asked, other)) and _figures(answer, other) == figures

        return [
            option.switch
            for option in given
            if all(
                is_same(Arguments({**values, option.name: other}, lambda *_: model)) for other in _other_values(option, values[option.name])
            )
        ]

    def as_json() -> dict[str, Any]:
        data: dict[str, Any] = found.json()
        named = idle(data)
        return data | {"idle": named} if named else data

    def document() -> Document:
        assert found.document is not None
        shown, named = found.document(), idle(found.json())
        if not named:
            return shown
        from weighbridge.documents.document import notes

        say = translator(shown.lang)
        return shown._replace(blocks=(*shown.blocks, *notes([say(sentence).format(options=", ".join(named))])))

    return Answer(as_json, document)


def _may_be_idle(option: Option, value: object) -> bool:
    return bool(option.switch) and option not in BESIDE and option.name != "explain" and value not in (None, False, option.default)


def _other_values(option: Option, value: object) -> Iterator[object]:
    """Yield other values of an option, its default first."""
    yield option.default
    if type(value) is int:
        yield value + 1
    yield from WORDS.get(option.name, ())


def _figures(answer: Callable[[Arguments], Answer], arguments: Arguments) -> object:
    """Return the figures of an answer, or None where it is refused."""
    try:
        return _without_echo(answer(arguments).json())
    except WeighbridgeError:
        return None


def _without_echo(data: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in data.items() if key not in ECHOED}
