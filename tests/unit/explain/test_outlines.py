"""How derivations are divided: which modules stand under which heading, which share a line, and what each amounts to.

The outlines were read against the papers and the reference's ``print(model)``; their lines hold every tensor once, which
``test_every_parameter_stands_on_one_line`` sums anew from the list of tensors.
"""

from __future__ import annotations

import re
from functools import cache

import pytest

from weighbridge import Model, model
from weighbridge.core.tree import Tensor
from weighbridge.explain.formulas import flops_formula
from weighbridge.explain.line_sentences import line_sentences
from weighbridge.explain.part_titles import line_title
from weighbridge.explain.section import Line, Section


@cache
def weigh(name: str, class_name: str | None) -> Model:
    return model(name, class_name)


OUTLINES = {
    ("gpt2", None): """
1 embedding × 1 = 39,383,808
  - transformer.wte = 38,597,376
  - transformer.wpe = 786,432
2 transformer.h × 12 = 85,054,464
  2.1 attention × 1 = 2,362,368
    - transformer.h.attn.c_attn = 1,771,776
    - transformer.h.attn.c_proj = 590,592
  2.2 feed_forward × 1 = 4,722,432
    - transformer.h.mlp.c_fc = 2,362,368
    - transformer.h.mlp.c_proj = 2,360,064
  2.3 norm × 1 = 3,072
    - transformer.h.ln_1, transformer.h.ln_2 = 3,072
3 norm × 1 = 1,536
  - transformer.ln_f = 1,536
4 head × 1 = 0
  - lm_head = 0 tied to transformer.wte.weight
""",
    ("deepseek-v3", None): """
1 embedding × 1 = 926,679,040
  - model.embed_tokens = 926,679,040
2 model.layers × 3 = 1,750,450,176 at 0–2
  2.1 latent_attention × 1 = 187,105,280
    - model.layers.self_attn.q_a_proj = 11,010,048
    - model.layers.self_attn.q_b_proj = 37,748,736
    - model.layers.self_attn.kv_a_proj_with_mqa = 4,128,768
    - model.layers.self_attn.kv_b_proj = 16,777,216
    - model.layers.self_attn.o_proj = 117,440,512
  2.2 feed_forward × 1 = 396,361,728
    - model.layers.mlp.gate_proj, model.layers.mlp.up_proj = 264,241,152
    - model.layers.mlp.down_proj = 132,120,576
  2.3 norm × 1 = 16,384
    - model.layers.self_attn.q_a_layernorm = 1,536
    - model.layers.self_attn.kv_a_layernorm = 512
    - model.layers.input_layernorm, model.layers.post_attention_layernorm = 14,336
3 model.layers × 58 = 667,422,588,928 at 3–60
  3.1 latent_attention × 1 = 187,105,280
    - model.layers.self_attn.q_a_proj = 11,010,048
    - model.layers.self_attn.q_b_proj = 37,748,736
    - model.layers.self_attn.kv_a_proj_with_mqa = 4,128,768
    - model.layers.self_attn.kv_b_proj = 16,777,216
    - model.layers.self_attn.o_proj = 117,440,512
  3.2 experts × 1 = 11,320,164,352
    - model.layers.mlp.experts = 11,274,289,152
    - model.layers.mlp.gate = 1,835,008
    - model.layers.mlp.shared_experts.gate_proj, model.layers.mlp.shared_experts.up_proj = 29,360,128
    - model.layers.mlp.shared_experts.down_proj = 14,680,064
  3.3 norm × 1 = 16,384
    - model.layers.self_attn.q_a_layernorm = 1,536
    - model.layers.self_attn.kv_a_layernorm = 512
    - model.layers.input_layernorm, model.layers.post_attention_layernorm = 14,336
4 norm × 1 = 7,168
  - model.norm = 7,168
5 head × 1 = 926,679,040
  - lm_head = 926,679,040
""",
    ("t5-small", None): """
1 embedding × 1 = 16,449,536
  - shared = 16,449,536
2 encoder × 1 = 18,881,280
  2.1 embedding × 1 = 0
    - encoder.embed_tokens = 0 tied to shared.weight
  2.2 encoder.block × 1 = 3,147,008 at 0
    2.2.1 attention × 1 = 1,048,832
      - encoder.block.layer.SelfAttention.q, encoder.block.layer.SelfAttention.k, encoder.block.layer.SelfAttention.v = 786,432
      - encoder.block.layer.SelfAttention.o = 262,144
      - encoder.block.layer.SelfAttention.relative_attention_bias = 256
    2.2.2 feed_forward × 1 = 2,097,152
      - encoder.block.layer.DenseReluDense.wi = 1,048,576
      - encoder.block.layer.DenseReluDense.wo = 1,048,576
    2.2.3 norm × 1 = 1,024
      - encoder.block.layer.layer_norm = 1,024
  2.3 encoder.block × 5 = 15,733,760 at 1–5
    2.3.1 attention × 1 = 1,048,576
      - encoder.block.layer.SelfAttention.q, encoder.block.layer.SelfAttention.k, encoder.block.layer.SelfAttention.v = 786,432
      - encoder.block.layer.SelfAttention.o = 262,144
    2.3.2 feed_forward × 1 = 2,097,152
      - encoder.block.layer.DenseReluDense.wi = 1,048,576
      - encoder.block.layer.DenseReluDense.wo = 1,048,576
    2.3.3 norm × 1 = 1,024
      - encoder.block.layer.layer_norm = 1,024
  2.4 norm × 1 = 512
    - encoder.final_layer_norm = 512
3 decoder × 1 = 25,175,808
  3.1 embedding × 1 = 0
    - decoder.embed_tokens = 0 tied to shared.weight
  3.2 decoder.block × 1 = 4,196,096 at 0
    3.2.1 attention × 1 = 1,048,832
      - decoder.block.layer.SelfAttention.q, decoder.block.layer.SelfAttention.k, decoder.block.layer.SelfAttention.v = 786,432
      - decoder.block.layer.SelfAttention.o = 262,144
      - decoder.block.layer.SelfAttention.relative_attention_bias = 256
    3.2.2 cross_attention × 1 = 1,048,576
      - decoder.block.layer.EncDecAttention.q, decoder.block.layer.EncDecAttention.k, decoder.block.layer.EncDecAttention.v = 786,432
      - decoder.block.layer.EncDecAttention.o = 262,144
    3.2.3 feed_forward × 1 = 2,097,152
      - decoder.block.layer.DenseReluDense.wi = 1,048,576
      - decoder.block.layer.DenseReluDense.wo = 1,048,576
    3.2.4 norm × 1 = 1,536
      - decoder.block.layer.layer_norm = 1,536
  3.3 decoder.block × 5 = 20,979,200 at 1–5
    3.3.1 attention × 1 = 1,048,576
      - decoder.block.layer.SelfAttention.q, decoder.block.layer.SelfAttention.k, decoder.block.layer.SelfAttention.v = 786,432
      - decoder.block.layer.SelfAttention.o = 262,144
    3.3.2 cross_attention × 1 = 1,048,576
      - decoder.block.layer.EncDecAttention.q, decoder.block.layer.EncDecAttention.k, decoder.block.layer.EncDecAttention.v = 786,432
      - decoder.block.layer.EncDecAttention.o = 262,144
    3.3.3 feed_forward × 1 = 2,097,152
      - decoder.block.layer.DenseReluDense.wi = 1,048,576
      - decoder.block.layer.DenseReluDense.wo = 1,048,576
    3.3.4 norm × 1 = 1,536
      - decoder.block.layer.layer_norm = 1,536
  3.4 norm × 1 = 512
    - decoder.final_layer_norm = 512
4 head × 1 = 0
  - lm_head = 0 tied to shared.weight
""",
    ("bert-base-uncased", "BertForPreTraining"): """
1 bert.embeddings × 1 = 23,837,184
  - bert.embeddings.word_embeddings = 23,440,896
  - bert.embeddings.position_embeddings = 393,216
  - bert.embeddings.token_type_embeddings = 1,536
  - bert.embeddings.LayerNorm = 1,536
2 bert.encoder.layer × 12 = 85,054,464
  2.1 attention × 1 = 2,362,368
    - bert.encoder.layer.attention.self.query, bert.encoder.layer.attention.self.key, bert.encoder.layer.attention.self.value, bert.encoder.layer.attention.output.dense = 2,362,368
  2.2 feed_forward × 1 = 4,722,432
    - bert.encoder.layer.intermediate.dense = 2,362,368
    - bert.encoder.layer.output.dense = 2,360,064
  2.3 norm × 1 = 3,072
    - bert.encoder.layer.attention.output.LayerNorm, bert.encoder.layer.output.LayerNorm = 3,072
3 bert.pooler × 1 = 590,592
  - bert.pooler.dense = 590,592
4 cls × 1 = 624,188
  - cls.predictions.bias = 30,522
  - cls.predictions.transform.dense = 590,592
  - cls.predictions.transform.LayerNorm = 1,536
  - cls.predictions.decoder = 0 tied to bert.embeddings.word_embeddings.weight, cls.predictions.bias
  - cls.seq_relationship = 1,538
""",
    ("clip-vit-base-patch32", None): """
1 other × 1 = 1
  - logit_scale = 1
2 text_model × 1 = 63,165,952
  2.1 text_model.embeddings × 1 = 25,336,320
    - text_model.embeddings.token_embedding = 25,296,896
    - text_model.embeddings.position_embedding = 39,424
  2.2 text_model.encoder.layers × 12 = 37,828,608
    2.2.1 attention × 1 = 1,050,624
      - text_model.encoder.layers.self_attn.k_proj, text_model.encoder.layers.self_attn.v_proj, text_model.encoder.layers.self_attn.q_proj, text_model.encoder.layers.self_attn.out_proj = 1,050,624
    2.2.2 feed_forward × 1 = 2,099,712
      - text_model.encoder.layers.mlp.fc1 = 1,050,624
      - text_model.encoder.layers.mlp.fc2 = 1,049,088
    2.2.3 norm × 1 = 2,048
      - text_model.encoder.layers.layer_norm1, text_model.encoder.layers.layer_norm2 = 2,048
  2.3 norm × 1 = 1,024
    - text_model.final_layer_norm = 1,024
3 vision_model × 1 = 87,456,000
  3.1 vision_model.embeddings × 1 = 2,398,464
    3.1.1 embedding × 1 = 39,168
      - vision_model.embeddings.class_embedding = 768
      - vision_model.embeddings.position_embedding = 38,400
    3.1.2 convolution × 1 = 2,359,296
      - vision_model.embeddings.patch_embedding = 2,359,296
  3.2 norm × 1 = 3,072
    - vision_model.pre_layrnorm, vision_model.post_layernorm = 3,072
  3.3 vision_model.encoder.layers × 12 = 85,054,464
    3.3.1 attention × 1 = 2,362,368
      - vision_model.encoder.layers.self_attn.k_proj, vision_model.encoder.layers.self_attn.v_proj, vision_model.encoder.layers.self_attn.q_proj, vision_model.encoder.layers.self_attn.out_proj = 2,362,368
    3.3.2 feed_forward × 1 = 4,722,432
      - vision_model.encoder.layers.mlp.fc1 = 2,362,368
      - vision_model.encoder.layers.mlp.fc2 = 2,360,064
    3.3.3 norm × 1 = 3,072
      - vision_model.encoder.layers.layer_norm1, vision_model.encoder.layers.layer_norm2 = 3,072
4 projector × 1 = 655,360
  - visual_projection = 393,216
  - text_projection = 262,144
""",
    ("albert-base-v2", None): """
1 embeddings × 1 = 3,906,048
  - embeddings.word_embeddings = 3,840,000
  - embeddings.position_embeddings = 65,536
  - embeddings.token_type_embeddings = 256
  - embeddings.LayerNorm = 256
2 encoder × 1 = 7,186,944
  2.1 other × 1 = 99,072
    - encoder.embedding_hidden_mapping_in = 99,072
  2.2 encoder.albert_layer_groups × 1 = 7,087,872
    2.2.1 encoder.albert_layer_groups.albert_layers × 1 = 7,087,872
      2.2.1.1 attention × 1 = 2,362,368
        - encoder.albert_layer_groups.albert_layers.attention.query, encoder.albert_layer_groups.albert_layers.attention.key, encoder.albert_layer_groups.albert_layers.attention.value, encoder.albert_layer_groups.albert_layers.attention.dense = 2,362,368
      2.2.1.2 feed_forward × 1 = 4,722,432
        - encoder.albert_layer_groups.albert_layers.ffn = 2,362,368
        - encoder.albert_layer_groups.albert_layers.ffn_output = 2,360,064
      2.2.1.3 norm × 1 = 3,072
        - encoder.albert_layer_groups.albert_layers.full_layer_layer_norm, encoder.albert_layer_groups.albert_layers.attention.LayerNorm = 3,072
3 pooler × 1 = 590,592
  - pooler = 590,592
""",
    ("mixtral-8x7b", None): """
1 embedding × 1 = 131,072,000
  - model.embed_tokens = 131,072,000
2 model.layers × 32 = 46,440,644,608
  2.1 attention × 1 = 41,943,040
    - model.layers.self_attn.q_proj, model.layers.self_attn.o_proj = 33,554,432
    - model.layers.self_attn.k_proj, model.layers.self_attn.v_proj = 8,388,608
  2.2 experts × 1 = 1,409,318,912
    - model.layers.mlp.gate = 32,768
    - model.layers.mlp.experts = 1,409,286,144
  2.3 norm × 1 = 8,192
    - model.layers.input_layernorm, model.layers.post_attention_layernorm = 8,192
3 norm × 1 = 4,096
  - model.norm = 4,096
4 head × 1 = 131,072,000
  - lm_head = 131,072,000
""",
}


