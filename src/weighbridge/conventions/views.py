"""What a counting convention starts from: a class of the family, or a part of one, with what other libraries and files count beside it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache

from weighbridge.accounts.parameters import count, tally
from weighbridge.config.bind import bind
from weighbridge.conventions.additions import LABELS as LABEL_COUNTS
from weighbridge.conventions.additions import additions
from weighbridge.conventions.atoms import Atom, Parts, parts, parts_of
from weighbridge.conventions.causal_masks import mask_pieces
from weighbridge.conventions.omissions import (
    LABELS,
    OFFSET,
    OMISSIONS,
    TABLES,
    TWICE_NOT_WITHOUT,
    Omission,
    tower_and_head_omissions,
    traits,
)
from weighbridge.conventions.pieces import Piece
from weighbridge.conventions.pipelines import companions
from weighbridge.conventions.published_otherwise import extra_pieces
from weighbridge.conventions.quantized_counts import quantizer_change, quantizer_name, stated_quantizer
from weighbridge.conventions.states import states
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import WeighbridgeError
from weighbridge.core.messages import mark
from weighbridge.core.sizes import round_up
from weighbridge.core.tree import Part

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

MOST_TOWERS = 24
"""Towers that are counted by themselves; a file with more has modules that are called so."""
MOST_LAYERS = 256
"""Kinds of layers that are counted one by one; a file with more has unlike modules in a row."""
MOST_LABELS_OF_TEXTS = 151
"""More labels have only images and sounds (CLINC has 150 intents, and one for none)."""


class Cell(NamedTuple):
    """Parameters that the same omissions cover."""

    covered: int
    label: str
    amount: int
    tied: bool = False


class View(NamedTuple):
    """What a convention starts from: a class, or a part of one.

    Attributes:
        class_name: The class.
        class_count: Its unique parameters.
        scope: A key of :data:`SCOPES`, a module's path, or the empty string for the whole class.
        cells: What it holds.
        outside: What of the class it does not hold.
        added: What it counts beyond the class's unique parameters.
        omissions: What can be left out of it.
        cost: How far-fetched it is.
        depth: How many things may be left out of it at once.
        less: What it counts less of than the class has, such as rows of a table.
        barred: Keys of omissions that make no sense beside *added* and *less*.
        state: How the class came about, if not built from its config: as loaded, or by an older release.
        gained: What that state adds to the class's unique parameters; its cells hold it.
    """

    class_name: str
    class_count: int
    scope: str
    cells: tuple[Cell, ...]
    outside: tuple[Piece, ...]
    added: tuple[Piece, ...]
    omissions: tuple[Omission, ...]
    cost: int
    depth: int
    less: tuple[Piece, ...] = ()
    barred: frozenset[str] = frozenset()
    state: str = ""
    gained: tuple[Piece, ...] = ()


def trees(model: ModelValue) -> Iterator[tuple[str, Part]]:
    """Yield the model's own class and tree, then the other classes of its family for the same config."""
    yield model.class_name or model.source, model.tree
    if model.description is None:
        return
    known, _, sizes = model.description
    for name, blueprint in known.classes.items():
        if name != model.class_name:
            try:
                yield name, blueprint(sizes)
            except (WeighbridgeError, AttributeError, TypeError):
                continue  # a class that this config cannot build is no convention of it


def unique_with_larger(model: ModelValue, word: str, by: int, class_name: str | None = None) -> int | None:
    """Return the unique parameters of the model, or of another class for its config, with one size larger, or None if it has no such size."""
    if model.description is None:
        return None
    known, raw, sizes = model.description
    field = next((field for field in known.fields if field.word == word and field.kind in ("size", "labels")), None)
    value = getattr(sizes, word, None)
    if field is None or not isinstance(value, int) or value + by < field.minimum:
        return None
    clean = {key: entry for key, entry in raw.items() if key not in field.aliases}
    try:
        amount = count(known.classes[class_name or model.class_name](bind(known.fields, {**clean, field.key: value + by})))
    except WeighbridgeError:
        return None
    assert isinstance(amount, int)
    return amount


