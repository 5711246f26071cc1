"""What the skeleton of a blueprint proposes, from modules that look like those of the reference library."""

from __future__ import annotations

import random
from types import SimpleNamespace
from typing import Any

import pytest

from truth import propose
from truth.forward_lengths import LENGTHS, place_streams
from truth.propose import CLOSE, OPEN, Fitter
from truth.source import describe
from truth.stage_loops import draw_lists
from weighbridge.blueprints.modules import feature_maps
from weighbridge.config.fields import TIED, VOCAB, Config, computed, switch
from weighbridge.core import parts
from weighbridge.core.sizes import layer_range
from weighbridge.core.tree import Every, Part, flatten, walk

HIDDEN = VOCAB._replace(word="hidden", key="hidden_size", letter="H")
TABLE = (VOCAB, HIDDEN, TIED, switch("biased", "biased", True), switch("learned", "learned", True), switch("narrow", "narrow", False))


class Tensor(SimpleNamespace):
    """A parameter as the proposal sees it: a shape, and who it is."""


class Module:
    """A module of torch as the proposal sees it."""

    _non_persistent_buffers_set = frozenset[str]()

    def __init__(self, parameters: dict[str, Tensor | None], children: dict[str, Any], **facts: Any) -> None:
        self._parameters, self._modules, self._buffers = parameters, children, dict[str, Tensor]()
        vars(self).update(facts)


class Linear(Module):
    def __init__(self, outputs: int, inputs: int, bias: bool = False, weight: Tensor | None = None) -> None:
        own = Tensor(shape=(outputs, inputs)) if weight is None else weight
        super().__init__({"weight": own, "bias": Tensor(shape=(outputs,)) if bias else None}, {})


class Embedding(Linear):
    pass


class LayerNorm(Module):
    def __init__(self, width: int, learned: bool) -> None:
        tensors: dict[str, Tensor | None] = {"weight": Tensor(shape=(width,)), "bias": Tensor(shape=(width,))}
        super().__init__(tensors if learned else dict.fromkeys(tensors), {})


class ToyAttention(Module):
    def __init__(self, width: int, bias: bool) -> None:
        super().__init__({}, {"query": Linear(width, width, bias), "key": Linear(width, width, bias)}, is_causal=True)


class ToyForCausalLM(Module):
    """A table, a projection that narrow models have, attention, a norm that may learn nothing, and a head that may be tied."""

    def __init__(self, config: Any) -> None:
        words = Embedding(config.vocab_size, config.hidden_size)
        projection = {"project": Linear(config.hidden_size, config.hidden_size)} if config.narrow else {}
        inside = {"attention": ToyAttention(config.hidden_size, config.biased), "norm": LayerNorm(config.hidden_size, config.learned)}
        tied = words._parameters["weight"] if config.tie_word_embeddings else None
        super().__init__({}, {"words": words, **projection, **inside, "head": Linear(config.vocab_size, config.hidden_size, False, tied)})
        self.config = config


def configs() -> list[SimpleNamespace]:
    """Return sixteen configs in which every switch stands both ways, beside every other's."""
    return [
        SimpleNamespace(
            vocab_size=31 + 3 * number,
            hidden_size=8 * (1 + number % 5),
            num_labels=2 + number % 3,
            tie_word_embeddings=bool(number & 1),
            biased=bool(number & 2),
            learned=bool(number & 4),
            narrow=bool(number & 8),
        )
        for number in range(16)
    ]


@pytest.fixture(scope="module")
def source() -> str:
    found = describe("ToyForCausalLM", "lm", [ToyForCausalLM(config) for config in configs()], TABLE, {}, {})
    return found.replace(OPEN, "").replace(CLOSE, "")


def test_what_a_switch_decides_hangs_on_that_switch(source: str) -> None:
    assert 'tied_to="words.weight" if c.tied else None' in source
    assert "bias=c.biased" in source
    assert '*((layer_norm("norm", c.hidden),) if c.learned else ())' in source
    assert "attend(causal=True, heads=c.heads, head_dim=c.head_dim)" in source
    assert "TODO" not in source


@pytest.mark.parametrize("number", range(16))
def test_the_proposed_tree_has_the_tensors_of_each_model(source: str, number: int) -> None:
    config = configs()[number]
    flags = {"tied": config.tie_word_embeddings, **{word: getattr(config, word) for word in ("biased", "learned", "narrow")}}
    sizes = Config(vocab=config.vocab_size, hidden=config.hidden_size, heads=1, head_dim=config.hidden_size, **flags)
    made: dict[str, Any] = {**vars(parts), "Config": Config, "Part": Part}
    exec(compile(source, "skeleton", "exec"), made)
    ours = [(row.name, row.shape, row.tied_to) for row in flatten(made["lm"](sizes))]
    assert ours == list(theirs(ToyForCausalLM(config), "", {}))


def theirs(module: Module, path: str, seen: dict[int, str]) -> Any:
    """Yield name, shape and owner of a toy's parameters, in its order."""
    for name, tensor in module._parameters.items():
        if tensor is not None:
            owner = seen.setdefault(id(tensor), path + name)
            yield path + name, tensor.shape, None if owner == path + name else owner
    for name, child in module._modules.items():
        yield from theirs(child, f"{path}{name}.", seen)


def test_a_module_that_two_switches_decide_is_asked_for_both() -> None:
    switches = {"c.before": (True, True, False, False), "c.kept": (True, False, True, False)}
    assert Fitter({}, switches).condition({0}, {0, 1, 2, 3}) == "c.before and c.kept"
    assert Fitter({}, switches).condition({0, 1, 2}, {0, 1, 2, 3}) == "c.before or c.kept"


