"""A model on the weighbridge: its tree, and everything the tree amounts to."""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.accounts.parameters import Tally, tally
from weighbridge.config.bind import bind, symbols
from weighbridge.config.check import defaulted, unknown
from weighbridge.config.family import Family
from weighbridge.config.fields import Sizes
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import SourceError, UsageError
from weighbridge.core.tree import Part, Row, flatten, walk

if TYPE_CHECKING:
    from typing import Any

    from weighbridge.accounts.flops import Flops
    from weighbridge.conventions.counts import Count
    from weighbridge.conventions.reconcile import Reconciliation
    from weighbridge.core.formula import Symbol
    from weighbridge.explain.derive import Derivation
    from weighbridge.explain.formulas import Formula


class Described(NamedTuple):
    """What a model from a config has beside its tree.

    Attributes:
        family: Its model type's fields and classes.
        raw: The config as given, overrides put in.
        sizes: The sizes and switches bound from it.
    """

    family: Family
    raw: dict[str, Any]
    sizes: Sizes


class Model:
    """One model, from a config, a checkpoint's header or a live module. Made by :func:`model`.

    Attributes:
        source: What it was made from, in words.
        kind: ``config``, ``checkpoint`` or ``module``.
        class_name: The class that is counted, or the empty string if a file does not tell.
        tree: The tree of parts.
        notes: What a reader should know about how the source was understood.
        description: The family, config and sizes, if it was made from a config.
        stored: Elements in the file, if it was made from a checkpoint and they are not the tree's.
    """

    __slots__ = ("class_name", "description", "kind", "notes", "source", "stored", "tree")

    def __init__(
        self,
        source: str,
        kind: str,
        tree: Part,
        *,
        class_name: str = "",
        notes: tuple[str, ...] = (),
        description: Described | None = None,
        stored: int | None = None,
    ) -> None:
        self.source = source
        self.kind = kind
        self.tree = tree
        self.class_name = class_name
        self.notes = notes
        self.description = description
        self.stored = stored

    @property
    def model_type(self) -> str | None:
        """The model type, if a config tells."""
        return self.description.family.model_type if self.description else None

    @property
    def defaulted(self) -> list[str]:
        """Key paths of the fields this class reads that were taken from the reference's defaults."""
        if self.description is None:
            return []
        known, raw, sizes = self.description
        read = _read_words(known, self.class_name, sizes)
        return list(dict.fromkeys(key for word, key in defaulted(known.fields, raw).items() if word in read))

    @property
    def unknown(self) -> list[str]:
        """Key paths in the config that no field names; they were not taken into account."""
        if self.description is None:
            return []
        return unknown(self.description.family.fields, self.description.raw, self.description.family.neutral)

    def count(self) -> Tally:
        """Count the parameters in every convention.

        >>> model("bert-base-chinese").count().unique
        102267648
        """
        counts = tally(self.tree)
        return counts if self.stored is None else counts._replace(stored=self.stored)

    def tensors(self, names: str = "reference") -> list[Row]:
        """List every tensor in the reference's order, ties named.

        Args:
            names: ``reference``; ``checkpoint``, as the reference library saves them; or another set that the
                family knows, such as ``tensorflow``.

        Raises:
            UsageError: The family does not know that set of names.

        >>> model("bert-base-uncased").tensors()[0].name
        'embeddings.word_embeddings.weight'
        """
        rows = list(flatten(self.tree))
        if names == "reference":
            return rows
        renames = self.description.family.renames if self.description else {}
        if names == "checkpoint" and self.description:
            from weighbridge.verification.checkpoint_names import saved

            return saved(rows, self.description, self.class_name)
        if names not in renames:
            known = ["reference", *(["checkpoint"] if self.description else []), *renames]
            raise UsageError(f"no names {names!r} for this model; known: {', '.join(known)}")
        renamed = (renames[names](row) for row in rows)
        return [row for found in renamed for row in ((found,) if isinstance(found, Row) else found)]

    def symbolic(self) -> tuple[Part, dict[str, Symbol], dict[str, int]]:
        """Return the tree with symbols for sizes, the symbols by letter, and their values.

        Raises:
            UsageError: The model was not made from a config.
        """
        if self.description is None:
            raise UsageError(f"{self.source}: a formula needs a config; a file's header has only numbers")
        known, raw, sizes = self.description
        lettered = symbols(known.fields, raw, sizes)
        bound = bind(known.fields, {**raw, **lettered}, like=sizes)
        table, values = _letters(bound, sizes)
        return known.classes[self.class_name](bound), table, values

    def formula(self) -> Formula:
        """Return the closed formula of the unique parameters, per module and in total.

        >>> str(model("bert-base-uncased").formula())
        'V*H + S*H + T*H + H^2 + 3*H + L*(4*H^2 + 2*H*I + 9*H + I)'
        """
        from weighbridge.explain.formulas import parameter_formula

        return parameter_formula(self)

    def explain(self, lang: str = "en", module: str = "", depth: int | None = None) -> Derivation:
        """Derive the number of parameters: sections, formulas, substitutions, numbers.

        Args:
            lang: The language of titles and sentences, ``en`` or ``zh``.
            module: Only this module, such as ``encoder.layer.attention``.
            depth: How many levels of sections to keep.

        >>> model("bert-base-chinese").explain("zh").total
        102267648
        """
        from weighbridge.explain.derive import derive

        return derive(self, lang, module=module, depth=depth)

    def counts(self, lang: str = "en") -> tuple[Count, ...]:
        """List all legitimate counts, each with its definition and where that custom is found.

        >>> [row.value for row in model("bert-base-uncased").counts() if row.key == "scaling-law"]
        [84934656]
        """
        from weighbridge.conventions.counts import counts

        return counts(self, lang)

    def reconcile(self, number: str | int, lang: str = "en") -> Reconciliation:
        """Find the conventions in which this model has *number* parameters.

        Args:
            number: An int, or text such as ``109,482,240``, ``110M``, ``1.1亿``.
            lang: The language of the words.

        >>> model("bert-base-uncased").reconcile(108808704).matches[0].convention
        'BertModel without linear biases and pooler'
        """
        from weighbridge.conventions.reconcile import reconcile

        return reconcile(self, number, lang)

    def flops(
        self,
        batch: int = 1,
        seq: int = 128,
        decoder_seq: int | None = None,
        encoder_seq: int | None = None,
        images: int | None = None,
        patches: tuple[int, int] | None = None,
        audios: int | None = None,
        question: int | None = None,
    ) -> Flops:
        """Count the arithmetic of one pass.

        Args:
            batch: Examples.
            seq: Tokens per example; of the encoder, where there are both.
            decoder_seq: Tokens of the decoder, where there are both; by default *seq*.
            encoder_seq: Length of the states a decoder's cross-attention looks at; without it, it does not run.
            images: Images per example, of a language model that sees; without it, its vision tower does not run. An
                image cut into crops counts as many. *seq* counts the tokens that images take up in the text.
            patches: Rows and columns of patches of each image, where a model reads images of any size.
            audios: Clips of sound per example, of a language model that hears.
            question: Tokens of each example that see the whole text, of a class that answers questions so (Longformer).

        Raises:
            UsageError: A number that cannot be meant, images for a model that sees none beside its text, or a model
                that was not made from a config.

        >>> model("bert-base-uncased").flops(batch=1, seq=128).forward_matmul
        22348431360
        """
        from weighbridge.accounts.flops import flops, named, streams

        if self.description is None:
            # Tensors alone do not say what attends to what, how often a part runs, or how many tokens it sees.
            raise UsageError(f"{self.source}: the arithmetic needs a config; this has only tensors")
        lengths = streams(seq, decoder_seq, encoder_seq, images, patches, audios, question)
        for name, value in (("batch", batch), *lengths.items()):
            if type(value) is not int or value < 1:
                name = {"decoder": "decoder_seq", "encoder": "encoder_seq"}.get(name, name)
                raise UsageError(f"{name}: expected a whole number from 1 up, found {value!r}")
        for name, what in (("images", "sees no images"), ("audios", "hears nothing")):
            if name in lengths and all(part.given != name for _, part in walk(self.tree)):
                raise UsageError(f"{name}: {self.class_name or 'this model'} {what} beside its text")
        if question is not None and (question > seq or not any("question" in named(part) for _, part in walk(self.tree))):
            why = f"is longer than the text of {seq:,} tokens" if question > seq else f"sees no more than other tokens in {self.class_name}"
            raise UsageError(f"question: it {why}")
        if patches is not None and images is None:
            if any(part.given == "images" for _, part in walk(self.tree)):
                raise UsageError("patches: of how many images? say how many images each example has")
            if not any("rows" in named(part) for _, part in walk(self.tree)):
                raise UsageError(f"patches: {self.class_name} reads no images of any size")
        return flops(self.tree, lengths, batch)

    def named(self, source: str) -> Model:
        """Return the same model under another name.

        >>> model({"model_type": "bert"}).named("mine").source
        'mine'
        """
        return Model(
            source, self.kind, self.tree, class_name=self.class_name, notes=self.notes, description=self.description, stored=self.stored
        )

    def to_pandas(self) -> Any:
        """Return the tensors as a pandas DataFrame (extra ``frames``)."""
        from weighbridge.documents.frames import pandas_frame

        return pandas_frame(self)

    def to_polars(self) -> Any:
        """Return the tensors as a polars DataFrame (extra ``frames``)."""
        from weighbridge.documents.frames import polars_frame

        return polars_frame(self)

    def plot(self) -> Any:
        """Draw the treemap as a matplotlib figure (extra ``charts``)."""
        from weighbridge.accounts.ledger import ledger
        from weighbridge.accounts.parameters import PARAMETERS
        from weighbridge.documents.document import Picture
        from weighbridge.documents.renderers.chart import figure

        return figure(Picture(ledger(self.tree, PARAMETERS)))

    def _repr_html_(self) -> str:
        """Show the counting table, which folds, with its treemap in a notebook."""
        from weighbridge.documents.count import notebook

        return notebook(self)

    def __repr__(self) -> str:
        return f"<Model {self.class_name or self.kind} {self.source}: {self.count().unique:,} parameters>"


