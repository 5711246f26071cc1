"""Laws of all conventions of a model, and what each omission and each part is, summed over the names of its tensors."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

import pytest

from weighbridge import Model, model
from weighbridge.conventions.omissions import SCOPES
from weighbridge.conventions.rules import MOST_COST, Convention, conventions


@cache
def weigh(name: str, class_name: str | None = None) -> Model:
    """Weigh a preset; its conventions are worked out once for each model."""
    return model(name, class_name)


MODELS = (
    ("bert-base-uncased", "BertForPreTraining"),
    ("gpt2", None),
    ("t5-small", None),
    ("mixtral-8x7b", None),
    ("clip-vit-base-patch32", None),
    ("resnet-50", None),
    ("flan-t5-small", None),
    ("vit-base-patch16-224", None),
    ("deepseek-v3", None),
)


def elements_by_name(weighed: Model) -> dict[str, int]:
    """Return the elements of every parameter that is no tie, by name."""
    return {row.name: row.count for row in weighed.tensors() if row.tied_to is None and row.role != "buffer" and isinstance(row.count, int)}


def total(weighed: Model, chosen: Callable[[str], object]) -> int:
    return sum(size for name, size in elements_by_name(weighed).items() if chosen(name))


def plain(weighed: Model, *, scope: str = "", keys: tuple[str, ...] = ()) -> Convention:
    """Return the convention of the model's own class that covers *scope* and leaves out *keys*, and counts nothing else."""
    for made in (made for several in conventions(weighed).by_value.values() for made in several):
        view = made.view
        if (made.class_name, view.scope, made.keys, view.state) == (weighed.class_name, scope, keys, "") and not (made.added or view.less):
            return made
    raise AssertionError(f"no convention covers {scope!r} without {keys}")


@pytest.mark.parametrize(("name", "class_name"), MODELS)
def test_every_convention_says_how_it_comes_to_its_number(name: str, class_name: str | None) -> None:
    """The class's count, less what it leaves out, plus what it adds, is its value; so is what it counts, part by part."""
    weighed = weigh(name, class_name)
    table = conventions(weighed)
    assert len(table.values) > 20
    assert list(table.values) == sorted(table.by_value)
    for value, several in table.by_value.items():
        for made in several:
            left, added = (sum(piece.amount for piece in pieces) for pieces in (made.left_out, made.added))
            assert made.view.class_count - left + added == value == made.value, made.text(str)
            assert all(piece.amount > 0 for piece in (*made.left_out, *made.added)), made.text(str)
            assert made.cost <= MOST_COST
        assert [made.cost for made in several] == sorted(made.cost for made in several)


@pytest.mark.parametrize(("name", "class_name"), MODELS)
def test_the_parts_of_a_convention_add_up(name: str, class_name: str | None) -> None:
    weighed = weigh(name, class_name)
    for value, several in conventions(weighed).by_value.items():
        for made in several:
            own = {piece.what for piece in (*made.view.added, *made.view.less)}
            assert sum(amount for label, amount in made.labels().items()) == value, (made.text(str), own)


BERT = {
    "biases": lambda name: name.endswith(".bias") and "LayerNorm" not in name,
    "norms": lambda name: "LayerNorm" in name,
    "embedding-norm": lambda name: "embeddings.LayerNorm" in name,
    "pooler": lambda name: "pooler." in name,
    "embeddings": lambda name: "_embeddings." in name,
    "word-embeddings": lambda name: "word_embeddings." in name,
    "position-embeddings": lambda name: "position_embeddings." in name,
    "type-embeddings": lambda name: "token_type_embeddings." in name,
    "layer-norms": lambda name: "layer." in name and "LayerNorm" in name,
    "shifts": lambda name: name.endswith("LayerNorm.bias"),
    "attention-biases": lambda name: re.search(r"attention\.(self\.\w+|output\.dense)\.bias$", name),
    "feed-forward-biases": lambda name: re.search(r"layer\.\d+\.(intermediate|output)\.dense\.bias$", name),
    "qkv-biases": lambda name: re.search(r"\.(query|key|value)\.bias$", name),
}
GPT2 = {
    "final-norm": lambda name: "ln_f." in name,
    "qkv-biases": lambda name: name.endswith("c_attn.bias"),
    "layer-norms": lambda name: re.search(r"\.ln_[12]\.", name),
    "position-embeddings": lambda name: ".wpe." in name,
}
WHISPER = {
    "fixed-positions": lambda name: name == "model.encoder.embed_positions.weight",
    "cross-attention": lambda name: ".encoder_attn." in name,
}
CLIP = {
    "tower": lambda name: name.startswith("vision_model."),
    "position-embeddings": lambda name: name == "text_model.embeddings.position_embedding.weight",
}
OMITTED = [
    (name, key, chosen)
    for name, table in (("bert-base-uncased", BERT), ("gpt2", GPT2), ("whisper-base", WHISPER), ("clip-vit-base-patch32", CLIP))
    for key, chosen in table.items()
]


