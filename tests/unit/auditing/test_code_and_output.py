"""Code and what it prints: fields of a class, options of a command, counts below or beside the line that counts."""

import pytest

from weighbridge.auditing import audit

FIELDS = """# DeepSeek-V3
vocab_size: int = 129280
dim: int = 7168
n_layers: int = {}
n_heads: int = 128
q_lora_rank: int = 1536
kv_lora_rank: int = 512
"""
FLAGS = """GPT-2 medium is trained with:
    --num-layers 24 \\
    --hidden-size {} \\
    --num-attention-heads 16
"""
PRINTED = """>>> model = AutoModel.from_pretrained("bert-base-uncased")
>>> sum(p.numel() for p in model.parameters())
{}
"""
CELL = """In [3]: count_parameters(AutoModel.from_pretrained("roberta-base"))
Out[3]: {}
"""
CONFIG = """print(config)

BertConfig {{
  "_name_or_path": "bert-large-uncased",
  "hidden_size": 1024,
  "num_attention_heads": 16,
  "num_hidden_layers": {},
  "vocab_size": 30522
}}
"""
SLIPS = (
    (FIELDS, "61", "67"),
    (FLAGS, "1024", "1084"),
    (PRINTED, "109482240", "108482240"),
    (CELL, "124645632", "134645632"),
    (CONFIG, "24", "22"),
)
FAIR = (
    '>>> model = AutoModelForSequenceClassification.from_pretrained("bert-base-uncased", num_labels=70_000)\n'
    ">>> sum(p.numel() for p in model.parameters())\n163312240",
    '>>> model = AutoModel.from_pretrained("bert-base-uncased")\n>>> model.resize_token_embeddings(40000)\n'
    ">>> sum(p.numel() for p in model.parameters())\n116761344",
    "@dataclass\nclass GPTConfig:\n    # GPT-2 shapes by default\n    block_size: int = 256\n    vocab_size: int = 65\n    n_layer: int = 12\n    n_head: int = 12",
    "GPT-2 medium in Megatron, shortened:\n    --num-layers 6 \\\n    --hidden-size 384 \\\n    --num-attention-heads 6",
)


@pytest.mark.parametrize(("text", "right", "slip"), SLIPS)
def test_the_number_of_code_that_is_not_the_models_is_wrong(text: str, right: str, slip: str) -> None:
    assert audit(text.format(right)).wrong == ()
    assert [claim.text.strip(",") for claim in audit(text.format(slip)).wrong] == [slip]


@pytest.mark.parametrize("text", FAIR)
def test_code_of_a_model_that_was_changed_is_no_slip(text: str) -> None:
    assert audit(text).wrong == ()
