"""How much is put into a model: examples, tokens, images, sound. The one list of inputs that every account and every door reads.

The command line, an address's query, the API's description and the truth are all made from :data:`INPUTS`; the
values come together in one :class:`Inputs`.
"""

from __future__ import annotations

from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text, mark

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

GRID = "16x24"
"""How rows and columns are written."""

LARGEST = 999_999_999
"""The largest number of anything that is put in."""


class Input(NamedTuple):
    """One thing that is put in.

    Attributes:
        name: As in Python and in a query; on the command line with ``-`` for ``_``.
        default: What is taken where nothing is said; None where it then is not put in at all.
        meaning: What it is, in English, to be translated.
        example: Of a grid, how it is written; of a whole number, the empty string.
    """

    name: str
    default: int | None
    meaning: str
    example: str = ""


INPUTS: tuple[Input, ...] = (
    Input("batch", 1, mark("examples")),
    Input("seq", 128, mark("tokens per example; for encoder-decoder models, the encoder's")),
    Input("decoder_seq", None, mark("decoder tokens, for encoder-decoder models (default: as many as the encoder's)")),
    Input(
        "encoder_seq",
        None,
        mark("length of the encoder states that a decoder's cross-attention reads; without it, cross-attention does not run"),
    ),
    Input("images", None, mark("images per example (each crop counts), for a vision-language model")),
    Input("patches", None, mark("patches of each image, for models that read any size: rows x columns"), GRID),
    Input("audios", None, mark("audio clips per example, for an audio language model")),
    Input("question", None, mark("tokens of each example that see the whole text (Longformer's questions)")),
)
"""All of them, in the order in which they are asked for."""


class Inputs(NamedTuple):
    """How much is put in. Make it with :func:`inputs`, which checks the numbers.

    Attributes:
        batch: Examples.
        seq: Tokens per example; of the encoder, where there are both.
        decoder_seq: Tokens of the decoder, where there are both; by default *seq*.
        encoder_seq: Length of the states a decoder's cross-attention looks at; without it, it does not run.
        images: Images per example, of a vision-language model; without it, its vision tower does not run. An
            image cut into crops counts as many. *seq* counts the tokens that images take up in the text.
        patches: Rows and columns of patches of each image, where a model reads images of any size.
        audios: Clips of sound per example, of a language model that takes sound.
        question: Tokens of each example that see the whole text, of a class that answers questions so (Longformer).
    """

    batch: int = 1
    seq: int = 128
    decoder_seq: int | None = None
    encoder_seq: int | None = None
    images: int | None = None
    patches: tuple[int, int] | None = None
    audios: int | None = None
    question: int | None = None

    def lengths(self) -> dict[str, int]:
        """Return the lengths of the streams that are put in, by the names that trees have for them.

        >>> inputs(seq=16, images=1, patches=(4, 6)).lengths()
        {'seq': 16, 'decoder': 16, 'images': 1, 'rows': 4, 'columns': 6}
        """
        rows, columns = self.patches or (None, None)
        named = {
            "encoder": self.encoder_seq,
            "images": self.images,
            "rows": rows,
            "columns": columns,
            "audios": self.audios,
            "question": self.question,
        }
        decoder = self.seq if self.decoder_seq is None else self.decoder_seq
        return {"seq": self.seq, "decoder": decoder, **{name: tokens for name, tokens in named.items() if tokens is not None}}


def inputs(given: Mapping[str, object] | None = None, /, **named: object) -> Inputs:
    """Read the inputs from numbers or from text; other keys of *given* are ignored.

    Args:
        given: A query, a JSON body, the options of a command.
        named: The same by name.

    Raises:
        UsageError: No whole number from 1 up, or no grid.

    >>> inputs({"seq": "512", "patches": "16x24", "source": "bert"})
    Inputs(batch=1, seq=512, decoder_seq=None, encoder_seq=None, images=None, patches=(16, 24), audios=None, question=None)
    >>> inputs(seq=0)
    Traceback (most recent call last):
    weighbridge.core.errors.UsageError: seq: expected a whole number from 1 to 999,999,999, found 0
    """
    said = {**(given or {}), **named}
    found: dict[str, Any] = {}
    for entry in INPUTS:
        value = said.get(entry.name)
        if value is not None and not (isinstance(value, str) and value == ""):
            found[entry.name] = grid(value, entry.name) if entry.example else positive_int(value, entry.name)
    return Inputs(**found)


def positive_int(value: object, name: str) -> int:
    """Read a whole number from 1 up: an int, an integer of another library (NumPy's), or text.

    >>> positive_int("512", "seq")
    512
    """
    number = int(value) if isinstance(value, str) and _is_number(value) else plain_int(value)
    if type(number) is not int or not 1 <= number <= LARGEST:
        raise UsageError(
            Text("{name}: expected a whole number from 1 to {largest:,}, found {value!r:.40}", name=name, largest=LARGEST, value=value)
        )
    return number


def plain_int(value: object) -> object:
    """Return an integer of another library, such as NumPy's, as an int, and anything else as it is.

    >>> plain_int(7), plain_int(True), plain_int("7"), plain_int(7.0)
    (7, True, '7', 7.0)
    """
    if isinstance(value, (int, float, str)) or not hasattr(value, "__index__"):
        return value
    try:
        return int(value.__index__())
    except (TypeError, ValueError, IndexError):  # an array of several, which has the method all the same
        return value


def truth_value(value: object, name: str) -> bool:
    """Read a switch: True or False, and nothing that Python takes for one of them, such as ``"no"``.

    >>> truth_value("no", "dropout")
    Traceback (most recent call last):
    weighbridge.core.errors.UsageError: dropout: expected True or False, found 'no'
    """
    if isinstance(value, bool) or type(value).__name__ in ("bool", "bool_"):  # NumPy's
        return bool(value)
    if type(value) is int and value in (0, 1):
        return bool(value)
    raise UsageError(Text("{name}: expected True or False, found {value!r:.40}", name=name, value=value))


def grid(value: object, name: str) -> tuple[int, int]:
    """Read rows and columns: two numbers, or text.

    >>> grid("16x24", "patches")
    (16, 24)
    """
    sides = value.split("x") if isinstance(value, str) else value
    if not isinstance(sides, (list, tuple)) or len(sides) != 2 or not all(type(side) is int or _is_number(side) for side in sides):
        raise UsageError(
            Text(
                "{name}: expected rows and columns such as {example}, found {value!r:.40}",
                name=name,
                example=GRID,
                value=value,
            )
        )
    rows, columns = (positive_int(side, name) for side in sides)
    return rows, columns


def _is_number(text: object) -> bool:
    return isinstance(text, str) and text.isascii() and text.isdecimal() and len(text) < 12
