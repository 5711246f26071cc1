"""Models made of other models: a sub-config of any family, its tree under a name."""

from __future__ import annotations

import pytest

import weighbridge
from weighbridge.accounts.ledger import ledger
from weighbridge.accounts.parameters import PARAMETERS
from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.config.bind import bind
from weighbridge.config.check import alias_notes, missing_fields, unknown_keys
from weighbridge.config.fields import Config, constant, with_changes
from weighbridge.config.symbols import symbols
from weighbridge.core.errors import ConfigError
from weighbridge.core.formula import Symbol, evaluate
from weighbridge.core.parts import attend, linear
from weighbridge.core.tree import Part, flatten
from weighbridge.explain.closed_form import closed_formula

FIELDS = (model_config("text", "text_config", "gpt2 bert", absent={"n_layer": 3}),)
OPTIONAL = (model_config("text", "text_config", "gpt2", optional=True),)


def test_the_type_picks_the_fields() -> None:
    assert bind(FIELDS, {}).text.layers == 3
    assert bind(FIELDS, {"text_config": {}}).text.layers == 12
    bert = bind(FIELDS, {"text_config": {"model_type": "bert", "hidden_size": 24}}).text
    assert (bert.model_type, bert.hidden, bert.layers) == ("bert", 24, 12)
    assert bind(OPTIONAL, {}).text is None
    assert (
        bind((model_config("text", "text_config", "gpt2", fixed=True),), {"text_config": {"model_type": "bert"}}).text.model_type == "gpt2"
    )


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({"text_config": {"model_type": "brt"}}, "text_config.model_type: unknown model type 'brt' (did you mean bert or bart?)"),
        (
            {"text_config": {"model_type": 7}},
            "text_config.model_type: unknown model type 7 (the default is gpt2; weigh models lists the types known)",
        ),
        ({"text_config": [1]}, "text_config: expected an object, found the list [1]"),
        ({"text_config": {"n_layer": -1}}, "text_config.n_layer: -1 is not possible, the smallest is 0 (the class default is 12)"),
    ],
)
def test_what_cannot_be_read_is_refused_by_its_key_path(raw: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        bind(FIELDS, raw)
    assert str(caught.value) == message


def test_scrutiny_reaches_into_it() -> None:
    raw = {"text_config": {"model_type": "bert", "hiden_size": 3, "hidden_size": 8}}
    assert unknown_keys(FIELDS, raw, frozenset()) == ["text_config.hiden_size"]
    missing = missing_fields(FIELDS, raw)
    assert missing["text.layers"] == "text_config.num_hidden_layers" and "text.hidden" not in missing
    assert "text.layers" in missing_fields(FIELDS, {}) and missing_fields(OPTIONAL, {}) == {}
    (note,) = alias_notes(FIELDS, {"text_config": {"n_embd": 8, "hidden_size": 16}})
    assert note.startswith("text_config.hidden_size: 16 is used, not text_config.n_embd: 8;")
    with pytest.raises(ConfigError, match=r"decoder\.hidden_act: prelu"):
        weighbridge.model({"model_type": "encoder-decoder", "decoder": {"hidden_act": "prelu"}})


def test_symbols_carry_the_name_of_the_sub_config() -> None:
    sizes = bind(FIELDS, {})
    lettered = symbols(FIELDS, {}, sizes)["text_config"]
    assert isinstance(lettered["n_layer"], Symbol) and lettered["n_layer"].letter.endswith("_text")
    again = bind(FIELDS, {"text_config": lettered}, like=sizes).text
    assert (again.model_type, again.layers) == ("gpt2", lettered["n_layer"])


def test_arguments_of_the_inner_class_are_out_of_reach() -> None:
    fields = (model_config("text", "text_config", "bert", more=(constant("extra", 1),)),)
    raw = {"text_config": {"add_pooling_layer": False}}
    assert (bind(fields, raw).text.pooled, bind(fields, raw).text.extra) == (True, 1)
    assert unknown_keys(fields, raw, frozenset()) == ["text_config.add_pooling_layer"]


def test_a_submodel_is_the_tree_of_its_own_family() -> None:
    text = bind(FIELDS, {"text_config": {"model_type": "bert"}}).text
    inner = as_child("text", submodel(text))
    rows = {row.name: row for row in flatten(Part("", (inner, as_child("head", submodel(text, "ForMaskedLM")))))}
    assert rows["head.cls.predictions.decoder.weight"].tied_to == "head.bert.embeddings.word_embeddings.weight"
    alone = list(flatten(weighbridge.model({"model_type": "bert"}).tree))
    assert [f"text.{row.name}" for row in alone] == [name for name in rows if name.startswith("text.")]
    assert all(part.name != "pooler" for part in submodel(with_changes(text, pooled=False)).children if isinstance(part, Part))
    with pytest.raises(ConfigError, match="model_type: bert has no class"):
        submodel(text, "ForVision")


def test_streams_become_those_of_the_outer_model() -> None:
    crossed = Part("cross", (linear("key", 2, 2, stream="encoder"), attend(heads=1, head_dim=2, keys="encoder")), requires="encoder")
    moved = as_child("decoder", Part("", (crossed,)), streams={"seq": "decoder", "encoder": 197})
    assert moved.stream == "decoder"
    inner = moved.children[0]
    assert isinstance(inner, Part) and inner.requires is None
    assert [getattr(inner.children[0], "stream", 0), getattr(inner.children[1], "keys", 0)] == [197, 197]
    assert as_child("decoder", Part("", (crossed,)), streams={"encoder": "seq"}).children[0] == inner._replace(
        requires="seq", children=(linear("key", 2, 2, stream="seq"), attend(heads=1, head_dim=2, keys="seq"))
    )


def test_two_models_in_one_are_counted_like_two_models() -> None:
    raw = {
        "model_type": "encoder-decoder",
        "encoder": {"num_hidden_layers": 2},
        "decoder": {"model_type": "gpt2", "add_cross_attention": True},
    }
    pair = weighbridge.model(raw)
    encoder = weighbridge.count({"model_type": "bert", "num_hidden_layers": 2})
    decoder = weighbridge.count({"model_type": "gpt2", "add_cross_attention": True}, "GPT2LMHeadModel")
    assert pair.count().unique == encoder.unique + decoder.unique
    assert pair.formula().value == pair.count().unique
    with pytest.raises(ConfigError, match=r"encoder\.hiden"):
        weighbridge.model(raw, overrides={"encoder.hiden": 3})
    assert weighbridge.model(raw, overrides={"decoder.n_layer": 3}).count().unique != pair.count().unique


def test_altered_sizes_leave_the_rest_as_it_is() -> None:
    c = with_changes(Config(hidden=3, pooled=True), pooled=False)
    assert (c.hidden, c.pooled) == (3, False)
    with pytest.raises(AttributeError):
        c.nothing  # noqa: B018


BACKBONES = """beit bit convnext dinov2 dinov3_vit focalnet hiera hgnet_v2 maskformer-swin pixio pp_lcnet pvt_v2 resnet sapiens2 swin swinv2
    textnet vitdet vitpose_backbone""".split()


@pytest.mark.parametrize("neck", ["dpt", "depth_anything", "upernet", "detr", "maskformer"])
@pytest.mark.parametrize("inner", BACKBONES)
def test_any_backbone_stands_under_any_neck_or_one_line_says_why_not(neck: str, inner: str) -> None:
    last = [-4, -3, -2, -1] if inner not in ("maskformer-swin", "swin") else [1, 2, 3, 4]
    try:
        found = weighbridge.model({"model_type": neck, "backbone_config": {"model_type": inner, "out_indices": last}})
    except weighbridge.WeighbridgeError as error:
        message = str(error)
    else:
        message = ""
        assert found.count().unique != 0
    assert "\n" not in message


def test_dpt_s_hybrid_has_a_resnet_in_front() -> None:
    found = weighbridge.model({"model_type": "dpt", "is_hybrid": True}, "DPTForDepthEstimation")
    assert any(row.name.startswith("dpt.embeddings.backbone.bit.") for row in found.tensors())


@pytest.mark.parametrize(
    ("config", "key"),
    [
        ({"model_type": "gemma3n", "vision_config": {"architecture": "resnet50"}}, "vision_config.architecture"),
        ({"model_type": "align", "vision_config": {"depth_divisor": -1}}, "vision_config.depth_divisor"),
        ({"model_type": "clap", "audio_config": {"depths": []}}, "audio_config.depths"),
        ({"model_type": "detr", "backbone_config": {"model_type": "swin", "mlp_ratio": -1.0}}, "backbone_config.mlp_ratio"),
        ({"model_type": "blip-2", "text_config": {"model_type": [1]}}, "text_config.model_type"),
        (
            {"model_type": "pi0", "vlm_config": {"model_type": "paligemma", "text_config": {"model_type": 7}}},
            "vlm_config.text_config.model_type",
        ),
    ],
)
def test_a_refusal_in_a_sub_config_names_the_whole_key_path(config: dict[str, object], key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        weighbridge.model(config)
    assert caught.value.key == key
    assert str(caught.value).startswith(f"{key}: ")


def test_ties_within_a_sub_config_follow_it_to_its_place() -> None:
    """A Q-Former replaced by a model whose halves share their words (live: transformers 5.23.0)."""
    whole = weighbridge.model(
        {"model_type": "granite_speech", "projector_config": {"model_type": "bart"}}, "GraniteSpeechForConditionalGeneration"
    )
    tied = {row.name: row.tied_to for row in whole.tensors() if row.tied_to}
    assert tied["model.projector.qformer.decoder.embed_tokens.weight"].startswith("model.projector.qformer.")


def test_keys_that_only_a_sub_config_reads_are_idle_beside_it() -> None:
    """Step 3.7's class takes the defaults of its text; a planner's file alone states them outside (live: transformers 5.23.0)."""
    assert weighbridge.count({"model_type": "step3p7", "num_hidden_layers": 3}) == weighbridge.count({"model_type": "step3p7"})
    sparse = {"model_type": "minimax_m3_vl_text", "num_hidden_layers": 3, "sparse_attention_freq": [1, 1, 1]}
    assert weighbridge.count(sparse) == weighbridge.count({**sparse, "sparse_attention_freq": None})


def test_a_sub_config_that_was_normalized_is_read_again_with_symbols() -> None:
    inner = {"video_config": {"vision_config": {"model_args": {"depth": 1}}}}
    whole = weighbridge.model({"model_type": "pe_audio_video", "audio_video_config": inner})
    tree, _, values = whole.symbolic()
    assert evaluate(closed_formula(ledger(tree, PARAMETERS)).expression(), values) == whole.count().unique