@lru_cache(maxsize=512)
def count_classes(model: ModelValue) -> tuple[tuple[str, int], ...]:
    """Return the unique parameters of a model in its class, and in the others of its family for the same config."""
    return tuple((name, int(count(tree))) for name, tree in trees(model))  # type: ignore[arg-type]


_BARE_COST = 1
"""What another class costs by itself: with anything left out of it, or counted beside it, it costs more."""


def views(model: ModelValue, most_cost: int = 10) -> Iterator[View]:
    """Yield what people count of a model: its class first, then other states, parts and classes of it.

    Args:
        model: The model.
        most_cost: What is more far-fetched than that need not be yielded.

    >>> from weighbridge import model
    >>> [(view.class_name, view.scope, view.cost) for view in views(model("bert-base-uncased"))][0]
    ('BertModel', '', 0)
    """
    seen: set[tuple[Cell, ...]] = set()
    for index, (name, tree) in enumerate(trees(model)):
        if index and most_cost <= _BARE_COST:
            break
        taken = parts(tree) if index else parts_of(model)
        omissions = (*OMISSIONS, *tower_and_head_omissions(taken))
        view = _view(name, taken.unique, "", taken.atoms, omissions, index)
        if view.cells in seen:
            continue
        seen.add(view.cells)
        yield view
        if index == 0:
            yield from _states(model, view)
            yield from _with_scales(model, view)
            yield from _pipelines(model, view, taken)
        yield from _variants(view, taken, taken.atoms, main=index == 0)
        if index:
            yield from _other_labels(model, name, view, taken)
        if taken.tied:
            tied = (*view.cells, *(cell._replace(tied=True) for cell in _cells(taken.tied, omissions)))
            yield view._replace(cells=tied, cost=view.cost + 1, depth=2, barred=TWICE_NOT_WITHOUT)
            heads = [atom for atom in taken.tied if atom.role == "weight"]
            if heads and len(heads) < len(taken.tied):
                yield view._replace(
                    added=(Piece(mark("a head of its own"), sum(atom.total for atom in heads)),), cost=view.cost + 1, depth=2
                )
        if taken.buffers:
            yield view._replace(added=(Piece(mark("saved buffers"), taken.buffers),), cost=view.cost + 1, depth=1)
        if index == 0:
            yield from _active_parameters(tree, view)
            yield from _rotary(model, view, taken)
            yield from (view._replace(added=beside, cost=view.cost + 1, depth=0) for beside in mask_pieces(model, taken))
            yield from _with_prediction_layers(model, view, taken)
            yield from _with_padded_vocabulary(model, view) if most_cost > _BARE_COST else ()
            yield from _scopes(view, taken, omissions)
            yield from _towers(view, taken, omissions)
            yield from _towers_with_projection(view, taken, omissions)
    for name, unique in count_classes(model)[1:] if most_cost <= _BARE_COST else ():
        yield View(name, unique, "", (Cell(0, "", unique),), (), (), (), _BARE_COST, 0)


def _other_labels(model: ModelValue, name: str, view: View, taken: Parts) -> Iterator[View]:
    """Yield another class of the family with as many labels as people train for: the config of a backbone says nothing of them."""
    labels = getattr(model.description.sizes, "labels", None) if model.description else None
    if not isinstance(labels, int) or (more := unique_with_larger(model, "labels", 1, name)) is None or more <= view.class_count:
        return
    reads = any(atom.component == "word" for atom in taken.atoms)
    for other in LABEL_COUNTS:
        if other != labels and (other <= MOST_LABELS_OF_TEXTS or not reads):
            piece = Piece(f"{other:,} labels instead of {labels:,}", abs(other - labels) * (more - view.class_count))
            added, less = ((piece,), ()) if other > labels else ((), (piece,))
            yield view._replace(cost=view.cost + 2, depth=0, added=added, less=less)