def test_sizes_are_compared_in_a_field_and_not_in_the_tree() -> None:
    facts: dict[str, str] = {}
    fitter = Fitter({"c.hidden": (8, 12, 16), "c.embedding": (8, 4, 16)}, {}, facts)
    assert fitter.condition({1}, {0, 1, 2}) == "c.embedding_differs"
    field = eval(facts["embedding_differs"], {"computed": computed})
    assert field.default(Config(hidden=12, embedding=4))
    assert not field.default(Config(hidden=8, embedding=8))


def leaf(name: str, seen: dict[int, tuple[int, int]], kind: str = "Linear") -> propose.Module:
    """Return a layer as it is merged from four models that were run."""
    return propose.Module(name, kind, {0, 1, 2, 3}, {"weight": dict.fromkeys(range(4), (8, 8))}, seen=seen)


def test_a_part_says_what_it_sees_once_and_only_where_the_part_around_it_sees_something_else() -> None:
    patches = {number: (count, count) for number, count in enumerate((4, 9, 16, 25))}
    tokens, one = dict.fromkeys(range(4), LENGTHS), dict.fromkeys(range(4), (1, 1))
    tower = propose.Module("tower", "Tower", children={"up": leaf("up", patches), "down": leaf("down", patches)})
    rare = leaf("rare", {0: (7, 7)})  # of one config alone nothing follows
    unknown = leaf("unknown", dict.fromkeys(range(4), (32, 22)))
    children = {"tower": tower, "words": leaf("words", tokens), "pooler": leaf("pooler", one), "rare": rare, "unknown": unknown}
    root = propose.Module("", "Model", children=children)
    place_streams(root, Fitter({"c.patches": (4, 9, 16, 25)}, {}))
    said = {node.name: node.stream.strip(OPEN + CLOSE) for node in (root, *root.children.values(), *tower.children.values())}
    assert {name: text for name, text in said.items() if text} == {"tower": "c.patches", "pooler": '"one"'}


class Conv2d(Module):
    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int) -> None:
        super().__init__({"weight": Tensor(shape=(outputs, inputs, kernel, kernel)), "bias": Tensor(shape=(outputs,))}, {})
        self.kernel_size, self.stride, self.padding = (kernel, kernel), (stride, stride), (0, 0)


class Layers(Module):
    def __init__(self, *layers: Module) -> None:
        super().__init__({}, {str(number): layer for number, layer in enumerate(layers)})


class ToyStage(Module):
    """A convolution that makes the map smaller, layers of which the first alone takes the channels before, and a norm behind all but the last."""

    def __init__(self, config: Any, stage: int) -> None:
        before = config.widths[stage - 1] if stage else 3
        width = config.widths[stage]
        inner = [Linear(width, before if not number else width) for number in range(config.depths[stage])]
        norm = {"norm": LayerNorm(width, True)} if stage + 1 < len(config.widths) else {}
        super().__init__({}, {"smaller": Conv2d(before, before, 2, 2), "layers": Layers(*inner), **norm})


class ToyModel(Module):
    def __init__(self, config: Any) -> None:
        super().__init__({}, {"stages": Layers(*(ToyStage(config, stage) for stage in range(len(config.widths))))})
        self.config = config


def staged_configs() -> list[SimpleNamespace]:
    """Return configs of three stages, or of two."""
    rng = random.Random("stages")
    return [
        SimpleNamespace(
            widths=[8 * rng.randint(1, 9) for _ in range(many)], depths=[rng.randint(2, 5) for _ in range(many)], num_labels=3 + number
        )
        for number, many in enumerate((3, 2, 3, 2, 3, 3, 2, 3))
    ]


def note_maps(model: Any, number: int, root: propose.Module) -> None:
    """Note how many positions the convolutions of a toy see, each of which halves the map, and its layers and norms."""
    for stage, node in enumerate(root.children["stages"].children.values()):
        for each in (node.children["smaller"], *node.children["layers"].children.values(), *filter(None, (node.children.get("norm"),))):
            if number in each.held:
                each.seen[number] = ((224 // 2 ** (stage + 1)) ** 2,) * 2


def test_stages_are_written_as_a_loop_over_the_lists_of_the_config() -> None:
    models = [ToyModel(config) for config in staged_configs()]
    source = describe("ToyModel", "toy", models, (), {}, {}, note_maps, ("widths", "depths"))
    source = source.replace(OPEN, "").replace(CLOSE, "")
    assert "TODO" not in source
    assert "at = conv_output(at, 2, 2, 0)" in source
    assert "stream=area(maps(c)[stage])" in source
    made: dict[str, Any] = {**vars(parts), **vars(feature_maps), "Config": Config, "Part": Part, "Every": Every, "layer_range": layer_range}
    exec(compile(source, "skeleton", "exec"), made)
    for model in models:
        tree = made["toy"](Config(widths=model.config.widths, depths=model.config.depths, labels=2))
        assert [(row.name, row.shape, row.tied_to) for row in flatten(tree)] == list(theirs(model, "", {}))
        sides = {path: part.stream for path, part in walk(tree) if path.startswith("stages.") and part.kind == "stage"}
        assert [*sides.values()] == [(224 // 2 ** (stage + 1)) ** 2 for stage in range(len(model.config.widths))]


def test_lists_are_drawn_with_as_many_entries_as_the_config_has_stages() -> None:
    table = (VOCAB._replace(word="stages", key="num_stages", default=3),)
    drawn = draw_lists(random.Random(0), {"depths": (2, 2, 6), "widths": (16, 32, 64)}, table, {"num_stages": 2})
    assert [len(entries) for entries in drawn.values()] == [2, 2]
