"""What a cache's figure may be called."""

from weighbridge import model


def test_only_what_is_held_to_a_live_class_is_exact() -> None:
    assert model("llama-3.2-1b").cache(seq=64).trust == "exact"
    assert model("mimo-7b-base").cache(seq=64).trust == "estimate"
    assert model("llama-3.2-1b").cache(seq=64, engine="vllm").trust == "bound"