def outline(section: Section, indent: str = "") -> list[str]:
    """Return number, module, copies and amount of each section, and the modules on each line."""
    found = []
    for part in section.parts:
        if isinstance(part, Section):
            where = f" at {part.where}" if part.where else ""
            found.append(f"{indent}{part.number} {part.path or part.kind} × {part.copies} = {part.value:,}{where}")
            found += outline(part, indent + "  ")
        else:
            tied = f" tied to {', '.join(part.tied)}" if part.tied else ""
            found.append(f"{indent}- {', '.join(part.paths)} = {part.value:,}{tied}")
    return found


@pytest.mark.parametrize(("name", "class_name"), OUTLINES)
def test_a_derivation_is_divided_as_the_model_is(name: str, class_name: str | None) -> None:
    assert outline(weigh(name, class_name).explain().root) == OUTLINES[name, class_name].strip("\n").split("\n")


def lines(section: Section) -> list[tuple[Line, int]]:
    """Return the lines with the copies of the sections around them."""
    found = []
    for part in section.parts:
        inner = [(part, 1)] if isinstance(part, Line) else lines(part)
        found += [(line, copies * section.copies) for line, copies in inner]
    return found


@pytest.mark.parametrize(("name", "class_name"), OUTLINES)
def test_every_parameter_stands_on_one_line(name: str, class_name: str | None) -> None:
    """The lines' amounts, times the copies around them, are all parameters; every module that owns some is named."""
    weighed = weigh(name, class_name)
    shown = lines(weighed.explain().root)
    assert sum(line.value * copies for line, copies in shown) == weighed.count().unique
    named = {path for line, _ in shown for path in line.paths}
    for row in weighed.tensors():
        folded = re.sub(r"\.\d+(?=\.|$)", "", row.name)
        assert row.role == "buffer" or {folded, folded.rpartition(".")[0]} & named, row.name