@pytest.mark.parametrize(("name", "key", "chosen"), OMITTED, ids=lambda value: value if isinstance(value, str) else "")
def test_what_is_left_out_is_the_tensors_of_those_names(name: str, key: str, chosen: Callable[[str], object]) -> None:
    weighed = weigh(name)
    gone = total(weighed, chosen)
    assert gone
    assert plain(weighed, keys=(key,)).value == weighed.count().unique - gone


LAYER = r"encoder\.layer\.0\."
FIRST = {
    "layer": LAYER,
    "attention-one": LAYER + r"attention\.(self|output\.dense)",
    "feed_forward-one": LAYER + r"(intermediate|output)\.dense",
    "layer_norm-one": LAYER + r".*LayerNorm",
    "layers": r"encoder\.layer\.",
    "attention": r"encoder\.layer\.\d+\.attention\.(self|output\.dense)",
    "feed_forward": r"encoder\.layer\.\d+\.(intermediate|output)\.dense",
    "layer_norm": r"encoder\.layer\..*LayerNorm",
    "embeddings": r"embeddings\.",
    "tables": r"embeddings\.\w+_embeddings",
    "word": r"embeddings\.word",
    "pooler": r"pooler",
}


@pytest.mark.parametrize(("scope", "pattern"), FIRST.items())
def test_a_part_is_the_tensors_of_those_names(scope: str, pattern: str) -> None:
    weighed = weigh("bert-base-uncased")
    assert plain(weighed, scope=scope).value == total(weighed, re.compile(pattern).match)


def test_layers_of_two_kinds_are_told_apart() -> None:
    """The first three layers of DeepSeek-V3 are dense."""
    weighed = weigh("deepseek-v3")
    dense, sparse = (total(weighed, lambda name, at=at: name.startswith(f"model.layers.{at}.")) for at in (0, 3))  # type: ignore[misc]
    values = {made.value for several in conventions(weighed).by_value.values() for made in several if made.view.scope == "layer"}
    assert {dense, sparse} <= values


@pytest.mark.parametrize(
    ("scope", "names"),
    [
        ("image-tower", ("vision_model.", "visual_projection.")),
        ("text-tower", ("text_model.", "text_projection.")),
        ("vision_model", ("vision_model.",)),
        ("text_model", ("text_model.",)),
    ],
)
def test_towers(scope: str, names: tuple[str, ...]) -> None:
    weighed = weigh("clip-vit-base-patch32")
    assert plain(weighed, scope=scope).value == total(weighed, lambda name: name.startswith(names))


@pytest.mark.parametrize(
    ("name", "rows"), [("gpt2", 50_304), ("gpt2", 50_264), ("bert-base-uncased", 30_528), ("bert-base-uncased", 30_592)]
)
def test_a_vocabulary_padded_by_training_code(name: str, rows: int) -> None:
    """nanoGPT's train.py: 50,304, "up to nearest multiple of 64 for efficiency"."""
    weighed = weigh(name)
    own = next(row.shape for row in weighed.tensors() if row.role == "embedding")
    unique = weighed.count().unique
    padded = model(name, overrides={"vocab_size": rows}).count().unique
    assert isinstance(unique, int) and isinstance(padded, int)
    assert padded - unique == (rows - own[0]) * 768
    words = {match.convention for match in weighed.reconcile(padded).matches}
    assert words & {
        f"{weighed.class_name}, with vocab_size {rows:,}",
        f"{weighed.class_name}, with a vocabulary of {rows:,} instead of {own[0]:,}",
    }


def test_a_vocabulary_that_is_a_multiple_needs_no_padding() -> None:
    assert not [
        made for several in conventions(weigh("llama-2-7b")).by_value.values() for made in several if "vocab_size" in made.text(str)
    ]