def model(
    source: object,
    model_class: str | None = None,
    overrides: Mapping[str, Any] | None = None,
    *,
    via: str | None = None,
    trust_remote_code: bool = False,
) -> Model:
    """Put a model on the weighbridge.

    Args:
        source: A preset's name, the path of a config, a directory or a checkpoint, ``-`` for a config on
            standard input, a config as a mapping, or a live module.
        model_class: The class to count; by default what the config's ``architectures`` says, else the base class.
        overrides: Config fields to set; a dotted key reaches into a sub-config.
        via: ``transformers`` builds the class with that library on the meta device, in place of a blueprint.
        trust_remote_code: With *via*, run the code that the source brings along.

    Raises:
        SourceError: Nothing of that name.
        ConfigError: A config that is wrong; :class:`UnknownArchitecture` where no blueprint describes it.
        ReadError: A damaged file.

    >>> model({"model_type": "bert", "num_hidden_layers": 24}).count().unique
    194536704
    """
    from weighbridge import opening

    if via is not None:
        return opening.via(source, model_class, overrides, via, trust_remote_code)
    if isinstance(source, Mapping):
        return opening.from_config(dict(source), "config", model_class, overrides)
    if hasattr(source, "named_parameters"):
        from weighbridge.readers.module import read_module

        return read_module(source)
    if not hasattr(source, "__fspath__") and not isinstance(source, str):
        raise SourceError(f"cannot weigh a {type(source).__name__}; expected a name, a path, a mapping or a module")
    from weighbridge import sources

    text = str(source)
    if text == "-":
        return opening.from_config(sources.standard_input(), "standard input", model_class, overrides)
    found = sources.preset(text)
    if found is not None:
        return opening.from_config(found.config, text, model_class, overrides)
    return opening.from_path(text, model_class, overrides)