def test_norms_with_and_without_shift_are_not_said_alike() -> None:
    def said(kind: str, *roles: str) -> tuple[str, ...]:
        made = [Tensor(role, (3, 4) if role == "weight" else (3,), role) for role in roles]
        return line_sentences(kind, [(tensor, tensor) for tensor in made])

    assert said("layer_norm", "gain") != said("layer_norm", "gain", "shift")
    assert said("linear", "weight") != said("linear", "weight", "bias")
    assert "without bias" in said("linear", "weight")[0]
    kinds = [line_title("no_such_kind", roles) for roles in (("bias",), ("embedding",), ("gain",))]
    assert len(set(kinds)) == 3
    assert line_title("conv2d", ("weight",)) == line_title("conv3d", ("weight",)) != kinds[0]


@pytest.mark.parametrize(("name", "batch"), [("bert-base-uncased", "B"), ("t5-small", "b")])
def test_the_batch_has_a_letter_that_no_size_has(name: str, batch: str) -> None:
    """T5's B counts the buckets of its relative positions."""
    found = flops_formula(weigh(name, None))
    assert {symbol.letter for symbol in found.symbols if symbol.word == "batch"} == {batch}


@pytest.mark.parametrize("name", ["bert-base-uncased", "gpt2", "llama-3.2-1b"])
def test_the_formula_of_the_arithmetic_has_the_value_of_a_pass(name: str) -> None:
    """Its letters stand for one example of 128 tokens."""
    assert flops_formula(weigh(name, None)).value == weigh(name, None).flops(batch=1, seq=128).forward_matmul


