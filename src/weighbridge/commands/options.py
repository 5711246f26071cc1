"""What commands take and give: options as data, a call's arguments, the answer. Read by the command line, its help, the API and OpenAPI alike."""

from __future__ import annotations

from weighbridge.core._json import loads
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text, mark

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from typing import Any

    from weighbridge.api.model import Model
    from weighbridge.documents.document import Document


class Option(NamedTuple):
    """One option or argument.

    Attributes:
        name: As in Python, and the attribute of :class:`Arguments`: ``decoder_seq``.
        help: What it is for, in English, to be translated.
        metavar: How its value is written in help; empty for a switch.
        kind: ``text``, ``whole`` (a whole number from 1 up), ``grid`` (rows and columns), ``number``, ``switch``.
        default: Its value where nothing is said.
        flag: On the command line; ``--`` and the name with dashes unless it is given. Empty for an argument without one.
        short: One letter, such as ``-o``.
        choices: The values it may have; empty where it may be anything.
        const: What a switch puts into *name*; True unless it is given.
        many: Whether it may be repeated; its value is a list.
        needed: Whether it must be given.
        local: Whether it is for the command line alone.
    """

    name: str
    help: str
    metavar: str = ""
    kind: str = "text"
    default: object = None
    flag: str | None = None
    short: str = ""
    choices: tuple[str, ...] = ()
    const: object = True
    many: bool = False
    needed: bool = False
    local: bool = False

    @property
    def switch(self) -> str:
        """How it is typed: ``--decoder-seq``; the empty string for an argument."""
        return "--" + self.name.replace("_", "-") if self.flag is None else self.flag

    @property
    def key(self) -> str:
        """What it is called in an address and in JSON: ``decoder_seq``, ``class``."""
        return self.switch[2:].replace("-", "_") or self.name


class Arguments:
    """What a command is asked: an attribute for each option, and how sources are opened."""

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...

    def __init__(self, values: dict[str, Any], open_source: Callable[..., Model] | None = None) -> None:
        self.__dict__.update(values)
        self._open = open_source

    def model(self, source: str | None = None) -> Model:
        """Return the model that *source* (by default the option of that name) and the options of :data:`SOURCE` name."""
        if self._open is not None:
            return self._open(self, source or self.source)
        from weighbridge.api.model import model

        values = self.__dict__
        more = {name: values[name] for name in ("via", "trust_remote_code") if values.get(name)}
        wanted = self.source if source is None else source
        found = model(wanted, values.get("class_name"), overrides(values.get("overrides") or ()), **more)
        if found.unknown:
            from weighbridge.commands.unknown_fields import look_at

            look_at(found, strict=bool(values.get("strict")), lang=values.get("lang") or "en")
        return found


class Answer(NamedTuple):
    """What a command answers.

    Attributes:
        json: Makes the answer as plain data.
        document: Makes the document; None where there is none.
        holds: Whether what was checked holds; the exit code is 1 where it does not.
        text: What is printed as it stands, in place of the document.
    """

    json: Callable[[], Any]
    document: Callable[[], Document] | None = None
    holds: bool = True
    text: str | None = None


def overrides(pairs: Iterable[str]) -> dict[str, Any]:
    """Read ``key=value`` pairs; a value is JSON where it can be read as such, else a word.

    >>> overrides(["num_hidden_layers=6", "tie_word_embeddings=false", "hidden_act=gelu"])
    {'num_hidden_layers': 6, 'tie_word_embeddings': False, 'hidden_act': 'gelu'}
    """
    result: dict[str, Any] = {}
    for pair in pairs:
        key, separator, value = pair.partition("=")
        if not separator or not key:
            raise UsageError(Text("--set {pair}: expected key=value, such as num_hidden_layers=6", pair=pair))
        try:
            result[key] = loads(value)
        except ValueError:
            result[key] = {"True": True, "False": False, "None": None}.get(value, value)
    return result


KNOWN_SOURCES = mark(
    "preset, config.json, directory, checkpoint file, Hub id (org/name@revision), modelscope:org/name, address (https://, s3://, gs://,"
    " az://), or - for a config on standard input"
)
CLASS = Option("class_name", mark("class to weigh (default: what the config names, else the base class)"), "CLASS", flag="--class")
SET = Option("overrides", mark("set a config field; may be repeated"), "key=value", flag="--set", many=True)
SOURCE = (
    Option("source", KNOWN_SOURCES, "SOURCE", flag="", needed=True),
    CLASS,
    SET,
    Option("strict", mark("refuse a config with a field that its model type does not have"), kind="switch", local=True),
    Option(
        "via", mark("transformers: build the class without weights, for a model type that is not described here"), "LIBRARY", local=True
    ),
    Option("trust_remote_code", mark("with --via, run the source's own code"), kind="switch", local=True),
)
"""A source, and how it is read."""

LANG = Option("lang", mark("output language: en or zh (default: that of the environment, else en)"), "LANG")
FORMS = ("text", "json", "csv", "markdown", "html", "latex")
OPTIMIZER = Option(
    "optimizer", mark("optimizer, such as adamw, sgd, momentum, adafactor, adam8bit, lion, muon (default adamw)"), "WORD", default="adamw"
)
OUTPUT = (
    LANG,
    Option("form", mark("output format"), "FORM", flag="--format", choices=FORMS, local=True),
    *(
        Option("form", help, kind="switch", const=form, flag=f"--{form}", local=True)
        for form, help in (
            ("json", mark("print JSON")),
            ("csv", mark("print the tables as CSV")),
            ("markdown", mark("print Markdown")),
            ("html", mark("print an HTML page")),
        )
    ),
    Option(
        "output",
        mark("write to a file; its suffix selects the format: .html, .md, .tex, .txt, .csv, .json, .xlsx, .svg, .png"),
        "FILE",
        short="-o",
        local=True,
    ),
)
"""How the answer is given; every command with a document takes these."""

COMMON = (
    Option("traceback", mark("show where an error came from"), kind="switch", local=True),
    Option("help", mark("show this help"), kind="switch", short="-h", local=True),
)
"""What every command takes."""
