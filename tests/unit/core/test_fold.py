"""Folding names into the tree: equal numbered modules become one, and unfolding gives every name back."""

from __future__ import annotations

import gc
import random

import pytest
from hypothesis import given

from tests.property.strategies import listings
from weighbridge import model
from weighbridge.accounts.adapters.modules import modules
from weighbridge.core import fold as folding
from weighbridge.core.errors import ReadError
from weighbridge.core.fold import fold, in_tree_order, is_index, kind_of, pieces
from weighbridge.core.tree import Every, Part, Row, Tensor, flatten, walk
from weighbridge.readers.roles import rank


def row(name: str, *shape: int, role: str = "weight") -> Row:
    return Row(name, shape, role, None, None, False)


def parts(part: Part) -> list[Part]:
    return [child for child in part.children if isinstance(child, Part)]


def test_equal_layers_become_one() -> None:
    tree = fold([row(f"h.{n}.{name}.weight", 4, 4) for n in range(3) for name in ("a", "b")])
    (layer,) = parts(tree)
    assert (layer.name, layer.repeat, layer.indices, layer.kind) == ("h", 3, None, "layer")
    assert [child.name for child in parts(layer)] == ["a", "b"]


def test_unlike_layers_stand_where_they_stand() -> None:
    tree = fold([row(f"h.{n}.w.weight", 4, 8 if n % 2 else 4) for n in range(6)] + [row("h.6.w.weight", 4, 8), row("h.9.w.weight", 1)])
    assert [(part.repeat, part.indices) for part in parts(tree)] == [(3, Every(0, 2)), (4, (1, 3, 5, 6)), (1, Every(9, 1))]
    assert [found.name for found in flatten(tree)] == [f"h.{n}.w.weight" for n in (0, 1, 2, 3, 4, 5, 6, 9)]


def test_numbers_beside_names_keep_their_module() -> None:
    names = ["b.w", "b.norm.w", "b.0.w", "b.1.w", "0.w", "1.0.w", "1.1.w"]
    tree = fold([row(name, 2) for name in names])
    assert sorted(found.name for found in flatten(tree)) == sorted(names)


def test_experts_fold_inside_layers() -> None:
    tree = fold([row(f"layers.{n}.mlp.experts.{e}.w1.weight", 8, 4) for n in range(4) for e in range(8)])
    (layer,) = parts(tree)
    (experts,) = parts(parts(layer)[0])
    assert (layer.repeat, experts.name, experts.repeat) == (4, "experts", 8)


def test_a_tie_keeps_a_layer_apart() -> None:
    tied = Row("h.1.w", (2,), "weight", "h.0.w", None, False)
    assert [part.repeat for part in parts(fold([row("h.0.w", 2), tied, row("h.2.w", 2)]))] == [2, 1]


def test_a_name_twice_is_refused() -> None:
    with pytest.raises(ReadError, match=r"the name 'a\.w' occurs twice"):
        fold([row("a.w", 2), row("a.w", 3)])


@given(listings)
def test_flatten_undoes_fold(tensors: dict[str, tuple[tuple[int, ...], str]]) -> None:
    """The law: nothing is lost, added or renamed."""
    rows = [row(name, *shape, role=role) for name, (shape, role) in tensors.items()]
    assert sorted(flatten(fold(rows))) == sorted(rows)


@pytest.mark.parametrize(
    "names",
    [
        ["model.encoder.block.weight", "model.encoder.block.bias"],
        ["model.encoder.block.dense.weight", "model.encoder.norm.weight", "model.encoder.norm.bias"],
        [
            "visual.blocks.0.attention.query.weight",
            "visual.blocks.0.attention.key.weight",
            "visual.blocks.1.attention.query.weight",
            "visual.blocks.1.attention.key.weight",
        ],
        ["a.bc.def.w", "a.bc.deg.w"],
    ],
)
def test_modules_that_hold_nothing_but_the_next_keep_their_names(names: list[str]) -> None:
    tree = fold([row(name, 2, 3) for name in names])
    assert sorted(found.name for found in flatten(tree)) == sorted(names)


