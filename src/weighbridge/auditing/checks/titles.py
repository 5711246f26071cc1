"""What components and sizes are called in a sentence."""

from __future__ import annotations

from weighbridge.core.messages import mark

COMPONENT_TITLES = {
    "word": mark("the word embedding table"), "position": mark("the position embedding table"), "type": mark("the token type table"),
    "embedding_norm": mark("the embedding norm"), "tables": mark("the embedding tables"), "embeddings": mark("the embedding layer"),
    "attention": mark("the attention"), "query": mark("the query map"), "key": mark("the key map"), "value": mark("the value map"),
    "qkv": mark("query, key and value"), "out": mark("the attention's output projection"), "ffn": mark("the feed-forward network"),
    "gate": mark("the gate of the feed-forward network"), "up": mark("the widening map"), "down": mark("the narrowing map"), "norm": mark("the normalization"), "layer": mark("a layer"),
    "encoder": mark("the stack of layers"), "pooler": mark("the pooler"), "head": mark("the head"),
}  # fmt: skip

SIZE_TITLES = {
    "vocab": mark("vocabulary size"),
    "hidden": mark("hidden size"),
    "layers": mark("number of layers"),
    "heads": mark("number of attention heads"),
    "mlp": mark("intermediate size"),
    "positions": mark("number of positions"),
    "types": mark("number of token types"),
    "head_dim": mark("head size"),
    "kv_heads": mark("number of key-value heads"),
    "experts": mark("number of experts"),
    "active": mark("number of experts for each token"),
    "shared": mark("number of shared experts"),
    "moe_layers": mark("number of layers with experts"),
    "dense_layers": mark("number of layers without experts"),
    "kv_lora": mark("width of the compressed keys and values"),
    "q_lora": mark("width of the compressed queries"),
    "rope_dim": mark("rotary width of a head"),
    "expert_mlp": mark("intermediate size of an expert"),
    "patch": mark("patch size"),
    "image": mark("image size"),
}
