"""The names of Google's original BERT, in which kernels are ``[inputs, outputs]``.

Source: google-research/bert, modeling.py, run_pretraining.py, run_squad.py and run_classifier.py.
"""

from __future__ import annotations

from weighbridge.core.parts import replace
from weighbridge.core.tree import Row


def original_row(row: Row) -> Row:
    """Translate a tensor to its name and shape in Google's original release, where kernels are ``[inputs, outputs]``.

    >>> original_row(Row("encoder.layer.0.intermediate.dense.weight", (3072, 768), "weight", None, None, False))[:2]
    ('bert/encoder/layer_0/intermediate/dense/kernel', (768, 3072))
    """
    name = tensorflow_name(row.name)
    shape = row.shape[::-1] if name.endswith("/kernel") else row.shape
    return replace(row, name=name, shape=shape, tied_to=row.tied_to and tensorflow_name(row.tied_to))


def tensorflow_name(name: str) -> str:
    """Translate a name to that of Google's original release.

    >>> tensorflow_name("bert.embeddings.word_embeddings.weight")
    'bert/embeddings/word_embeddings'
    >>> tensorflow_name("cls.seq_relationship.weight")
    'cls/seq_relationship/output_weights'
    """
    import re  # a plain count does not need it

    name = name if name.startswith(("bert.", "cls.", "classifier.", "qa_outputs.")) else "bert." + name
    for pattern, replacement in _TENSORFLOW:
        name, found = re.subn(pattern, replacement, name)
        if found and not pattern.startswith(r"\.layer"):
            break
    return name.replace(".", "/")


_TENSORFLOW = (
    (r"\.layer\.(\d+)\.", r".layer_\1."),
    (r"LayerNorm\.weight$", "LayerNorm.gamma"),
    (r"LayerNorm\.bias$", "LayerNorm.beta"),
    (r"_embeddings\.weight$", "_embeddings"),
    (r"^cls\.predictions\.decoder\.weight$", "bert.embeddings.word_embeddings"),
    (r"^cls\.predictions\.(decoder\.)?bias$", "cls.predictions.output_bias"),
    (r"^cls\.seq_relationship\.weight$", "cls.seq_relationship.output_weights"),
    (r"^cls\.seq_relationship\.bias$", "cls.seq_relationship.output_bias"),
    (r"^qa_outputs\.weight$", "cls.squad.output_weights"),
    (r"^qa_outputs\.bias$", "cls.squad.output_bias"),
    (r"^classifier\.weight$", "output_weights"),
    (r"^classifier\.bias$", "output_bias"),
    (r"\.weight$", ".kernel"),
)
