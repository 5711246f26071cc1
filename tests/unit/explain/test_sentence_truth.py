"""What a derivation says of which models: each sentence stands with all of them that it is true of, and with no other."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from weighbridge import model
from weighbridge.core.formula import Expression, Symbol
from weighbridge.core.tree import Tensor
from weighbridge.explain.derive import Derivation
from weighbridge.explain.line_sentences import shape_sentence
from weighbridge.explain.section import Line, Section, lines

BERTS = "bert-base-uncased albert-base-v2"
PLAIN_HEADS = f"{BERTS} gpt2 vit-base-patch16-224 whisper-base clip-vit-base-patch32"
LLAMAS = "llama-3-8b mixtral-8x7b mistral-7b-v0.1 qwen2-7b gemma-2-2b"
GATED = "llama-3-8b deepseek-v3 mistral-7b-v0.1 qwen2-7b gemma-2-2b"
RMS = f"{LLAMAS} t5-small deepseek-v3 mamba-130m"
MODELS = f"{PLAIN_HEADS} {RMS} falcon-7b resnet-50".split()
OF_SECTIONS = {
    "the rows are added": f"{BERTS} gpt2 whisper-base clip-vit-base-patch32",
    "each token takes its row": f"{LLAMAS} t5-small deepseek-v3 falcon-7b mamba-130m",
    "one convolution maps each patch to a vector": "vit-base-patch16-224 clip-vit-base-patch32",
    "mixed by learned kernels": "resnet-50 whisper-base",
    "any number of heads that divides it gives the same count": PLAIN_HEADS,
    "more heads mean more parameters": "t5-small",
    "query heads share one key-value head": "falcon-7b",
    "key-value heads, ": LLAMAS,
    "a sliding window": "mistral-7b-v0.1",
    "Queries come from the decoder": "t5-small whisper-base",
    "to one vector that all heads share": "deepseek-v3",
    "Queries too are compressed": "deepseek-v3",
    "keeps 576 numbers": "deepseek-v3",
    "one result gates the other": GATED,
    "to the inner width, one leads back": f"{PLAIN_HEADS} t5-small falcon-7b",
    "A router scores": "mixtral-8x7b deepseek-v3",
    "shared expert processes every token": "deepseek-v3",
    "root mean square": RMS,
    "moved by learned shifts": f"{PLAIN_HEADS} falcon-7b",
    "by a recurrence instead of attention": "mamba-130m",
    "each with parameters of its own": " ".join(name for name in MODELS if name != "albert-base-v2"),
    "Stored once, run 12 times": "albert-base-v2",
    "generates one token after another": "t5-small whisper-base",
    "stands for the whole input": BERTS,
    "each token of the vocabulary a score": f"{RMS} gpt2 whisper-base falcon-7b",
    "into the outputs of the task": "vit-base-patch16-224 resnet-50",
    "Turns an image into vectors": "clip-vit-base-patch32",
    "Turns text into vectors": "clip-vit-base-patch32",
    "or in which they are compared": "clip-vit-base-patch32",
}
OF_LINES = {
    "one learned vector in each row": f"{BERTS} gpt2 whisper-base clip-vit-base-patch32 {RMS} falcon-7b",
    "One gain γ and one shift β": f"{PLAIN_HEADS} falcon-7b resnet-50",
    "One gain γ for each component, no shift": RMS,
    "and one bias for each output.": f"{PLAIN_HEADS} resnet-50 mamba-130m qwen2-7b",
    "Linear map without bias": f"{RMS} whisper-base clip-vit-base-patch32 falcon-7b",
    "A learned vector.": "vit-base-patch16-224 clip-vit-base-patch32",
    "and one bias for each output channel": "vit-base-patch16-224 whisper-base mamba-130m",
    "Convolution without bias": "resnet-50 clip-vit-base-patch32",
    "all experts in one array": "mixtral-8x7b deepseek-v3",
    "not trained": "whisper-base",
    "Learned factors": "mamba-130m",
    "A learned factor.": "clip-vit-base-patch32",
}


@cache
def derive(name: str) -> Derivation:
    """Derive a preset once."""
    return model(name).explain()


def sections(part: Line | Section) -> Iterator[Section]:
    """Yield a section and all inside it."""
    if isinstance(part, Section):
        yield part
        for inner in part.parts:
            yield from sections(inner)


@pytest.mark.parametrize(("words", "names"), OF_SECTIONS.items(), ids=list(OF_SECTIONS))
def test_what_sections_say(words: str, names: str) -> None:
    assert {name for name in MODELS if any(words in part.sentence for part in sections(derive(name).root))} == set(names.split())


@pytest.mark.parametrize(("words", "names"), OF_LINES.items(), ids=list(OF_LINES))
def test_what_lines_say(words: str, names: str) -> None:
    assert {name for name in MODELS if any(words in line.sentence for line in lines(derive(name).root))} == set(names.split())


@pytest.mark.parametrize(
    ("name", "paths"), [("vit-base-patch16-224", {"vit.embeddings", ""}), ("clip-vit-base-patch32", {"vision_model.embeddings", ""})]
)
def test_patches_are_told_where_the_embeddings_are_and_where_the_convolution_is(name: str, paths: set[str]) -> None:
    assert {part.path for part in sections(derive(name).root) if "each patch to a vector" in part.sentence} == paths


def test_kernels_of_one_position_are_no_mixing() -> None:
    parts = [part for part in sections(model({"model_type": "mobilevit"}).explain().root) if part.kind == "convolution" and part.sentence]
    alone = {part.path for part in parts if "Kernels of size 1" in part.sentence}
    assert "encoder.layer.2.conv_1x1" in alone
    assert not {part.path for part in parts if "learned kernels" in part.sentence and part.path.endswith("1x1")}


@pytest.mark.parametrize(
    ("name", "title", "words"),
    [
        ("llama-3-8b", "Grouped-query attention", "32 query heads share 8 key-value heads, 4 to each"),
        ("falcon-7b", "Multi-query attention", "All 71 query heads share one key-value head"),
        ("mistral-7b-v0.1", "Grouped-query attention", "at most 4,096 tokens"),
        ("mixtral-8x7b", "Mixture of experts", "scores 8 experts for each token and picks 2; all 8 are stored, 2 are used"),
        ("deepseek-v3", "Multi-head latent attention", "keeps 576 numbers for each token and layer, not the 40,960"),
        ("t5-small", "Cross-attention", "from the sequence it attends to"),
    ],
)
def test_the_numbers_in_what_is_said(name: str, title: str, words: str) -> None:
    """576 = 512 + 64 and 40,960 = 128 x (192 + 128): DeepSeek-V3's cache and what plain attention of its widths would keep."""
    assert any(part.title == title and words in part.sentence for part in sections(derive(name).root))