@pytest.mark.parametrize(
    ("name", "count"),
    [("a.b", 2), ("a..b", 1), (".a", 1), ("a.", 1), ("", 1), (".", 1), ("w", 1), (".".join("a" * 64), 64), (".".join("a" * 65), 1)],
)
def test_a_name_is_cut_at_its_dots_unless_a_piece_is_empty_or_it_is_too_deep(name: str, count: int) -> None:
    assert len(pieces(name)) == count
    assert ".".join(pieces(name)) == name


@pytest.mark.parametrize(
    ("piece", "number"),
    [
        ("0", True),
        ("9", True),
        ("10", True),
        ("00", False),
        ("01", False),
        ("9" * 9, True),
        ("1" * 10, False),
        ("٣", False),
        ("", False),
        ("a1", False),
    ],
)
def test_what_is_the_number_of_a_module(piece: str, number: bool) -> None:
    assert is_index(piece) is number


@pytest.mark.parametrize("seed", range(6))
def test_names_that_tell_of_too_many_modules_are_kept_in_one_piece(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A module is a beginning of a name that ends before a dot; as many as are allowed are folded, one more is not."""
    chance = random.Random(seed)
    names = {".".join([*(chance.choice("abc") for _ in range(chance.randrange(5))), f"w{n}"]) for n in range(chance.randrange(2, 30))}
    rows = [row(name, 2) for name in sorted(names, key=lambda _: chance.random())]
    modules = {name[:at] for name in names for at, letter in enumerate(name) if letter == "."}
    for most, in_one_piece in ((len(modules) + 1, False), (len(modules), False), (len(modules) - 1, True), (len(modules) // 2, True)):
        monkeypatch.setattr(folding, "MOST_MODULES", most)
        tree = fold(rows)
        assert sorted(found.name for found in flatten(tree)) == sorted(names)
        whole = [node.name for node in tree.children if isinstance(node, Tensor) and "." in node.name]
        assert bool(whole) == (in_one_piece and bool(modules)), (most, names)
    monkeypatch.setattr(folding, "MOST_MODULES", -1)
    with pytest.raises(ReadError, match="occurs twice"):
        fold([*rows, rows[0]])


def test_folding_leaves_the_collector_as_it_was() -> None:
    assert gc.isenabled()
    fold([row("a.w", 2)])
    assert gc.isenabled()
    gc.disable()
    try:
        fold([row("a.w", 2)])
        assert not gc.isenabled()
    finally:
        gc.enable()


@pytest.mark.parametrize(
    ("numbers", "indices"),
    [
        ((0, 1, 2), None),
        ((0,), None),
        ((3,), Every(3, 1)),
        ((1, 2), Every(1, 1)),
        ((0, 2, 4), Every(0, 2)),
        ((2, 5, 8), Every(2, 3)),
        ((0, 1, 3), (0, 1, 3)),
        ((0, 2, 3), (0, 2, 3)),
    ],
)
def test_where_equal_layers_stand(numbers: tuple[int, ...], indices: object) -> None:
    tree = fold([row(f"h.{n}.w", 2) for n in reversed(numbers)])
    (layer,) = parts(tree)
    assert (layer.repeat, layer.indices) == (len(numbers), indices)
    assert [found.name for found in flatten(tree)] == [f"h.{n}.w" for n in numbers]


def test_children_stand_in_the_order_that_is_asked_for() -> None:
    rows = [row(f"{name}.w", 2) for name in ("pooler", "head", "embeddings", "layers")]
    order = ["embeddings", "layers", "pooler", "head"]
    assert [part.name for part in parts(fold(rows, order.index))] == order
    assert [part.name for part in parts(fold(rows))] == ["pooler", "head", "embeddings", "layers"]


@pytest.mark.parametrize("name", ["bert-base-uncased", "gpt2", "resnet-50", "llama-3.2-1b", "whisper-tiny"])
def test_what_owns_tensors_is_of_the_kind_that_the_architecture_says(name: str) -> None:
    """Names, roles and shapes of a file are enough to tell maps, tables, norms and convolutions apart."""
    tree = model(name).tree
    plain = {"linear", "embedding", "layer_norm", "rms_norm", "batch_norm", "convolution"}
    said = {path: part.kind for path, part in walk(tree) if part.kind in plain and any(isinstance(node, Tensor) for node in part.children)}
    found = {path: part.kind for path, part in walk(fold(flatten(tree)))}
    both = said.keys() & found.keys()  # layers that differ in a shape are folded otherwise
    assert len(both) > 1
    assert {path: found[path] for path in both} == {path: said[path] for path in both}


WEIGHT = {size: Tensor("weight", (4,) * size, "weight") for size in range(1, 7)}
GAIN, SHIFT, MEAN = Tensor("weight", (4,), "gain"), Tensor("bias", (4,), "shift"), Tensor("running_mean", (4,), "buffer")


@pytest.mark.parametrize(
    ("name", "children", "kind"),
    [
        ("dense", (WEIGHT[2],), "linear"), ("conv", (WEIGHT[3],), "convolution"), ("conv", (WEIGHT[4],), "convolution"),
        ("conv", (WEIGHT[5],), "convolution"), ("x", (WEIGHT[1],), "block"), ("x", (WEIGHT[6],), "block"),
        ("wte", (Tensor("weight", (9, 4), "embedding"),), "embedding"), ("norm1", (GAIN, SHIFT), "layer_norm"), ("bn", (GAIN, SHIFT, MEAN), "batch_norm"),
        ("q_norm", (GAIN,), "rms_norm"), ("ln_1", (GAIN,), "rms_norm"), ("scale", (GAIN,), "block"), ("gamma", (Tensor("gamma", (4,), "gain"),), "block"),
        ("", (), "layer"), ("mlp", (), "feed_forward"), ("ffn", (), "feed_forward"), ("feed_forward", (), "feed_forward"), ("intermediate", (), "feed_forward"),
        ("self_attn", (), "self_attention"), ("Attention", (), "self_attention"), ("encoder_attn", (), "cross_attention"),
        ("EncDecAttention", (), "cross_attention"), ("crossattention", (), "cross_attention"), ("cross_attn", (), "cross_attention"),
        ("embeddings", (), "embeddings"), ("encoder", (), "encoder"), ("decoder", (), "decoder"), ("pooler", (), "pooler"), ("other", (), "block"),
        ("encoder", (Part("", (), "block"),), "encoder"), ("attention", (Part("self", ()), Part("output", ())), "self_attention"),
    ],
)  # fmt: skip
def test_what_a_module_is_by_its_name_and_tensors(name: str, children: tuple[Tensor | Part, ...], kind: str) -> None:
    assert kind_of(name, children) == kind


PIECES = ("a", "b", "embed", "norm", "attn", "mlp", "0", "1", "2", "10", "01", "x_", "a_", "", "layers", "lm_head", "-1", "9999999999")


def strange_rows(seed: int) -> list[Row]:
    """Return tensors whose names put together a few pieces: numbers, empty ones, ends in an underscore."""
    draw = random.Random(seed)
    few = draw.sample(PIECES, draw.randint(2, 7))
    names = {
        ".".join([draw.choice(few) for _ in range(draw.randint(0, 4))] + [draw.choice((*few, "weight", "bias"))])
        for _ in range(draw.randint(1, 40))
    }
    roles = ("weight", "weight", "gain", "bias", "embedding", "buffer")
    return [row(name, *(2,) * draw.randint(1, 3), role=draw.choice(roles)) for name in draw.sample(sorted(names), len(names))]


@pytest.mark.parametrize("by", [None, rank])
def test_the_order_of_the_tree_needs_no_tree(by: object) -> None:
    """What lists tensors of a large file folds nothing, and gives them as the tree would, kinds of modules too."""
    for seed in range(400):
        rows = strange_rows(seed)
        tree = fold(rows, by)  # type: ignore[arg-type]
        listed = in_tree_order(rows, by)  # type: ignore[arg-type]
        assert list(flatten(tree)) == listed, seed
        assert modules(tree, listed) == modules(listed, listed), seed


@pytest.mark.parametrize("name", ["expert_.0.w", "a_.3", "b.1.x_.0.k"])
def test_a_list_whose_name_ends_in_an_underscore_keeps_its_dot(name: str) -> None:
    """``expert_0`` and ``expert_.0`` are two names, and both may stand in one file."""
    rows = [row(name, 2), row(name.replace("_.", "_"), 3)]
    assert sorted(flatten(fold(rows))) == sorted(rows)


def test_a_name_twice_is_refused_before_a_tree_is_made() -> None:
    with pytest.raises(ReadError, match=r"'a\.w' occurs twice"):
        in_tree_order([row("a.w", 2), row("b", 1), row("a.w", 3)])
