"""Retrieval-augmented generation: a question encoder, and a generator over the retrieved passages (Lewis et al., 2020).

Source: arXiv 2005.11401; names as in transformers 5.23.0, models/rag/modeling_rag.py. The documents are found outside of the model.
"""

from __future__ import annotations

from weighbridge.blueprints.modules.composite import as_child, model_config, submodel
from weighbridge.config.family import Family
from weighbridge.config.fields import Config
from weighbridge.core.length import unknown
from weighbridge.core.parts import part, replace
from weighbridge.core.tree import Part

FOUND = unknown("the generator reads documents that are found outside of the model")


def rag(c: Config, name: str = "") -> Part:
    """Describe the two, held as *name*."""
    writer = submodel(c.generator, "ForConditionalGeneration")
    prefix = f"{name}.generator" if name else "generator"
    moved = replace(as_child(prefix, writer, streams={"seq": FOUND, "decoder": FOUND}), name="generator")
    return part(name, as_child("question_encoder", submodel(c.question)), moved, kind="backbone" if name else "model")


FIELDS = (model_config("question", "question_encoder", "dpr bert"), model_config("generator", "generator", "bart t5"))
CLASSES = {
    "RagModel": rag,
    "RagSequenceForGeneration": lambda c: part("", rag(c, "rag"), kind="model"),
    "RagTokenForGeneration": lambda c: part("", rag(c, "rag"), kind="model"),
}
IGNORED_KEYS = frozenset(
    """dataset dataset_revision dataset_split do_deduplication do_marginalize doc_sep exclude_bos_score index_name index_path
    label_smoothing max_combined_length n_docs output_retrieved passages_path reduce_loss retrieval_batch_size retrieval_vector_size
    tie_word_embeddings title_sep use_dummy_dataset vocab_size""".split()
)
FAMILIES = {"rag": Family("rag", FIELDS, CLASSES, "RagModel", IGNORED_KEYS)}
