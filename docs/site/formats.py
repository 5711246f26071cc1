"""A page for each checkpoint format: what its files are, what tells the count, what is checked, and a real answer of a file of that format."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from importlib import import_module
from textwrap import wrap
from typing import NamedTuple

from weighbridge import model
from weighbridge.core.errors import WeighbridgeError
from weighbridge.documents import count as counted
from weighbridge.documents.renderers import render


class Page(NamedTuple):
    """One format; the three texts are in English and in Chinese."""

    name: str
    title: str
    modules: tuple[str, ...]
    sample: str
    files: tuple[str, str]
    tells: tuple[str, str]
    checked: tuple[str, str]


PAGES = (
    Page("safetensors", "safetensors", ("safetensors",), "tests/corpus/formats/mlx.safetensors",
         ("`.safetensors`; shards by `model.safetensors.index.json`", "`.safetensors`；分片由 `model.safetensors.index.json` 列出"),
         ("the JSON header", "文件头的 JSON"),
         ("offsets against shapes and types, no gap, no overlap", "偏移量与形状、类型一致，没有空隙，也不重叠")),
    Page("pytorch", "PyTorch", ("torch_zip", "torch_legacy", "torch_walk"), "tests/corpus/formats/frozen.pt",
         ("`.pt`, `.pth`, `.bin`, `.ckpt`", "`.pt`、`.pth`、`.bin`、`.ckpt`"),
         ("the pickle, in which nothing can run", "pickle，其中任何代码都不会执行"),
         ("storages against the members of the archive", "存储区与压缩包成员一致")),
    Page("gguf", "GGUF", ("gguf",), "", ("`.gguf`, versions 2 and 3, split files too", "`.gguf`，第 2、3 版，也可以是拆分的文件"),
         ("the table of tensors", "张量表"),
         ("block sizes of all types, data without a gap, padding", "各类型的块大小、数据没有空隙、对齐填充")),
    Page("onnx", "ONNX", ("onnx",), "", ("`.onnx`", "`.onnx`"),
         ("initializers and constants, of sub-graphs and functions too", "初始值与常量，包括子图和函数中的"),
         ("bytes against shapes; every input of every node comes from somewhere", "字节数与形状一致；每个节点的每个输入都有来源")),
    Page("tensorflow", "TensorFlow", ("tensorflow",), "", ("`.index`, `variables/variables.index`", "`.index`、`variables/variables.index`"),
         ("the index; the shards of data stay shut", "索引文件；数据分片不打开"),
         ("checksums of blocks, bytes against shapes, slices against their whole", "块的校验和、字节数与形状、切片与整体")),
    Page("keras", "Keras", ("keras",), "", ("`.h5`, `.weights.h5`, `.keras`; needs `pip install weighbridge[formats]`",
                                       "`.h5`、`.weights.h5`、`.keras`；需要 `pip install weighbridge[formats]`"),
         ("HDF5's own headers", "HDF5 自身的头部"), ("bytes against shapes; no links out of the file", "字节数与形状一致；没有指向文件之外的链接")),
    Page("flax", "Flax", ("flax",), "", ("`.msgpack`", "`.msgpack`"), ("the nested maps", "嵌套的映射"), ("bytes against shapes", "字节数与形状一致")),
    Page("numpy", "NumPy", ("npz", "npy"), "tests/corpus/formats/mlx.npz",
         ("`.npz`, `.npy`, arrays in a row (Equinox' `.eqx`)", "`.npz`、`.npy`、连续写下的数组（Equinox 的 `.eqx`）"),
         ("the header of each array", "每个数组的头部"), ("bytes against shapes", "字节数与形状一致")),
    Page("pickle", "Pickle", ("plain_pickle",), "tests/corpus/formats/arrays-5.pkl",
         ("`.pkl`, PaddlePaddle's `.pdparams`, arrays of JAX", "`.pkl`、PaddlePaddle 的 `.pdparams`、JAX 的数组"),
         ("the pickle, in which nothing can run; the arrays are passed over", "pickle，其中任何代码都不会执行；数组内容直接跳过"),
         ("bytes against shapes", "字节数与形状一致")),
    Page("distributed", "Distributed checkpoints", ("distributed",), "tests/corpus/formats/dcp",
         ("FSDP, torchtitan, Megatron's `torch_dist`: `.metadata` and `.distcp`", "FSDP、torchtitan、Megatron 的 `torch_dist`：`.metadata` 与 `.distcp`"),
         ("the metadata, a pickle in which nothing can run", "元数据（pickle，其中任何代码都不会执行）"),
         ("chunks against shapes; the files are there and long enough", "各块与形状一致；文件存在且足够长")),
    Page("training", "DeepSpeed, Megatron", ("training_roots", "torch_training"), "tests/corpus/formats/megatron",
         ("the root of a training, or the folder of a step", "训练的根目录，或某一步的目录"),
         ("the files of the ranks; with ZeRO 3 the shapes that each rank's file states", "各进程的文件；ZeRO 3 则看每个进程文件写明的形状"),
         ("as PyTorch", "与 PyTorch 相同")),
    Page("nemo", "NeMo", ("tar",), "", ("`.nemo` that is not packed", "未压缩的 `.nemo`"),
         ("the checkpoint of torch in the tar", "tar 中的 torch 检查点"), ("checksums of headers; as PyTorch", "头部校验和；其余与 PyTorch 相同")),
    Page("torch-export", "torch.export", ("torch_export",), "", ("`.pt2`", "`.pt2`"), ("the table of weights", "权重表"),
         ("bytes against shapes", "字节数与形状一致")),
    Page("tflite", "TensorFlow Lite", ("tflite",), "", ("`.tflite`", "`.tflite`"),
         ("the tensors with a buffer of constants", "带常量缓冲区的张量"), ("bytes against shapes and types", "字节数与形状、类型一致")),
    Page("executorch", "ExecuTorch", ("executorch",), "", ("`.pte` without delegates", "不含 delegate 的 `.pte`"),
         ("the tensors with constants", "带常量的张量"),
         ("bytes against shapes and types; weights in delegates or other files are refused",
          "字节数与形状、类型一致；权重在 delegate 或其他文件中的，拒绝读取")),
    Page("coreml", "Core ML", ("coreml", "coreml_layers"), "tests/corpus/formats/layers.mlmodel", ("`.mlmodel`, `.mlpackage`", "`.mlmodel`、`.mlpackage`"),
         ("constants of an ML program; weights of a network's layers, whose shape the file does not tell",
          "ML program 的常量；神经网络各层的权重（文件不写明其形状）"),
         ("constants lie within their file; other kinds of models are refused", "常量不超出文件；其他种类的模型拒绝读取")),
    Page("openvino", "OpenVINO", ("openvino",), "tests/corpus/formats/openvino.xml", ("`.xml` beside `.bin`", "`.xml`，旁边有 `.bin`"),
         ("the types and shapes of the constants", "常量的类型与形状"), ("sizes against shapes; the values are there", "大小与形状一致；数值存在")),
    Page("ctranslate2", "CTranslate2", ("ctranslate2",), "tests/corpus/formats/ct2", ("`model.bin`", "`model.bin`"), ("the table of variables", "变量表"),
         ("bytes against shapes and types", "字节数与形状、类型一致")),
    Page("zarr", "Zarr, Orbax, T5X", ("zarr", "ocdbt"), "tests/corpus/formats/orbax",
         ("directories; OCDBT databases (packed ones need `pip install weighbridge[bulk]`)", "目录；OCDBT 数据库（压缩的需要 `pip install weighbridge[bulk]`）"),
         ("`.zarray`, `zarr.json`, in files or in the tree of a database", "`.zarray`、`zarr.json`，在文件中或数据库的树中"),
         ("types and shapes; places of nodes", "类型与形状；节点的位置")),
    Page("adapter", "PEFT adapters", ("adapter",), "", ("`adapter_config.json` beside weights", "`adapter_config.json`，旁边有权重"), ("the weights", "权重"),
         ("both halves and the rank of each pair, ranks against the config", "每对矩阵的两半与秩，秩与配置一致")),
)  # fmt: skip
"""In the order of docs/formats.md."""

WORDS = {
    "en": (
        "Files",
        "What tells the count",
        "What is checked",
        "A file of this format",
        "How it is read",
        "All formats, packed weights, bounds",
    ),
    "zh": ("文件", "数目从何而来", "核对什么", "一个这种格式的文件", "如何读取（源码中的说明，英文）", "所有格式、压缩权重与上限"),
}


def format_pages(lang: str) -> Iterator[tuple[str, str]]:
    """Yield the page of every format: its name, and its Markdown."""
    at = 0 if lang == "en" else 1
    files, tells, checked, sample, how, more = WORDS[lang]
    for page in PAGES:
        facts = f"| | |\n|---|---|\n| {files} | {page.files[at]} |\n| {tells} | {page.tells[at]} |\n| {checked} | {page.checked[at]} |\n"
        notes = "\n\n".join(_wrap(inspect.getdoc(import_module(f"weighbridge.readers.{name}")) or "") for name in page.modules)
        shown = f"\n## {sample}\n\n```text\n{answer(page.sample, lang)}```\n" if page.sample else ""
        link = f"\n{more}: [formats](../../formats.md)\n" if lang == "en" else ""
        yield page.name, f"# {page.title}\n\n{facts}{shown}\n## {how}\n\n```text\n{notes}\n```\n{link}"


def _wrap(text: str) -> str:
    return "\n".join(line for own in text.splitlines() for line in (wrap(own, 88) or [""]))


def answer(sample: str, lang: str) -> str:
    """Return what ``weigh FILE`` prints of a file of the tests."""
    try:
        return f"$ weigh {sample}\n" + render(counted.document(model(sample), lang=lang), "text", width=90)
    except WeighbridgeError as error:
        return f"$ weigh {sample}\nweigh: {error}\n"
