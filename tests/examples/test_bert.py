"""The BERT to read: its parameters are the tree's rows, its outputs the reference library's. Needs torch; the second also transformers."""

from __future__ import annotations

import random
import re
from typing import Any

import pytest

import weighbridge

pytest.importorskip("torch.nn")  # a folder of test data named torch would pass for torch
torch: Any = pytest.importorskip("torch")
bert: Any = pytest.importorskip("examples.bert.bert")


def draw_config(seed: int) -> dict[str, Any]:
    """Return a random small config, in the words of a ``config.json``."""
    r = random.Random(seed)
    heads = r.choice((1, 2, 3, 4))
    return {
        "model_type": "bert",
        "vocab_size": r.randint(20, 90),
        "max_position_embeddings": r.randint(12, 40),
        "type_vocab_size": r.randint(2, 4),
        "hidden_size": heads * r.randint(2, 9),
        "intermediate_size": r.randint(5, 50),
        "num_hidden_layers": r.randint(1, 4),
        "num_attention_heads": heads,
        "hidden_act": r.choice(("gelu", "gelu_new", "relu", "silu", "tanh")),
        "id2label": {str(i): str(i) for i in range(2)},
        "is_decoder": r.random() < 0.3,
        "tie_word_embeddings": r.random() < 0.7,
    }


CONFIGS = [
    {"model_type": "bert"},
    {"model_type": "bert", "id2label": {str(i): str(i) for i in range(5)}},
    *(draw_config(seed) for seed in range(8)),
]


@pytest.mark.parametrize("name", bert.CLASSES)
def test_the_parameters_are_the_rows_of_weigh_tensors(name: str) -> None:
    for raw in CONFIGS:
        with torch.device("meta"):
            model = bert.CLASSES[name](bert.Config.of(raw))
        live = list(model.named_parameters(remove_duplicate=False))
        rows = weighbridge.model(raw, name).tensors()
        assert [(key, tuple(value.shape)) for key, value in live] == [(row.name, row.shape) for row in rows]
        by_name = dict(live)
        assert all(by_name[row.name] is by_name[row.tied_to] for row in rows if row.tied_to)
        assert sum(value.numel() for value in model.parameters()) == weighbridge.count(raw, name).unique


def test_every_module_weighs_what_its_docstring_says() -> None:
    raw = {**draw_config(3), "num_hidden_layers": 3, "tie_word_embeddings": True}
    c = bert.Config.of(raw)
    letters = {"V": c.vocab_size, "S": c.max_position_embeddings, "T": c.type_vocab_size, "H": c.hidden_size}
    letters |= {"I": c.intermediate_size, "L": c.num_hidden_layers}
    words = torch.nn.Parameter(torch.zeros(c.vocab_size, c.hidden_size))
    named = [bert.Embeddings, bert.SelfAttention, bert.Attention, bert.Intermediate, bert.Layer, bert.Encoder, bert.Pooler, bert.Transform]
    for cls in named:
        said = re.search(r"Weighs ([^.:]+)", cls.__doc__)
        assert said, cls
        assert weight(cls(c)) == eval(said[1], letters), cls.__name__
    for inputs in (c.hidden_size, c.intermediate_size):
        said = re.search(r"Weighs ([^.:]+)", bert.Output.__doc__)
        assert said
        assert weight(bert.Output(c, inputs)) == eval(said[1], letters | {"inputs": inputs})
    assert weight(bert.Predictions(c, words)) - words.numel() == c.hidden_size**2 + 3 * c.hidden_size + c.vocab_size


def weight(module: Any) -> int:
    return sum(value.numel() for value in module.parameters())


@pytest.mark.parametrize("name", bert.CLASSES)
def test_outputs_losses_and_gradients_are_the_reference_librarys(name: str) -> None:
    reference = pytest.importorskip("transformers")
    for seed in range(8):
        raw = draw_config(seed)
        torch.manual_seed(seed)
        ours = bert.CLASSES[name](bert.Config.of(raw)).double().eval()
        for value in ours.parameters():  # the drawn weights are so small that a slip could hide in them
            torch.nn.init.normal_(value, std=0.5)
        theirs = getattr(reference, name)._from_config(reference.BertConfig(**raw), attn_implementation="eager").double().eval()
        theirs.load_state_dict(ours.state_dict())
        made = inputs(raw, name, seed)
        labels = made.pop("labels", None)
        result, loss = ours(**made, labels=labels) if labels is not None else (ours(**made), None)
        expected = theirs(**made, **({} if labels is None else dict(zip(LABELS.get(name, ("labels",)), pair(labels), strict=True))))
        shown = [expected[key] for key in expected if key.endswith(("logits", "hidden_state", "pooler_output"))]
        assert_close(pair(result), shown)
        if loss is not None:
            assert_close((loss,), (expected.loss,))
            loss.backward()
            expected.loss.backward()
            gradients = dict(theirs.named_parameters())
            assert_close([p.grad for _, p in ours.named_parameters()], [gradients[key].grad for key, _ in ours.named_parameters()])


LABELS = {"BertForPreTraining": ("labels", "next_sentence_label"), "BertForQuestionAnswering": ("start_positions", "end_positions")}


def pair(values: Any) -> tuple[Any, ...]:
    return tuple(value for value in values if value is not None) if isinstance(values, tuple) else (values,)


def assert_close(ours: Any, theirs: Any) -> None:
    assert len(ours) == len(theirs)
    assert ours
    for one, other in zip(ours, theirs, strict=True):
        assert (one is None) == (other is None)
        if one is not None:
            torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-5, check_dtype=False)


def inputs(raw: dict[str, Any], name: str, seed: int) -> dict[str, Any]:
    """Return random tokens, types, padding at the end of some texts, and the labels that a class takes."""
    generator = torch.Generator().manual_seed(seed)
    shape = (3, 2, 11) if name == "BertForMultipleChoice" else (3, 11)

    def integers(below: int, shape: tuple[int, ...]) -> Any:
        return torch.randint(0, below, shape, generator=generator)

    mask = (torch.arange(11) < integers(11, (*shape[:-1], 1)) + 1).long()
    made = {"input_ids": integers(raw["vocab_size"], shape), "token_type_ids": integers(2, shape), "attention_mask": mask}
    words = integers(raw["vocab_size"], shape).masked_fill(integers(2, shape) == 0, bert.IGNORED)
    labels = {
        "BertForMaskedLM": words,
        "BertLMHeadModel": words,
        "BertForPreTraining": (words, integers(2, (3,))),
        "BertForTokenClassification": integers(2, shape),
        "BertForQuestionAnswering": (integers(11, (3,)), integers(11, (3,))),
    }
    return made if name == "BertModel" else {**made, "labels": labels.get(name, integers(2, (3,)))}


def test_what_it_does_not_describe_is_refused() -> None:
    with pytest.raises(ValueError, match="does not divide"):
        bert.BertModel(bert.Config(hidden_size=10, num_attention_heads=3))
    with pytest.raises(ValueError, match="add_cross_attention"):
        bert.Config.of({"add_cross_attention": True})
