"""What a cache's figure may be called."""

from weighbridge import model


def test_only_what_is_held_to_a_live_class_is_exact() -> None:
    assert model("llama-3.2-1b").cache(seq=64).trust == "exact"
    assert model("mimo-7b-base").cache(seq=64).trust == "estimate"
    assert model("llama-3.2-1b").cache(seq=64, engine="vllm").trust == "bound"


def test_halves_of_a_batch_are_xlnet_s_alone() -> None:
    """With ``bi_data`` XLNet takes a batch in two halves, which an odd one has not; other types know no such key."""
    trusts = {
        (name, batch): model({"model_type": name, "bi_data": True}).cache(batch=batch, seq=8).trust
        for name in ("xlnet", "gpt2")
        for batch in (2, 3)
    }
    assert trusts == {("xlnet", 2): "exact", ("xlnet", 3): "estimate", ("gpt2", 2): "exact", ("gpt2", 3): "exact"}


def test_what_is_kept_of_each_token_is_a_memory_or_of_a_window() -> None:
    assert {layer.kind for layer in model({"model_type": "reformer"}).cache(seq=64).layers} == {"memory"}
    assert {layer.kind for layer in model({"model_type": "xlnet", "mem_len": 8}).cache(seq=64).layers} == {"window"}
