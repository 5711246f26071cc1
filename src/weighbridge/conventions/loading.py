"""Three numbers of one model: as built from its config, as loaded from its published file, as an older release builds it.

transformers 5.23.0 decides a tie twice. When a class is built, its config's ``tie_word_embeddings`` and ``_tied_weights_keys`` decide
(``PreTrainedModel.get_expanded_tied_weights_keys``), and the configs of some families set the flag to True whatever was
given (``configuration_t5.py``: "force it for T5 family"). When a file is loaded, a tie whose two tensors are both in
the file with different values is dropped (``PreTrainedModel.tie_weights``). A published config that says
``tie_word_embeddings: false`` belongs to a file with a head of its own.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge.accounts.parameters import count, unique_of
from weighbridge.config.bind import bind, with_overrides
from weighbridge.config.fields import Config
from weighbridge.conventions.quantised import quantizer_change, stated_quantizer
from weighbridge.core._namedtuple import TYPE_CHECKING, NamedTuple
from weighbridge.core.errors import WeighbridgeError
from weighbridge.core.sizes import Size, product
from weighbridge.core.tree import Node, Part, Row, Tensor, list_rows, walk

if TYPE_CHECKING:
    from weighbridge.value import ModelValue

RELEASE = "5.23.0"
"""The release of transformers that blueprints describe."""
OLDER = "4.57"
"""The last series of version 4."""


class Loading(NamedTuple):
    """What loading, or an older release, makes of a class.

    Attributes:
        built: Unique parameters as built from the config.
        loaded: As loaded from the file that the config was published with.
        older: As version 4.57 builds it from the same config.
        separate: The tensors that are tied when built, and of their own when loaded.
        quantizer: Parameters more or less that the config's quantizer makes: scales, values that share an element, matrices that are
            buffers; None where what it makes of the matrices is not counted (then *loaded* counts them as they were before).
    """

    built: int
    loaded: int
    older: int
    separate: tuple[str, ...]
    quantizer: int | None = 0

    @property
    def differs(self) -> bool:
        """Whether the three are not one."""
        return not self.built == self.loaded == self.older


def loading_of(model: ModelValue) -> Loading | None:
    """Return the three counts of a model made from a config; None for a model from a file or a module.

    >>> from weighbridge import model
    >>> counts = loading_of(model("flan-t5-base"))
    >>> counts.built, counts.loaded, counts.separate
    (222903552, 247577856, ('lm_head.weight',))
    """
    if model.description is None:
        return None
    built = unique_of(model)
    rows = untied_heads(model)
    change = quantizer_change(model) if stated_quantizer(model) else 0
    loaded = built + sum(_elements(row) for row in rows) + (change or 0)
    older = count(older_tree(model))
    assert isinstance(older, int)
    return Loading(built, loaded, older, tuple(row.name for row in rows), change)


def untied_heads(model: ModelValue) -> tuple[Row, ...]:
    """Return the heads that are tied when *model* is built although its config says that they are not."""
    if model.description is None or not says_untied(model.description.raw):
        return ()
    rows = list_rows(model.tree)
    tables = {row.name for row in rows if row.role == "embedding"}
    return tuple(row for row in rows if row.role == "weight" and row.tied_to in tables)


def count_loaded(tree: Part, raw: Mapping[str, object], built: Size) -> Size:
    """Return how many parameters a class of *built* ones has once it is loaded; the sizes of its tree may be columns.

    >>> from weighbridge import model
    >>> flan = model("flan-t5-base")
    >>> count_loaded(flan.tree, flan.description.raw, 222903552)
    247577856
    """
    if not says_untied(raw):
        return built
    parts = list(walk(tree))
    tables = {
        f"{path}.{node.name}" for path, part in parts for node in part.children if isinstance(node, Tensor) and node.role == "embedding"
    }
    for _, part in parts:
        for node in part.children:
            if isinstance(node, Tensor) and node.role == "weight" and node.tied_to in tables:
                built = built + product(node.shape)
    return built


def older_tree(model: ModelValue) -> Part:
    """Return the tree that version 4.57 builds; the very tree of *model* where the two do not differ.

    There ``tie_word_embeddings`` unties the head's matrix and nothing else (``PreTrainedModel.tie_weights``, ``_tie_or_clone_weights``):
    the bias of a BERT-like head, and the table that an encoder and a decoder share, stay one. A composite asks its text config.
    """
    if model.description is None:
        return model.tree
    if "Backbone" not in model.class_name and (swin := without_last_norm(model.tree)) != model.tree:
        return swin
    known, raw, sizes = model.description
    if known.model_type in SHARED_KEYS:
        return _with_all_keys(model)
    inner = getattr(sizes, "text", None)
    composite = isinstance(inner, Config)
    text = raw.get("text_config", {}) if composite else raw
    silent = getattr(inner, "tied", None) if composite else known.model_type not in UNTIED_BY_DEFAULT
    flag = text.get("tie_word_embeddings", silent) if isinstance(text, Mapping) else None
    outer = raw.get("tie_word_embeddings", flag)
    if known.model_type in OWN_HEADS or flag not in (True, False) or (flag and outer is not False):
        return model.tree
    keys = ("tie_word_embeddings", *(("text_config.tie_word_embeddings",) if composite and "text_config" in raw else ()))
    try:
        tied = known.classes[model.class_name](bind(known.fields, with_overrides(raw, dict.fromkeys(keys, True), known.fields)))
    except (WeighbridgeError, KeyError):
        return model.tree
    if flag:
        return model.tree if count(tied) == count(model.tree) else tied
    older = untie(tied)
    return model.tree if count(older) == count(model.tree) else older


SHARED_KEYS = {"gemma3n": "text_config.num_kv_shared_layers", "gemma3n_text": "num_kv_shared_layers"}
"""Types whose last layers take keys and values from an earlier one; 4.57 builds maps for them all the same, and published files hold these."""


def _with_all_keys(model: ModelValue) -> Part:
    """Return the tree in which no layer shares its keys and values.

    >>> from weighbridge import model
    >>> text = model({"model_type": "gemma3n_text"})
    >>> unique_of(text), count(older_tree(text))
    (6835235568, 6866696688)
    """
    assert model.description is not None
    known, raw, _ = model.description
    try:
        older = known.classes[model.class_name](bind(known.fields, with_overrides(raw, {SHARED_KEYS[known.model_type]: 0}, known.fields)))
    except (WeighbridgeError, KeyError):
        return model.tree
    return model.tree if count(older) == count(model.tree) else older


def without_last_norm(tree: Part) -> Part:
    """Return a tree whose Swin backbones lack the norm behind the last stage, which 5.23.0 builds and never uses.

    >>> from weighbridge import model
    >>> count(without_last_norm(model("grounding-dino-tiny").tree))
    172249090
    """
    names = {child.name for child in tree.children if isinstance(child, Part)}
    within = {"swin", "hidden_states_norms"} <= names
    children = []
    for child in tree.children:
        if isinstance(child, Part):
            if within and child.name == "swin":
                child = child._replace(children=tuple(node for node in child.children if node.name != "layernorm"))
            child = without_last_norm(child)
        children.append(child)
    return tree._replace(children=tuple(children))


OWN_HEADS = frozenset(("imagegpt", "kyutai_speech_to_text"))
"""Types whose head 4.57 never ties, or never unties, whatever the flag says."""
UNTIED_BY_DEFAULT = frozenset(("mt5", "umt5", "vilt"))
"""Types whose config had ``tie_word_embeddings`` False where nothing was said; 5.23.0 forces it True."""


def untie(tree: Part) -> Part:
    """Return a tree whose heads own the matrices that word tables hold for them.

    >>> from weighbridge import model
    >>> count(untie(model("flan-t5-base").tree))
    247577856
    """
    rows = list_rows(tree)
    return _untie(
        tree, frozenset(row.name for row in rows if row.role == "embedding"), frozenset(row.name for row in rows if row.role == "weight")
    )


def _untie(tree: Part, tables: frozenset[str], heads: frozenset[str]) -> Part:
    children: list[Node] = []
    for child in tree.children:
        if isinstance(child, Part):
            children.append(_untie(child, tables, heads))
        elif isinstance(child, Tensor) and child.tied_to in {"weight": tables, "embedding": heads}.get(child.role, ()):
            children.append(child._replace(tied_to=None))
        else:
            children.append(child)
    return tree._replace(children=tuple(children))


def says_untied(raw: Mapping[str, object]) -> bool:
    """Tell whether a config, or the config of its text half, says that its head is no tie."""
    if "tie_word_embeddings" in raw:
        return raw["tie_word_embeddings"] is False
    return any(says_untied(inner) for key, inner in raw.items() if key in ("text_config", "decoder") and isinstance(inner, Mapping))


def _elements(row: Row) -> int:
    count = row.count
    assert isinstance(count, int)
    return count