def test_what_is_active_leaves_out_idle_experts() -> None:
    """Of Mixtral's eight experts two work on a token; the router sees all."""
    weighed = weigh("mixtral-8x7b")
    experts = total(weighed, lambda name: ".experts." in name)
    found = next(
        made for several in conventions(weighed).by_value.values() for made in several if made.view.scope == "active" and not made.keys
    )
    assert found.value == weighed.count().unique - experts * 6 // 8
    assert [tuple(piece) for piece in found.left_out] == [("experts that a token does not use", experts * 6 // 8)]


def test_ties_counted_twice_and_a_head_of_its_own() -> None:
    weighed = weigh("bert-base-uncased", "BertForMaskedLM")
    head, bias = 30522 * 768, 30522
    unique = weighed.count().unique
    assert isinstance(unique, int)
    words = [match.convention for match in weighed.reconcile(unique + head + bias).matches]
    assert words[0] == "BertForMaskedLM, with tied tensors, counted under every name"
    assert weighed.reconcile(unique + head).matches[0].convention == "BertForMaskedLM, with a head of its own"


def test_saved_buffers_are_counted_beside() -> None:
    """53 batch norms keep two statistics a channel and one counter each: 25,557,032 + 53,120 + 53 elements in ResNet-50's file."""
    weighed = weigh("resnet-50")
    assert weighed.count().buffers == 53_120 + 53
    assert weighed.reconcile(25_610_205).matches[0].convention == "ResNetForImageClassification, with saved buffers"
    assert {row.key: row.value for row in weighed.counts()}["stored"] == 25_610_205
    assert (
        weighed.reconcile(25_610_152).matches[0].convention
        == "ResNetForImageClassification, with running means and variances of batch norms"
    )


def test_rotary_frequencies_are_half_a_head_for_each_layer() -> None:
    unique = weigh("llama-3.2-1b").count().unique
    assert isinstance(unique, int)
    assert (
        weigh("llama-3.2-1b").reconcile(unique + 16 * 32).matches[0].convention
        == "LlamaForCausalLM, with rotary frequencies of every layer"
    )
    bert = weigh("bert-base-uncased")
    assert not [m for m in bert.reconcile(109_482_240 + 12 * 32).matches if "rotary" in m.convention], "BERT has a table of positions"


def test_layers_for_multi_token_prediction() -> None:
    """Layer 61 of DeepSeek-V3's file: a sparse layer, norms of both inputs and of its output, a map of two hidden states into one, two tables."""
    weighed = weigh("deepseek-v3")
    unique = weighed.count().unique
    assert isinstance(unique, int)
    layer = total(weighed, lambda name: name.startswith("model.layers.60."))
    each = layer + 2 * 7168 * 7168 + 3 * 7168
    tables = 2 * 129_280 * 7168
    words = [match.convention for match in weighed.reconcile(unique + each + tables).matches]
    assert words == ["DeepseekV3ForCausalLM, with layers for multi-token prediction"]
    shared = [match.convention for match in weighed.reconcile(unique + each).matches]
    assert shared == ["DeepseekV3ForCausalLM, with layers for multi-token prediction, their tables shared"]


def test_how_many_things_are_left_out_at_once() -> None:
    """Four of the class that was asked for, three of its family's others, two of a part or beside ties, one beside an addition of one library."""
    weighed = weigh("bert-base-uncased")
    most: dict[str, int] = {}
    for several in conventions(weighed).by_value.values():
        for made in several:
            view = made.view
            kind = "part" if view.scope else "added" if view.added or view.less else "own" if made.class_name == "BertModel" else "other"
            most[kind] = max(most.get(kind, 0), len(made.omitted))
    assert most == {"own": 4, "other": 3, "part": 2, "added": 2}


@pytest.mark.parametrize(("layers", "said"), [(0, False), (1, True), (2, True), (99, True), (100, False), (True, False), ("1", False)])
def test_a_number_of_prediction_layers_that_makes_none_explains_nothing(layers: object, said: bool) -> None:
    weighed = model({**PREDICTING, "num_nextn_predict_layers": layers}, "DeepseekV3ForCausalLM")
    assert any("multi-token" in made.text(str) for several in conventions(weighed).by_value.values() for made in several) == said


PREDICTING = {
    "model_type": "deepseek_v3",
    "hidden_size": 16,
    "intermediate_size": 24,
    "moe_intermediate_size": 8,
    "num_hidden_layers": 3,
    "vocab_size": 30,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "n_routed_experts": 4,
    "first_k_dense_replace": 1,
    "q_lora_rank": 4,
    "kv_lora_rank": 4,
    "qk_nope_head_dim": 4,
    "qk_rope_head_dim": 2,
    "v_head_dim": 4,
}


@pytest.mark.parametrize("layers", [1, 3])
def test_every_prediction_layer_is_as_large_as_the_last(layers: int) -> None:
    weighed = model({**PREDICTING, "num_nextn_predict_layers": layers}, "DeepseekV3ForCausalLM")
    each = total(weighed, lambda name: name.startswith("model.layers.2.")) + 2 * 16 * 16 + 3 * 16
    added = {
        piece.amount
        for several in conventions(weighed).by_value.values()
        for made in several
        for piece in made.added
        if piece.what == "layers for multi-token prediction"
    }
    assert added == {layers * (each + 2 * 30 * 16)}


@pytest.mark.parametrize(("name", "class_name"), MODELS)
def test_how_much_is_left_out_at_once(name: str, class_name: str | None) -> None:
    """Four things of the class that is asked about, three of its sisters, two of their parts, one of a tower, nothing beside layers that were added."""
    weighed = weigh(name, class_name)
    most: dict[str, int] = {}
    for made in (made for found in conventions(weighed).by_value.values() for made in found):
        view = made.view
        if any("multi-token" in piece.what for piece in view.added):
            of = "prediction layers"
        elif view.added or view.less or view.state:
            continue
        elif view.scope:
            of = "part" if view.scope in SCOPES and not view.scope.endswith("tower") else "tower"
        else:
            of = "class" if view.class_name == weighed.class_name else "sister"
        most[of] = max(most.get(of, 0), len(made.omitted))
    allowed = {"class": 4, "sister": 3, "part": 2, "tower": 1, "prediction layers": 0}
    assert all(count <= allowed[of] for of, count in most.items())
    if name == "bert-base-uncased":
        assert (most["class"], most["sister"], most["part"]) == (4, 3, 2)
    if name == "clip-vit-base-patch32":
        assert most["tower"] == 1
    assert ("prediction layers" in most) == (name == "deepseek-v3")