def count(source: object, model_class: str | None = None, overrides: Mapping[str, Any] | None = None) -> Tally:
    """Count the parameters of *source*: short for ``model(...).count()``.

    >>> count("bert-base-uncased").unique
    109482240
    """
    return model(source, model_class, overrides).count()


def _read_words(known: Family, class_name: str, sizes: Sizes) -> set[str]:
    """Return our words for the fields that a class's blueprint reads, by watching it read."""
    read: set[str] = set()
    known.classes[class_name](_watched(sizes, read, ""))
    return read


def _watched(sizes: Sizes, read: set[str], path: str) -> Sizes:
    class Watched(Sizes):
        def __getattr__(self, word: str) -> Any:
            value = getattr(sizes, word)
            read.add(path + word)
            return _watched(value, read, f"{path}{word}.") if isinstance(value, Sizes) else value

    return Watched()


def _letters(bound: Sizes, sizes: Sizes) -> tuple[dict[str, Symbol], dict[str, int]]:
    from weighbridge.core.formula import Symbol

    table: dict[str, Symbol] = {}
    values: dict[str, int] = {}
    for word, value in vars(bound).items():
        if isinstance(value, Sizes):
            inner, numbers = _letters(value, getattr(sizes, word))
            table |= inner
            values |= numbers
        elif isinstance(value, Symbol):
            table[value.letter] = value
            values[value.letter] = getattr(sizes, word)
    return table, values


__all__ = ["Model", "count", "model"]