def test_letters_of_a_formula_are_positive_whole_numbers_in_sympy_too() -> None:
    symbols = model("bert-base-uncased").formula().sympy().free_symbols
    assert symbols
    assert all(symbol.is_integer and symbol.is_positive for symbol in symbols)


I, O, K = Symbol("I"), Symbol("O"), Symbol("K")
WEIGHTS: list[tuple[str, list[tuple[str, tuple[int, ...], tuple[Expression | int, ...]]], str]] = [
    ("linear", [("weight", (8, 4), (O, I))], "from I inputs to O outputs"),
    ("linear", [("weight", (8, 4), (O, I)), ("bias", (8,), (O,))], "from I inputs to O outputs"),
    ("linear", [("weight", (4, 8), (I, O)), ("bias", (8,), (O,))], "from I inputs to O outputs"),  # GPT-2's Conv1D
    ("linear", [("weight", (8, 8), (O, I)), ("bias", (8,), (O,))], "from I inputs to O outputs"),
    ("embedding", [("embedding", (30, 8), (I, O))], "I rows of O"),
    ("convolution", [("weight", (8, 4, 3), (O, I, K)), ("bias", (8,), (O,))], "O kernels of I × K"),
    ("convolution", [("weight", (4, 8, 3), (I, O, K)), ("bias", (8,), (O,))], ""),  # transposed: its first size is no number of kernels
    ("convolution", [("weight", (8, 4), (O, I))], ""),
    ("layer_norm", [("gain", (8,), (O,)), ("shift", (8,), (O,))], ""),
    ("linear", [("weight", (8, 4), (8, 4))], ""),
    ("experts", [("weight", (8, 4), (O, I)), ("weight", (8, 4), (O, I))], ""),
]


@pytest.mark.parametrize(("kind", "tensors", "words"), WEIGHTS)
def test_what_the_letters_of_a_shape_are(
    kind: str, tensors: list[tuple[str, tuple[int, ...], tuple[Expression | int, ...]]], words: str
) -> None:
    pairs = [(Tensor(role, shape, role), Tensor(role, symbolic, role)) for role, shape, symbolic in tensors]
    assert str(shape_sentence(kind, pairs)) == words
