"""All legitimate counts of one model side by side, each with its definition and where that convention is found."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from weighbridge.accounts.ledger import ledger
from weighbridge.accounts.parameters import PARAMETERS, tally_of
from weighbridge.conventions.atoms import Atom, Parts, parts_of
from weighbridge.conventions.loading import loading_of
from weighbridge.conventions.omissions import TABLES
from weighbridge.conventions.views import count_classes
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.messages import mark, translator
from weighbridge.core.tree import Part, walk
from weighbridge.presets import preset

if TYPE_CHECKING:
    from weighbridge.value import ModelValue


class Count(NamedTuple):
    """One legitimate count.

    Attributes:
        key: Its anchor in docs/counting-rules.md.
        group: ``class``, ``loading``, ``storage``, ``left out``, ``part``, ``law`` or ``published``.
        class_name: The class it is of.
        name: What it is called.
        value: The number; None where only a rounded figure was published.
        written: The number as its authors wrote it, for a published figure.
        definition: What is counted.
        source: In which paper, tool or README the convention is used.
    """

    key: str
    group: str
    class_name: str
    name: str
    value: int | None
    written: str
    definition: str
    source: str


class GeneralConvention(NamedTuple):
    """A way of counting that holds for any model."""

    key: str
    group: str
    name: str
    definition: str
    source: str
    count: Callable[[Parts], int]


def _total_of(keep: Callable[[Atom], bool]) -> Callable[[Parts], int]:
    return lambda taken: sum(atom.total for atom in taken.atoms if keep(atom))


def _one_layer(taken: Parts) -> int:
    """Count one copy of the layers, if they are all alike."""
    layers = {atom.layer for atom in taken.atoms if atom.layer}
    return sum(atom.each for atom in taken.atoms if atom.layer) if len(layers) == 1 else 0


CUSTOMS = (
    GeneralConvention("stored", "storage", mark("stored"), mark("unique parameters and saved buffers: what the tensors of a file add up to"),
           mark("the header of a safetensors file written by save_pretrained; the parameter count that the Hugging Face Hub shows"), lambda taken: taken.unique + taken.buffers),
    GeneralConvention("ties", "storage", mark("ties counted twice"), mark("every name counted as if it had storage of its own"),
           mark("named_parameters(remove_duplicate=False) of PyTorch; summaries that walk module by module"), lambda taken: taken.unique + sum(atom.total for atom in taken.tied)),
    GeneralConvention("embeddings", "left out", mark("without embeddings"), mark("all lookup tables left out: words, positions, token types"),
           mark("num_parameters(exclude_embeddings=True) of transformers; Kaplan et al. 2020 (arXiv 2001.08361), section 2.1"), _total_of(lambda atom: atom.component not in TABLES)),
    GeneralConvention("word-embeddings", "left out", mark("without word embeddings"), mark("the vocabulary table left out, position and type tables kept"),
           mark("“non-embedding” figures in model cards, such as those of Qwen2.5 and Qwen3"), _total_of(lambda atom: atom.component != "word")),
    GeneralConvention("position-embeddings", "left out", mark("without position embeddings"), mark("the position table left out, the vocabulary kept, as the head uses it"),
           mark("get_num_params(non_embedding=True) in model.py of nanoGPT"), _total_of(lambda atom: atom.component != "position")),
    GeneralConvention("biases", "left out", mark("without biases"), mark("biases of linear maps left out, norms kept"),
           mark("hand calculations that write 4H² for attention and 8H² for the feed-forward network, and add the norms"), _total_of(lambda atom: atom.role != "bias")),
    GeneralConvention("norms", "left out", mark("without norms"), mark("gains and shifts of all norms left out, biases kept"),
           mark("hand calculations that call the norms negligible"), _total_of(lambda atom: not atom.of_norm)),
    GeneralConvention("matrices", "left out", mark("matrices only"), mark("weights of linear maps and tables; neither biases nor norms"),
           mark("most back-of-the-envelope formulas, such as 12LH² + VH"), _total_of(lambda atom: atom.role in ("weight", "embedding"))),
    GeneralConvention("pooler", "left out", mark("without pooler"), mark("the linear map on the first token left out"),
           mark("add_pooling_layer=False in transformers, which its masked-language-model classes use"), _total_of(lambda atom: atom.component != "pooler")),
    GeneralConvention("head", "left out", mark("backbone only"), mark("everything but the output heads"),
           mark("the base_model of a class in transformers"), _total_of(lambda atom: not atom.component.startswith("head:"))),
    GeneralConvention("layers", "part", mark("all layers"), mark("everything in the repeated layers, biases and norms included"),
           mark("hand calculations that multiply one layer by the number of layers"), _total_of(lambda atom: bool(atom.layer))),
    GeneralConvention("one-layer", "part", mark("one layer"), mark("one of the repeated layers, with biases and norms"),
           mark("hand calculations; what one more layer costs"), _one_layer),
    GeneralConvention("scaling-law", "law", mark("scaling-law N"), mark("matrices of the layers alone: no embeddings, biases, norms or head; 12LH² where I = 4H"),
           mark("Kaplan et al. 2020 (arXiv 2001.08361), equation 2.1: N ≈ 2 d_model n_layer (2 d_attn + d_ff)"), _total_of(lambda atom: bool(atom.layer) and atom.role == "weight")),
    GeneralConvention("layers-and-tables", "law", mark("layers, words and positions"), mark("all layers with biases and norms, and the word and position tables; no token types, no norm outside the layers, no pooler"),
           mark("Narayanan et al. 2021 (arXiv 2104.04473), equation 2: P = 12lh²(1 + 13/(12h) + (V + s)/(12lh))"), _total_of(lambda atom: bool(atom.layer) or atom.component in ("word", "position"))),
)  # fmt: skip


def counts(model: ModelValue, lang: str = "en") -> tuple[Count, ...]:
    """List the legitimate counts of *model*; what does not differ from the plain count of its class is left out.

    Args:
        model: Any model; one from a config is counted in every class of its family too.
        lang: The language of names, definitions and sources.

    >>> from weighbridge import model
    >>> {row.key: row.value for row in counts(model("bert-base-uncased")) if row.group == "left out"}["biases"]
    109398528
    """
    say = translator(lang)

    def row(key: str, group: str, class_name: str, name: str, value: int | None, definition: str, source: str, written: str = "") -> Count:
        return Count(key, group, class_name, say(name), value, written, say(definition), say(source))

    classes = class_counts(model).items()
    rows = [row("unique", "class", name, name, value, *_class_words(name, index)) for index, (name, value) in enumerate(classes)]
    own = _merge_alike(parts_of(model))
    unique = own.unique
    reads_words = any(atom.component == "word" for atom in own.atoms)  # both laws are of language models
    for custom in CUSTOMS:
        if custom.group == "law" and not reads_words:
            continue
        value = custom.count(own)
        if value not in (unique, 0):
            rows.append(row(custom.key, custom.group, rows[0].class_name, custom.name, value, custom.definition, custom.source))
    tally = tally_of(model)
    counted = (("trainable", tally.trainable, TRAINABLE), ("active", tally.active, ACTIVE))
    for key, amount, words in counted:
        if isinstance(amount, int) and amount != unique:
            rows.append(row(key, "part", rows[0].class_name, words[0], amount, words[1], words[2]))
    rows += [row(key, "loading", rows[0].class_name, name, amount, *words) for key, name, amount, *words in _loading_rows(model)]
    for name, amount in _towers(model):
        rows.append(row("tower", "part", rows[0].class_name, name, amount, *TOWER))
    rows += [
        row("published", "published", "", PUBLISHED[0], None, PUBLISHED[1], source, written) for written, source in _published_rows(model)
    ]
    return tuple(rows)


LOADED = (
    mark("as loaded from its published file"),
    mark("the class after from_pretrained: ties whose two tensors differ in the file are untied, and FP8 has scales beside its matrices"),
    mark("num_parameters() after from_pretrained in transformers; the parameter count that the Hugging Face Hub shows"),
)
BY_OLDER = (
    mark("as transformers 4.57 builds it"),
    mark("unique parameters of the class that an older release of the library makes from the same config"),
    mark("num_parameters() in transformers 4.57"),
)


def _loading_rows(model: ModelValue) -> Iterator[tuple[str, str, int, str, str]]:
    found = loading_of(model)
    if found is not None and found.loaded != found.built:
        yield "loaded", LOADED[0], found.loaded, LOADED[1], LOADED[2]
    if found is not None and found.older != found.built:
        yield "older-release", BY_OLDER[0], found.older, BY_OLDER[1], BY_OLDER[2]


TRAINABLE = (
    mark("trainable"),
    mark("unique parameters that are not frozen"),
    mark("num_parameters(only_trainable=True) of transformers"),
)
ACTIVE = (
    mark("active"),
    mark("unique parameters that one token uses: of the experts, only those chosen"),
    mark("“active parameters” of Mixtral (arXiv 2401.04088) and DeepSeek-V3 (arXiv 2412.19437)"),
)
TOWER = (
    mark("unique parameters of this part of a multimodal model"),
    mark("model cards that list the language model, the vision tower and the projector separately"),
)
SENSES = frozenset(("vision", "audio"))
"""Kinds of parts whose presence makes a model one of several towers."""
PUBLISHED = (mark("published"), mark("the figure its authors give"))


def _class_words(name: str, index: int) -> tuple[str, str]:
    source = mark("sum(p.numel() for p in model.parameters()) in PyTorch; num_parameters() in transformers")
    if index == 0:
        return mark("unique parameters of the class that is weighed, tied tensors once"), source
    return mark("unique parameters of this class for the same config"), source


def class_counts(model: ModelValue) -> dict[str, int]:
    """Return the unique parameters of a model in its class, and in the others of its family for the same config.

    >>> from weighbridge import model
    >>> class_counts(model("bert-base-uncased"))["BertForMaskedLM"]
    109514298
    """
    return dict(count_classes(model))


def _merge_alike(taken: Parts) -> Parts:
    """Put the atoms of one component, role and layer together: a general convention asks for no more of them."""
    sums: dict[tuple[str, str, str, int], int] = {}
    for atom in taken.atoms:
        key = (atom.component, atom.role, atom.layer, atom.copies)
        sums[key] = sums.get(key, 0) + atom.each
    merged = (Atom(component, role, "", layer, each, copies, 0, False, "", 0, 0) for (component, role, layer, copies), each in sums.items())
    return taken._replace(atoms=tuple(merged))


def _towers(model: ModelValue) -> Iterator[tuple[str, int]]:
    """Yield the parts of a model of several towers, each with what it holds of its own: towers, projections, the language model."""
    for path, part in walk(model.tree):
        inner = [child for child in part.children if isinstance(child, Part)]
        if any(child.kind in SENSES for child in inner):
            for child in inner:
                amount = ledger(child, PARAMETERS).amount
                if isinstance(amount, int) and amount:
                    yield f"{path}.{child.name}" if path else child.name, amount
            return


def _published_rows(model: ModelValue) -> Iterator[tuple[str, str]]:
    found = preset(model.source)
    if found is not None and found.published:
        yield found.published, found.source
