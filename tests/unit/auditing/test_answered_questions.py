"""Numbers that answer a question about a model's size or count."""

from __future__ import annotations

import pytest

from weighbridge import audit

ANSWERS = (
    ("How many layers does BERT-Base have?\nAnswer: {}\n\nAnd ALBERT shares them.", "12", "14"),
    ("Q: How many parameters does GPT-2 XL have?\nA: {} parameters", "1.5 billion", "2.5 billion"),
    ("What is the hidden size of Llama-3-8B? {}", "4096", "5096"),
    ("### How many hidden layers are there in RoBERTa-base?\n\n**{}**", "12", "24"),
    ("How many layers does BERT-Base have?\nAnswer: 12\nHow many attention heads does BERT-Large use?\nAnswer: {} heads.", "16", "12"),
)
FAIR = (
    "How many layers does BERT-base have? 13 if you count the embeddings.",
    "How many layers does BERT-base have?\n\n6 layers are enough for most tasks.",
    "How many layers of BERT-base should I freeze?\n8",
    "How many heads does BERT-base have?\n- 8\n- 10\n- 12",
    "How many words are in the vocabulary of BERT-base?\nAbout 30,000",
    "How many layers does our small BERT-base have?\n6",
    "How many layers does a student of BERT-base have?\n6",
    "What is the hidden size of BERT-base?\nA: 1. 512  2. 768  3. 1024",
    "What is the hidden size of BERT-base?\nA: 512, 768, 1024 (pick one)",
    "How many layers does BERT-base have?\n(1) 6 (2) 12",
    "How many attention heads does BERT-large have per GPU with TP=8?\n2",
)


@pytest.mark.parametrize(("text", "right", "wrong"), ANSWERS)
def test_an_answer_is_held_against_the_model_of_its_question(text: str, right: str, wrong: str) -> None:
    assert audit(text.format(right).encode(), name="x.md").wrong == ()
    assert [claim.text for claim in audit(text.format(wrong).encode(), name="x.md").wrong] == [wrong]


@pytest.mark.parametrize("text", FAIR)
def test_what_answers_another_question_is_no_slip(text: str) -> None:
    assert audit(text.encode(), name="x.md").wrong == ()
