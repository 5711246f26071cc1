"""What the skeleton of a blueprint proposes, from modules that look like those of the reference library."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from truth import propose
from truth.forward_lengths import LENGTHS, place_streams
from truth.propose import CLOSE, OPEN, Fitter
from truth.source import describe
from weighbridge.config.fields import TIED, VOCAB, Config, computed, switch
from weighbridge.core import parts
from weighbridge.core.tree import Part, flatten

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