STEPS = (("vocab", "vocab_size"), ("hidden", "hidden_size"), ("layers", "num_hidden_layers"), ("mlp", "intermediate_size"))


def test_what_a_size_costs_is_what_a_recount_gives() -> None:
    """Each change of the insight is counted anew from a config with that size larger; what follows it grows with it."""
    config = {"vocab_size": 30522, "hidden_size": 768, "num_hidden_layers": 12, "intermediate_size": 3072}

    def unique(**sizes: int) -> int:
        found = model({"model_type": "bert", "num_attention_heads": 1, **config, **sizes}).count().unique
        assert isinstance(found, int)
        return found

    insight = weigh("bert-base-uncased", None).explain().insight
    assert insight is not None
    keys = dict(STEPS)
    assert {change.symbol.word for change in insight.changes} >= {"vocab", "hidden", "layers"}
    for change in insight.changes:
        key = keys[change.symbol.word]
        grown = config[key] + change.by
        assert unique(**{key: grown}) - unique() == change.value, change.symbol.word
        if change.symbol.word == "hidden":
            assert change.kept == unique(hidden_size=grown, intermediate_size=4 * grown) - unique()
        else:
            assert change.kept is None


def test_the_leading_term_is_the_largest() -> None:
    """12LH² of BERT-base is 84,934,656: the matrices of its layers; of a narrow model the vocabulary is."""
    insight = weigh("bert-base-uncased", None).explain().insight
    assert insight is not None
    assert (str(insight.leading), insight.leading_value) == ("12*L*H^2", 84_934_656)
    assert [str(multiple) for _, multiple in insight.relations] == ["4*H"]
    narrow = model({"model_type": "bert", "hidden_size": 12, "intermediate_size": 50}).explain().insight
    assert narrow is not None
    assert (str(narrow.leading), narrow.leading_value, narrow.relations) == ("V*H", 366_264, ())
