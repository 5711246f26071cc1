"""Names of tensors of many layers in one line."""

from weighbridge.documents.layer_names import folded_name, pattern


def test_one_layer_is_named_by_its_number() -> None:
    assert folded_name(["model.layers.17.mlp.experts.3.w"]) == "model.layers.17.mlp.experts.3.w"


def test_only_what_differs_is_a_star() -> None:
    assert folded_name(["layers.17.experts.3.w", "layers.17.experts.9.w"]) == "layers.17.experts.*.w × 2"


def test_names_of_one_pattern() -> None:
    assert pattern("h.0.attn.w") == pattern("h.11.attn.w") != pattern("h.0.mlp.w")
