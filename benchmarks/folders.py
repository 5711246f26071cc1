"""Folders that the fuzzing of directories begins with: shards with their index, adapters, packed weights with their config, arrays of Zarr."""

from __future__ import annotations

import json
from math import prod

SIZES = {"F32": 4, "F16": 2, "I32": 4, "U8": 1, "I8": 1}


def safetensors(**tensors: tuple[str, tuple[int, ...]]) -> bytes:
    """Return a file of these tensors, each of a type and a shape; two underscores in a name are a dot."""
    header: dict[str, object] = {}
    end = 0
    for name, (dtype, shape) in tensors.items():
        size = SIZES[dtype] * prod(shape)
        header[name.replace("__", ".")] = {"dtype": dtype, "shape": shape, "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header, separators=(",", ":")).encode()
    return len(text).to_bytes(8, "little") + text + bytes(end)


def _json(**values: object) -> bytes:
    return json.dumps(values, separators=(",", ":")).encode()


_ONE, _TWO = "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"
_SHARDS = {_ONE: safetensors(a__weight=("F32", (2, 3))), _TWO: safetensors(b__weight=("F16", (4,)))}
_INDEX = _json(metadata={"total_size": 32, "total_parameters": 10}, weight_map={"a.weight": _ONE, "b.weight": _TWO})
_ARRAY = {"zarr_format": 2, "shape": [3, 4], "dtype": "<f4", "chunks": [3, 4], "order": "C"}

FOLDERS: dict[str, list[dict[str, bytes]]] = {
    "directory": [
        {"model.safetensors.index.json": _INDEX, **_SHARDS},
        _SHARDS,
        {"model.safetensors": safetensors(w=("F32", (1,))), "pytorch_model.bin": b"", "unet/model.safetensors": b""},
        {
            "config.json": _json(quantization_config={"quant_method": "gptq", "bits": 4, "group_size": 8}),
            "model.safetensors": safetensors(
                q__qweight=("I32", (2, 8)), q__qzeros=("I32", (2, 1)), q__scales=("F16", (2, 8)), q__g_idx=("I32", (16,))
            ),
        },
        {
            "config.json": _json(quantization={"bits": 4, "group_size": 8}),
            "model.safetensors": safetensors(q__weight=("I32", (4, 2)), q__scales=("F16", (4, 2)), q__biases=("F16", (4, 2))),
        },
        {"config.json": b"{}", "model.safetensors": safetensors(w_blocks=("U8", (2, 4, 1, 16)), w_scales=("U8", (2, 4, 1)))},
    ],
    "adapter": [
        {
            "adapter_config.json": _json(peft_type="LORA", base_model_name_or_path="org/base", r=2, rank_pattern={"v": 1, "x.*y": 3}),
            "adapter_model.safetensors": safetensors(
                q__lora_A__weight=("F32", (2, 3)), q__lora_B__weight=("F32", (3, 2)), v__lora_A=("F32", (1, 3)), v__lora_B=("F32", (3, 1))
            ),
        },
        {
            "adapter_config.json": _json(peft_type="LORA", base_model_name_or_path="bert-base-uncased", r=2),
            "adapter_model.safetensors": safetensors(
                e__lora_embedding_A=("F32", (2, 3)), e__lora_embedding_B=("F32", (3, 2)), h=("I8", (3,))
            ),
        },
    ],
    "zarr": [
        {"_METADATA": b"{}", "params.w/.zarray": _json(**_ARRAY), "opt_state.0/.zarray": _json(**{**_ARRAY, "dtype": "bfloat16"})},
        {
            "zarr.json": _json(zarr_format=3, node_type="group"),
            "a/zarr.json": _json(zarr_format=3, node_type="array", shape=[2], data_type="float16"),
            "b/c/zarr.json": _json(zarr_format=3, node_type="array", shape=[], data_type="int4"),
        },
        {"manifest.ocdbt": b"", "d/0": b""},
    ],
}
"""By the reader; every file by its name."""
