"""What an adapter library asks of a base: where its tables are, and which modules are no plain layers."""

from __future__ import annotations

from typing import Any

import pytest

from weighbridge import UsageError, model
from weighbridge.accounts.adapters.base import base, facts_of

TABLES = [
    ("bert", "BertForMaskedLM", "bert.embeddings.word_embeddings", "cls.predictions.decoder"),
    ("gpt2", "GPT2LMHeadModel", "transformer.wte", "lm_head"),
    ("llama", "LlamaForCausalLM", "model.embed_tokens", "lm_head"),
    ("t5", "T5ForConditionalGeneration", "shared", "lm_head"),
    ("bart", "BartForConditionalGeneration", "model.shared", "lm_head"),
    ("gpt_neox", "GPTNeoXForCausalLM", "gpt_neox.embed_in", "lm_head"),
    ("opt", "OPTForCausalLM", "model.decoder.embed_tokens", "lm_head"),
    ("distilbert", "DistilBertForMaskedLM", "distilbert.embeddings.word_embeddings", "vocab_projector"),
    ("electra", "ElectraForMaskedLM", "electra.embeddings.word_embeddings", "generator_lm_head"),
    ("albert", "AlbertForMaskedLM", "albert.embeddings.word_embeddings", "predictions.decoder"),
    ("roberta", "RobertaForMaskedLM", "roberta.embeddings.word_embeddings", "lm_head.decoder"),
    ("whisper", "WhisperForConditionalGeneration", "model.decoder.embed_tokens", "proj_out"),
    ("openai-gpt", "OpenAIGPTLMHeadModel", "transformer.tokens_embed", "lm_head"),
    ("bloom", "BloomForCausalLM", "transformer.word_embeddings", "lm_head"),
    ("deberta-v2", "DebertaV2ForMaskedLM", "deberta.embeddings.word_embeddings", "cls.predictions.decoder"),
    ("xlm-roberta", "XLMRobertaForMaskedLM", "roberta.embeddings.word_embeddings", "lm_head.decoder"),
    ("mpnet", "MPNetForMaskedLM", "mpnet.embeddings.word_embeddings", "lm_head.decoder"),
    ("gptj", "GPTJForCausalLM", "transformer.wte", "lm_head"),
    ("phi", "PhiForCausalLM", "model.embed_tokens", "lm_head"),
    ("falcon", "FalconForCausalLM", "transformer.word_embeddings", "lm_head"),
    ("mamba", "MambaForCausalLM", "backbone.embeddings", "lm_head"),
    ("bert", "BertModel", "embeddings.word_embeddings", None),
    ("llama", "LlamaModel", "embed_tokens", None),
    ("rembert", "RemBertForMaskedLM", "rembert.embeddings.word_embeddings", "cls.predictions.decoder"),
    ("layoutlm", "LayoutLMForMaskedLM", "layoutlm.embeddings.word_embeddings", "cls.predictions.decoder"),
    ("lxmert", "LxmertForPreTraining", "lxmert.embeddings.word_embeddings", None),
    ("roformer", "RoFormerForMaskedLM", "roformer.embeddings.word_embeddings", "cls.predictions.decoder"),
]
"""What ``get_input_embeddings`` and ``get_output_embeddings`` of the class return, by name (transformers 5.23.0)."""


@pytest.mark.parametrize(("model_type", "class_name", "inputs", "outputs"), TABLES)
def test_tables_are_those_that_the_class_returns(model_type: str, class_name: str, inputs: str, outputs: str | None) -> None:
    weighed = model({"model_type": model_type}, class_name)
    found = base(weighed.tree, model_type, facts_of(weighed))
    assert (found.input_embedding, found.output_embedding) == (inputs, outputs)
    storage = {row.name: row.tied_to or row.name for row in weighed.tensors()}
    own = f"{inputs}.weight"
    assert {f"{path}.weight" for path in found.tied} == {name for name, owner in storage.items() if owner == storage[own] and name != own}


SIZES = {
    "hidden_size": 24,
    "intermediate_size": 40,
    "num_hidden_layers": 1,
    "num_attention_heads": 4,
    "vocab_size": 50,
    "num_local_experts": 3,
}


@pytest.mark.parametrize(
    ("model_type", "class_name", "target", "what"),
    [
        ("ibert", "IBertModel", "query", "quantized"),
        ("ibert", "IBertModel", "word_embeddings", "quantized"),
        ("llama", "LlamaForCausalLM", "input_layernorm", "rms norm"),
        ("llama", "LlamaForCausalLM", "gate_proj", None),
    ],
)
def test_modules_of_classes_that_no_adapter_knows_are_refused(model_type: str, class_name: str, target: str, what: str | None) -> None:
    weighed = model({"model_type": model_type, **SIZES}, class_name)
    adapter: dict[str, Any] = {"peft_type": "LORA", "r": 2, "target_modules": [target]}
    if what is None:
        assert weighed.adapters(adapter).trainable > 0
        return
    with pytest.raises(UsageError, match=f"a {what}; it adapts: linear, conv1d, embedding, convolution"):
        weighed.adapters(adapter)


def test_a_linear_layer_of_older_classes_is_stored_the_other_way_round() -> None:
    """GPT-2's c_attn is [768, 2304] and maps 768 to 2304; its c_proj inside the MLP 3072 to 768."""
    found = model("gpt2").adapters({"peft_type": "LORA", "r": 1, "target_modules": ["c_attn", "c_fc", "c_proj"]})
    widths = {site.path.partition("h.0.")[2]: (site.kind, site.inputs, site.outputs) for site, _ in found.sites if "h.0." in site.path}
    assert widths == {
        "attn.c_attn": ("conv1d", 768, 2304),
        "attn.c_proj": ("conv1d", 768, 768),
        "mlp.c_fc": ("conv1d", 768, 3072),
        "mlp.c_proj": ("conv1d", 3072, 768),
    }


@pytest.mark.parametrize(
    ("model_type", "class_name", "linear"), [("mixtral", "MixtralForCausalLM", False), ("phimoe", "PhimoeForCausalLM", True)]
)
def test_all_linear_layers_are_those_that_are_linear_layers_of_torch(model_type: str, class_name: str, linear: bool) -> None:
    """Mixtral's router is a module of its own with a bare weight, Phi's a linear layer (transformers 5.23.0)."""
    found = model({"model_type": model_type, **SIZES}, class_name).adapters({"peft_type": "LOHA", "r": 2, "target_modules": "all-linear"})
    names = {site.path.rpartition(".")[2] for site, _ in found.sites}
    assert names == {"q_proj", "k_proj", "v_proj", "o_proj"} | ({"router"} if linear else set())


def test_the_words_of_a_query_former_are_not_the_language_models() -> None:
    weighed = model({"model_type": "instructblip"}, "InstructBlipForConditionalGeneration")
    assert base(weighed.tree, "instructblip", facts_of(weighed)).input_embedding == "language_model.model.decoder.embed_tokens"