def _with_scales(model: ModelValue, view: View) -> Iterator[View]:
    """Yield the class as it is loaded where the config names a quantizer."""
    change, said = quantizer_change(model) or 0, stated_quantizer(model)
    less, more = QUANTIZED.get(quantizer_name(said) if said else "", QUANTIZED["compressed-tensors"])
    if change > 0:
        yield view._replace(added=(Piece(more, change),), cost=0, depth=0)
    elif change:
        yield view._replace(less=(Piece(less, -change),), cost=0, depth=0)


_PACKED = mark("values packed into words, less their scales"), mark("scales of quantized matrices")
_BUFFERS = mark("modules whose tensors are buffers once they are quantized"), ""
QUANTIZED = {
    "fp8": ("", mark("fp8 scales, as loading makes them")),
    "bitsandbytes": (mark("values of 4 bits that share an element"), ""),
    "gptq": _BUFFERS,
    "awq": _BUFFERS,
    "compressed-tensors": _PACKED,
}
"""What there is less, or more, of a model that is loaded with a quantizer."""


def _pipelines(model: ModelValue, view: View, taken: Parts) -> Iterator[View]:
    """Yield the pipeline that a denoising network is published in, or a file that holds more than the class, also with fixed tables, which Keras's layers count."""
    for beside in (*companions(model), *extra_pieces(model.model_type, taken.atoms)):
        yield view._replace(added=beside, cost=1, depth=0)
        if taken.buffers:
            yield view._replace(added=(*beside, Piece(mark("saved buffers"), taken.buffers)), cost=2, depth=0)


def _active_parameters(tree: Part, view: View) -> Iterator[View]:
    """Yield the parameters that work on one token, as cards of mixtures of experts give them."""
    active = tally(tree).active
    if isinstance(active, int) and active < view.class_count:
        idle = Piece(mark("experts that a token does not use"), view.class_count - active)
        yield view._replace(scope="active", less=(idle,), cost=0, depth=1)


