"""Whose a count is, and what it is a count of."""

from weighbridge.auditing import audit


def test_half_of_a_small_models_weights_is_no_count_of_it() -> None:
    found = audit("BERT-base has 66M parameters.").wrong
    assert [(claim.text, claim.expected) for claim in found] == [("66M", 109_482_240)]


def test_a_large_model_may_be_counted_in_packed_words() -> None:
    assert audit("Llama 2 7B shows 3.5B parameters once it is loaded in 4 bits.").wrong == ()


def test_hidden_layers_of_so_many_dimensions_are_a_width() -> None:
    found = audit("BLOOM-560m has 24 layers and 16 attention heads. Its hidden layers are 1024-dimensional.")
    assert [claim.verdict for claim in found.claims] == ["exact"] * 3