def _rotary(model: ModelValue, view: View, taken: Parts) -> Iterator[View]:
    """Yield the class with the rotary frequencies of every layer, as files held them until transformers 4.32 and Keras's weights do."""
    sizes = model.description.sizes if model.description else None
    layers, width = getattr(sizes, "layers", None), getattr(sizes, "head_dim", None)
    rotary = not any(atom.component == "position" for atom in taken.atoms)
    if rotary and isinstance(layers, int) and isinstance(width, int):
        yield view._replace(added=(Piece(mark("rotary frequencies of every layer"), layers * (width // 2)),), cost=view.cost + 1, depth=1)


def _with_prediction_layers(model: ModelValue, view: View, taken: Parts) -> Iterator[View]:
    """Yield the class with the layers for multi-token prediction that its file holds and the class leaves out.

    Each is one layer of the last kind, two norms and a map of two hidden states into one in front of it, and a norm, a word table and a
    head of its own (DeepSeek-V3, arXiv 2412.19437, section 2.2; the tensors of layer 61 in its file).
    """
    number = model.description.raw.get("num_nextn_predict_layers") if model.description else None
    experts = [atom.layer for atom in taken.atoms if atom.component == "experts" and atom.layer]
    gain = next((atom.each for atom in taken.atoms if atom.component == "norm" and atom.role == "gain"), 0)
    if type(number) is not int or not 0 < number < 100 or not experts or not gain:
        return
    inside = [atom for atom in taken.atoms if atom.layer == experts[-1]]
    tables = sum(atom.total for atom in taken.atoms if atom.component == "word" or atom.component.startswith("head:"))
    each = sum(atom.each for atom in inside) + 2 * gain * gain + 3 * gain
    scales = sum(atom.blocks for atom in taken.atoms if atom.layer) + number * sum(atom.blocks // atom.copies for atom in inside)
    whole = Piece(mark("layers for multi-token prediction"), number * (each + tables))
    yield view._replace(added=(whole,), cost=1, depth=0)
    yield view._replace(added=(whole, Piece(mark("fp8 scales, one for each 128 × 128"), scales)), cost=1, depth=0)
    yield view._replace(added=(Piece(mark("layers for multi-token prediction, their tables shared"), number * each),), cost=2, depth=0)


def _states(model: ModelValue, built: View) -> Iterator[View]:
    """Yield the class as loading its published file, or an older release of the library, makes it."""
    for state, tree in states(model):
        taken = parts(tree)
        view = _view(built.class_name, built.class_count, "", taken.atoms, (*OMISSIONS, *tower_and_head_omissions(taken)), 0)
        gained = taken.unique - built.class_count
        pieces = {"gained": (Piece(state.what, gained),)} if gained > 0 else {"outside": (Piece(state.what, -gained),)}
        yield view._replace(state=state.name, cost=state.cost, depth=2, gained=pieces.get("gained", ()), outside=pieces.get("outside", ()))


def _variants(view: View, taken: Parts, atoms: Sequence[Atom], *, main: bool) -> Iterator[View]:
    """Yield *view* with what other libraries count beside it, or in another number."""
    for addition in additions(taken, atoms, main=main):
        piece = addition.piece
        base = view._replace(
            cost=view.cost + addition.cost,
            depth=2 if addition.common else 1,
            barred=frozenset(addition.bars),
            added=(piece,) if piece.amount > 0 else (),
            less=(Piece(piece.what, -piece.amount),) if piece.amount < 0 else (),
        )
        yield base
        if addition.partner is not None:
            yield base._replace(added=(*base.added, addition.partner), cost=base.cost + 1)


def _towers(whole: View, taken: Parts, omissions: tuple[Omission, ...]) -> Iterator[View]:
    """Yield the halves of a model of several towers, which people count by themselves."""
    if not {atom.sense for atom in taken.atoms} & {"vision", "audio"}:
        return
    paths = dict.fromkeys(found for atom in taken.atoms if (found := _tower(atom)))
    for path in paths if len(paths) <= MOST_TOWERS else ():
        atoms = [atom for atom in taken.atoms if atom.path == path or atom.path.startswith(path + ".")]
        if 0 < sum(atom.total for atom in atoms) < whole.class_count:
            view = _view(whole.class_name, whole.class_count, path, atoms, omissions, 0)
            view = view._replace(outside=_difference(whole, view), cost=1, depth=1)
            yield view
            yield from _variants(view, taken, atoms, main=True)


PROJECTED = (
    ("image-tower", "vision_model", "visual_projection"),
    ("text-tower", "text_model", "text_projection"),
    ("audio-tower", "audio_model", "audio_projection"),
)
"""Towers of two-tower models, and the maps into the space that they share, which open_clip counts to them."""


def _towers_with_projection(whole: View, taken: Parts, omissions: tuple[Omission, ...]) -> Iterator[View]:
    """Yield each tower with its projection."""
    for scope, tower, projection in PROJECTED:
        atoms = [atom for atom in taken.atoms if atom.path.split(".")[0] in (tower, projection)]
        if {atom.path.split(".")[0] for atom in atoms} == {tower, projection}:
            view = _view(whole.class_name, whole.class_count, scope, atoms, omissions, 0)
            yield view._replace(outside=_difference(whole, view), cost=1, depth=1)


def _tower(atom: Atom) -> str:
    """Return the path of the tower, projector or language model that an atom belongs to."""
    pieces = atom.path.split(".")
    return ".".join(pieces[: 2 if pieces[0] == "model" and len(pieces) > 1 else 1])


def _view(name: str, unique: int, scope: str, atoms: Sequence[Atom], omissions: tuple[Omission, ...], index: int) -> View:
    cells = _cells(atoms, omissions)
    return View(name, unique, scope, cells, (), (), omissions, 1 if index else 0, 3 if index else 4)


def _cells(atoms: Sequence[Atom], omissions: tuple[Omission, ...]) -> tuple[Cell, ...]:
    """Gather atoms that the same omissions cover."""
    found: Counter[tuple[int, str]] = Counter()
    known: dict[object, tuple[int, str]] = {}
    for atom in atoms:
        key = known.get(alike := (traits(atom), not atom.layer))
        if key is None:
            covered = 0
            for index, omission in enumerate(omissions):
                if omission.covers(atom):
                    covered |= 1 << index
            key = known[alike] = covered, coarse_part(atom)
        spare = _padding_positions(atom)
        if spare:
            found[key[0] | 1 << omissions.index(OFFSET), key[1]] += spare
        found[key] += atom.total - spare
    return tuple(Cell(covered, label, amount) for (covered, label), amount in found.items())


def _padding_positions(atom: Atom) -> int:
    """Return the two rows that RoBERTa and its like keep beyond a power of two of positions."""
    rows = atom.rows
    return 2 * atom.total // rows if rows > 4 and (rows - 2) & (rows - 3) == 0 else 0


def _scopes(whole: View, taken: Parts, omissions: tuple[Omission, ...]) -> Iterator[View]:
    """Yield parts of the class that people count by themselves."""
    tables = [atom for atom in taken.atoms if atom.component in TABLES]
    inside = [atom for atom in taken.atoms if atom.layer]
    chosen: list[tuple[str, list[Atom]]] = [
        ("layers", inside),
        ("embeddings", [atom for atom in taken.atoms if coarse_part(atom) == "embeddings"]),
        ("tables", tables),
        ("word", [atom for atom in tables if atom.component == "word"]),
        ("pooler", [atom for atom in taken.atoms if atom.component == "pooler"]),
    ]
    for topic in ("attention", "feed_forward", "layer_norm"):
        mine = [atom for atom in inside if atom.component == topic]
        chosen += [(topic, mine), *((f"{topic}-one", one) for one in _one_layer_of_each_kind(mine))]
    chosen += [("layer", one) for one in _one_layer_of_each_kind(inside)]
    seen: set[tuple[str, tuple[Cell, ...]]] = set()
    for scope, atoms in chosen:
        if atoms:
            view = _view(whole.class_name, whole.class_count, scope, atoms, omissions, 0)
            if (scope, view.cells) in seen:
                continue  # layers of one size are one kind, whatever stands in them
            seen.add((scope, view.cells))
            yield view._replace(outside=_difference(whole, view), cost=1, depth=2)


def _one_layer_of_each_kind(atoms: Sequence[Atom]) -> Iterator[list[Atom]]:
    """Yield one copy of each kind of layer."""
    layers: dict[str, list[Atom]] = {}
    for atom in atoms:
        layers.setdefault(atom.layer, []).append(atom)
    for alike in list(layers.values())[:MOST_LAYERS]:
        yield [atom._replace(copies=1) for atom in alike]


def _difference(whole: View, view: View) -> tuple[Piece, ...]:
    left: Counter[str] = Counter()
    for cell in whole.cells:
        left[cell.label] += cell.amount
    for cell in view.cells:
        left[cell.label] -= cell.amount
    return tuple(Piece(LABELS.get(label, label), amount) for label, amount in left.items() if amount)


def _with_padded_vocabulary(model: ModelValue, view: View) -> Iterator[View]:
    """Yield the class with its vocabulary padded to a multiple, as training code does for speed."""
    vocab = getattr(model.description.sizes, "vocab", None) if model.description else None
    if not isinstance(vocab, int):
        return
    for multiple in (8, 64, 128):
        target = round_up(vocab, multiple)
        assert isinstance(target, int)
        more = unique_with_larger(model, "vocab", target - vocab) if target != vocab else None
        if more is not None and more > view.class_count:
            piece = Piece(f"vocab_size {target:,}", more - view.class_count)
            yield view._replace(added=(piece,), cost=2, depth=1)


def coarse_part(atom: Atom) -> str:
    """Return the coarse part of the model that an atom belongs to: a key of ``LABELS``, or the name of a head."""
    if atom.layer:
        return "layers"
    if atom.component in (*TABLES, "embedding_norm"):
        return "embeddings"
    if atom.component.startswith("head:"):
        return atom.component.removeprefix("head:")
    return atom.component if atom.component == "pooler" else "other"
