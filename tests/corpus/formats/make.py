"""Write this corpus with the libraries themselves: ``python tests/corpus/formats/make.py GROUP...``, in an environment that has them.

Each file is small and holds zeros. ``expected.json`` has, for each, what its own library says of it when it reads it back: name, shape and
element type of every array, and the version that said so. Groups: torch (2.13.0), megatron, deepspeed, numpy, equinox, openvino, ctranslate2, coremltools, orbax,
mlx, litert, executorch, paddle.
"""

from __future__ import annotations

import json
import os
import pickle
import shutil
import subprocess
import sys
import tarfile
from collections import Counter
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
Facts = dict[str, list[Any]]
"""Shape and type of each array, by name."""


def facts(arrays: dict[str, Any]) -> Facts:
    """Return what a library says of arrays."""
    return {name: [list(array.shape), str(array.dtype).removeprefix("torch.").removeprefix("mlx.core.")] for name, array in arrays.items()}


def module() -> Any:
    """Return a small module of torch with a tie, a norm's statistics, a buffer that is not saved, and a constant."""
    torch: Any = import_module("torch")

    class Net(torch.nn.Module):  # type: ignore[misc,name-defined,unused-ignore]
        def __init__(self) -> None:
            super().__init__()
            self.embed = torch.nn.Linear(3, 4)
            self.norm = torch.nn.BatchNorm1d(4)
            self.head = torch.nn.Linear(4, 3, bias=False)
            self.register_buffer("scratch", torch.zeros(2), persistent=False)
            self.table = torch.zeros(5)

        def forward(self, x: Any) -> Any:
            return self.head(self.norm(self.embed(x))) + self.scratch.sum() + self.table.sum()

    net = Net().eval()
    for tensor in net.state_dict().values():
        tensor.zero_()
    return net


def of_torch() -> dict[str, Facts]:
    """DCP, DeepSpeed's and Megatron's folders, NeMo's archive, torch.export, a frozen module, a plain pickle."""
    torch: Any = import_module("torch")
    dcp: Any = import_module("torch.distributed.checkpoint")
    net = module()
    state = net.state_dict()
    said = facts(state)
    optimizer = torch.optim.Adam(net.parameters())
    net.train()(torch.zeros(2, 3)).sum().backward()
    optimizer.step()
    fresh("dcp")
    dcp.save({"model": state, "optimizer": optimizer.state_dict(), "step": 3}, checkpoint_id=str(HERE / "dcp"))
    fresh("megatron/iter_0000100/mp_rank_00")
    (HERE / "megatron" / "latest_checkpointed_iteration.txt").write_text("100")
    torch.save(
        {
            "args": {"lr": 1},
            "iteration": 100,
            "model": state,
            "optimizer": optimizer.state_dict(),
            "rng_state": [torch.zeros(9, dtype=torch.uint8)],
        },
        HERE / "megatron" / "iter_0000100" / "mp_rank_00" / "model_optim_rng.pt",
    )
    shapes = [{name: parameter.shape for name, parameter in net.named_parameters()}]
    buffers = [name for name, _ in net.named_buffers() if name in state]
    for stage, name in ((2, "mp_rank_00_model_states.pt"), (3, "zero_pp_rank_0_mp_rank_00_model_states.pt")):
        folder = fresh(f"zero{stage}/global_step7")
        (HERE / f"zero{stage}" / "latest").write_text("global_step7")
        held = {key: value if stage == 2 or key in buffers else torch.zeros(0) for key, value in state.items()}
        torch.save(
            {
                "module": held,
                "buffer_names": buffers,
                "optimizer": None,
                "param_shapes": shapes,
                "frozen_param_shapes": None,
                "shared_params": {},
                "frozen_param_fragments": None,
                "ds_version": "0.19",
            },
            folder / name,
        )
        flat = torch.zeros(sum(parameter.numel() for parameter in net.parameters()))
        torch.save(
            {"optimizer_state_dict": {"zero_stage": stage, "fp32_flat_groups": [flat]}},
            folder / "bf16_zero_pp_rank_0_mp_rank_00_optim_states.pt",
        )
    torch.save(state, HERE / "model_weights.ckpt")
    with tarfile.open(HERE / "tiny.nemo", "w:", format=tarfile.USTAR_FORMAT) as archive:
        for name, data in (("model_config.yaml", b"target: none\n"), ("model_weights.ckpt", None)):
            path = HERE / name
            if data is not None:
                path.write_bytes(data)
            archive.add(path, f"./{name}", filter=lambda entry: entry.replace(uname="", gname="", uid=0, gid=0, mtime=0, deep=False))
            path.unlink()
    net.eval()
    torch.export.save(torch.export.export(net, (torch.zeros(2, 3),)), HERE / "tiny.pt2")
    (HERE / "tensors.pkl").write_bytes(pickle.dumps(state))
    torch.jit.freeze(torch.jit.trace(net, torch.zeros(2, 3))).save(HERE / "frozen.pt")
    return dict.fromkeys(("dcp", "megatron", "zero2", "zero3", "tiny.nemo", "tiny.pt2", "tensors.pkl"), said)


MEGATRON = """
import sys, types, warnings
import torch, torch.distributed as dist
from torch.testing._internal.distributed.fake_pg import FakeStore
warnings.filterwarnings("ignore")
tensor, expert, pipeline, virtual, rank, kind = *map(int, sys.argv[1:6]), sys.argv[6]
dist.init_process_group("fake", rank=rank, world_size=tensor * expert * pipeline, store=FakeStore())
new_group = dist.new_group
dist.new_group = lambda *words, **more: new_group(*words, **{**more, "backend": "fake"})
torch.cuda.current_device, torch.cuda.is_available = lambda: "cpu", lambda: False
torch.Tensor.cuda = lambda tensor, *words: tensor
from megatron.core import parallel_state
from megatron.core.models.gpt import GPTModel
from megatron.core.models.gpt.gpt_layer_specs import get_gpt_layer_local_spec
from megatron.core.transformer.transformer_config import MLATransformerConfig, TransformerConfig
chunks = virtual if virtual > 1 else None
parallel_state.initialize_model_parallel(tensor, pipeline, chunks, expert_model_parallel_size=expert, create_gloo_process_groups=False)
sizes = dict(num_layers=4, hidden_size=16, num_attention_heads=4, ffn_hidden_size=24, use_cpu_initialization=True, pipeline_dtype=torch.float32,
             tensor_model_parallel_size=tensor, pipeline_model_parallel_size=pipeline, gated_linear_unit=kind != "plain", add_bias_linear=kind == "plain")
experts = 4 if kind == "experts" else None
config = TransformerConfig(**sizes, num_query_groups=2, num_moe_experts=experts, expert_model_parallel_size=expert,
                           virtual_pipeline_model_parallel_size=chunks)
states = {}
for chunk in range(virtual):
    vp = chunk if chunks else None
    model = GPTModel(
        config, get_gpt_layer_local_spec(num_experts=experts, qk_layernorm=kind == "experts"), vocab_size=64, max_sequence_length=32,
        position_embedding_type="learned_absolute" if kind == "plain" else "rope", share_embeddings_and_output_weights=kind == "plain",
        pre_process=parallel_state.is_pipeline_first_stage(ignore_virtual=False, vp_stage=vp),
        post_process=parallel_state.is_pipeline_last_stage(ignore_virtual=False, vp_stage=vp), vp_stage=vp)
    state = {name: value for name, value in model.state_dict().items() if hasattr(value, "shape")}
    for value in state.values():
        value.data.zero_()
    states[f"model{chunk}" if chunks else "model"] = state
arguments = types.SimpleNamespace(
    tensor_model_parallel_size=tensor, pipeline_model_parallel_size=pipeline, num_layers=4, padded_vocab_size=64, num_experts=experts,
    untie_embeddings_and_output_weights=kind != "plain", expert_model_parallel_size=expert, virtual_pipeline_model_parallel_size=chunks)
torch.save({"args": arguments, "iteration": 5, "checkpoint_version": 3.0, **states, "rng_state": [torch.zeros(3, dtype=torch.uint8)]}, sys.argv[7])
"""
"""Builds one rank of a model of Megatron's, of which there need be no other, and saves its file."""


MEGATRON_RANKS = (
    ("plain", 2, 1, 2, 1),
    ("gated", 4, 1, 1, 1),
    ("experts", 1, 1, 2, 1),
    ("experts", 1, 2, 1, 1),
    ("experts", 1, 2, 2, 1),
    ("plain", 1, 1, 2, 2),
)
"""What kind of model, its tensor-parallel, expert-parallel and pipeline ranks, and how many virtual stages each of the last has."""


def of_megatron() -> dict[str, Facts]:
    """Megatron-LM's files of several ranks; what the whole model holds is what one rank alone says. Needs megatron-core and torch, no others."""
    torch: Any = import_module("torch")
    said = {}
    for kind, tensor, expert, pipeline, virtual in MEGATRON_RANKS:
        name = f"megatron-{kind}-{tensor}-{pipeline}" + (f"-{expert}-{virtual}" if expert * virtual > 1 else "")
        fresh(name)
        (HERE / name / "latest_checkpointed_iteration.txt").write_text("5")
        for rank in range(tensor * expert * pipeline):  # tensor-parallel ranks are the nearest, stages the farthest
            stage = f"_{rank // tensor // expert:03}" if pipeline > 1 else ""
            of_experts = f"_{rank // tensor % expert:03}" if expert > 1 else ""
            folder = fresh(f"{name}/iter_0000005/mp_rank_{rank % tensor:02}{stage}{of_experts}")
            build((tensor, expert, pipeline, virtual, rank), kind, folder / "model_optim_rng.pt")
        build((1, 1, 1, 1, 0), kind, HERE / "whole.pt")
        said[name] = facts(torch.load(HERE / "whole.pt", weights_only=False)["model"])
        (HERE / "whole.pt").unlink()
    return said


def build(place: tuple[int, ...], kind: str, path: Path) -> None:
    subprocess.run([sys.executable, "-c", MEGATRON, *map(str, place), kind, str(path)], check=True)


DEEPSPEED = """
import os, sys
import torch
import torch.multiprocessing as processes
def work(rank, stage, folder):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(29500 + stage), RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE="2", DS_ACCELERATOR="cpu")
    import deepspeed
    sys.modules["deepspeed.comm.torch"].build_shm_op = lambda: None  # compiled, and not needed
    deepspeed.init_distributed("gloo")
    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = torch.nn.Linear(3, 5, bias=False)
            self.norm = torch.nn.BatchNorm1d(5)
            self.body = torch.nn.ModuleList(torch.nn.Linear(5, 5) for _ in range(3))
            self.tied = torch.nn.Linear(3, 5, bias=False)
            self.tied.weight = self.embed.weight
            self.body[1].requires_grad_(stage == 1)  # of stage 1 zero_to_fp32 leaves out what is frozen
            self.register_buffer("table", torch.zeros(2))
        def forward(self, x):
            x = self.norm(self.embed(x))
            for layer in self.body:
                x = layer(x)
            return x.sum() + self.tied.weight.sum()
    net = Net()
    config = {"train_micro_batch_size_per_gpu": 2, "optimizer": {"type": "Adam", "params": {"torch_adam": True}}, "zero_optimization": {"stage": stage}}
    engine, *_ = deepspeed.initialize(model=net, model_parameters=[one for one in net.parameters() if one.requires_grad], config=config)
    engine.backward(engine(torch.zeros(2, 3)))
    engine.step()
    engine.save_checkpoint(folder, tag="global_step1")
if __name__ == "__main__":
    processes.spawn(work, (int(sys.argv[1]), sys.argv[2]), nprocs=2)
"""
"""Trains a step of a small module with a tie, a frozen layer and a buffer, on two processes, and saves it."""


def of_deepspeed() -> dict[str, Facts]:
    """The folders of ZeRO 1, 2 and 3; what the model holds is what DeepSpeed's own ``zero_to_fp32`` makes of them."""
    os.environ["DS_ACCELERATOR"] = "cpu"
    script = HERE / "train.py"
    script.write_text(DEEPSPEED)
    said = {}
    for stage in (1, 2, 3):
        folder = fresh(f"deepspeed-{stage}")
        subprocess.run([sys.executable, script, str(stage), folder], check=True)
        join: Any = import_module("deepspeed.utils.zero_to_fp32").get_fp32_state_dict_from_zero_checkpoint
        said[folder.name] = facts(join(folder))
        for path in (*folder.rglob("*optim_states.pt"), *folder.glob("zero_to_*.py")):
            path.unlink()
    script.unlink()
    return said


def of_numpy() -> dict[str, Facts]:
    """One array, one of objects, pickles of every protocol."""
    np: Any = import_module("numpy")
    arrays = {"conv": {"kernel": np.zeros((3, 4), "f2")}, "bias": np.zeros(4), "long": np.zeros(20_000, "u1")}
    flat = {"conv.kernel": arrays["conv"]["kernel"], "bias": arrays["bias"], "long": arrays["long"]}
    np.save(HERE / "array.npy", np.zeros((3, 4), "f4"))
    np.save(HERE / "objects.npy", np.array(arrays, dtype=object))
    short = {**arrays, "long": np.zeros(2_000, "u1")}
    for protocol in (0, 2, 3, 5):
        (HERE / f"arrays-{protocol}.pkl").write_bytes(pickle.dumps(arrays if protocol else short, protocol))
    return {
        "array.npy": {"array": [[3, 4], "float32"]},
        "objects.npy": facts(flat),
        **{f"arrays-{n}.pkl": facts({**flat, "long": (arrays if n else short)["long"]}) for n in (0, 2, 3, 5)},
    }


def of_equinox() -> dict[str, Facts]:
    """The leaves of a perceptron, with and without the line of JSON before them."""
    eqx, jax = import_module("equinox"), import_module("jax")
    model = eqx.nn.MLP(2, 3, 4, 1, key=jax.random.PRNGKey(0))
    eqx.tree_serialise_leaves(str(HERE / "mlp.eqx"), model)
    with (HERE / "line.eqx").open("wb") as file:
        file.write(json.dumps({"width": 4}).encode() + b"\n")
        eqx.tree_serialise_leaves(file, model)
    leaves = {f"array_{n}": leaf for n, leaf in enumerate(leaf for leaf in jax.tree.leaves(model) if eqx.is_array(leaf))}
    return dict.fromkeys(("mlp.eqx", "line.eqx"), facts(leaves))


def of_litert() -> dict[str, Facts]:
    """A model of the format's own generated writer: a dense layer, one quantized, a shared buffer, a table; read back by its interpreter."""
    np, builder = import_module("numpy"), import_module("flatbuffers")
    schema, interpreter = import_module("ai_edge_litert.schema_py_generated"), import_module("ai_edge_litert.interpreter")
    model, graph = schema.ModelT(), schema.SubGraphT()
    model.version, model.description, model.subgraphs, model.buffers = 3, b"tiny", [graph], [schema.BufferT()]
    graph.tensors, graph.inputs, graph.outputs, graph.operators = [], [0], [4], []

    def tensor(name: str, shape: list[int], kind: int, data: Any = None, scales: list[float] | None = None) -> int:
        made = schema.TensorT()
        made.name, made.shape, made.type, made.buffer = name.encode(), shape, kind, 0
        if data is not None:
            held = schema.BufferT()
            held.data = np.frombuffer(np.zeros(shape, data).tobytes(), np.uint8)
            model.buffers.append(held)
            made.buffer = len(model.buffers) - 1
        if scales:
            made.quantization = schema.QuantizationParametersT()
            made.quantization.scale, made.quantization.zeroPoint = scales, [0] * len(scales)
        graph.tensors.append(made)
        return len(graph.tensors) - 1

    kinds = schema.TensorType
    tensor("x", [1, 3], kinds.FLOAT32)
    tensor("dense/kernel", [4, 3], kinds.FLOAT32, "f4")
    tensor("dense/bias", [4], kinds.FLOAT32, "f4")
    tensor("hidden", [1, 4], kinds.FLOAT32)
    tensor("y", [1, 4], kinds.FLOAT32)
    tensor("packed", [8, 4], kinds.INT8, "i1", [0.5])
    tensor("axes", [2], kinds.INT32, "i4")
    graph.tensors[tensor("tied", [4, 3], kinds.FLOAT32)].buffer = graph.tensors[1].buffer
    code, dense = schema.OperatorCodeT(), schema.OperatorT()
    code.builtinCode = code.deprecatedBuiltinCode = schema.BuiltinOperator.FULLY_CONNECTED
    dense.opcodeIndex, dense.inputs, dense.outputs = 0, [0, 1, 2], [4]
    dense.builtinOptionsType, dense.builtinOptions = schema.BuiltinOptions.FullyConnectedOptions, schema.FullyConnectedOptionsT()
    model.operatorCodes, graph.operators = [code], [dense]
    packer = builder.Builder(1024)
    packer.Finish(model.Pack(packer), b"TFL3")
    path = HERE / "tiny.tflite"
    path.write_bytes(bytes(packer.Output()))
    read = interpreter.Interpreter(str(path)).get_tensor_details()
    constant = {
        graph.tensors[one["index"]].name.decode(): one
        for one in read
        if one["index"] < len(graph.tensors) and graph.tensors[one["index"]].buffer
    }
    return {"tiny.tflite": {name: [list(map(int, one["shape"])), np.dtype(one["dtype"]).name] for name, one in constant.items()}}


def of_executorch() -> dict[str, Facts]:
    """A program without a delegate; its constants are read back by the library's own deserializer."""
    torch: Any = import_module("torch")
    net = module()
    exir, program = import_module("executorch.exir"), import_module("executorch.exir._serialize._program")
    edge = exir.to_edge(torch.export.export(net, (torch.zeros(2, 3),)))
    (HERE / "tiny.pte").write_bytes(edge.to_executorch().buffer)
    read = program.deserialize_pte_binary((HERE / "tiny.pte").read_bytes())
    read = getattr(read, "program", read)
    kinds = {6: "float32", 4: "int64"}
    values = [value.val for plan in read.execution_plan for value in plan.values if type(value.val).__name__ == "Tensor"]
    constants = [value for value in values if value.data_buffer_idx and value.allocation_info is None]
    seen = Counter[int]()
    said: Facts = {}
    for one in constants:
        number = one.data_buffer_idx
        seen[number] += 1
        said[f"constant_{number}{f' ({seen[number]})' if seen[number] > 1 else ''}"] = [list(one.sizes), kinds[int(one.scalar_type)]]
    return {"tiny.pte": said}


def of_ctranslate2() -> dict[str, Facts]:
    """A decoder of one layer as it is and with 8 bits, written and described by the library's own specification."""
    np, library = import_module("numpy"), import_module("ctranslate2")
    said = {}
    for name, quantization in (("ct2", None), ("ct2-int8", "int8")):
        spec = library.specs.TransformerDecoderModelSpec.from_config(1, 2, pre_norm=True)
        decoder, count = spec.decoder, iter(range(1, 99))

        def filled(*shape: int) -> Any:
            return np.full(shape, next(count), np.float32)  # noqa: B023

        decoder.embeddings.weight = filled(7, 4)
        decoder.position_encodings.encodings = filled(5, 4)
        decoder.scale_embeddings = False
        (layer,) = decoder.layer
        for norm in (decoder.layer_norm, layer.self_attention.layer_norm, layer.ffn.layer_norm):
            norm.gamma, norm.beta = filled(4), filled(4)
        sizes = (
            (layer.self_attention.linear[0], 4, 12),
            (layer.self_attention.linear[1], 4, 4),
            (layer.ffn.linear_0, 4, 16),
            (layer.ffn.linear_1, 16, 4),
        )
        for linear, inputs, outputs in sizes:
            linear.weight, linear.bias = filled(outputs, inputs), filled(outputs)
        decoder.projection.weight = decoder.embeddings.weight
        decoder.projection.bias = filled(7)
        spec.config.unk_token = "<unk>"
        spec.register_vocabulary(["a", "b", "c", "d", "<unk>", "<s>", "</s>"])
        spec.validate()
        spec.optimize(quantization=quantization)
        spec.save(str(fresh(name)))
        variables = spec.variables()
        arrays = {key: variables[value] if isinstance(value, str) else value for key, value in variables.items()}
        said[name] = {key.replace("/", "."): value for key, value in facts({key: array.numpy() for key, array in arrays.items()}).items()}
        for path in (HERE / name).glob("*.json"):
            path.unlink()
    return said


def of_openvino() -> dict[str, Facts]:
    """A network with a matrix, a bias, numbers and a shape, in two types, and one whose weights the library's optimizer would compress."""
    np, library, ops = import_module("numpy"), import_module("openvino"), import_module("openvino.opset13")
    x, draw = ops.parameter([1, 3], np.float32), np.random.default_rng(0)
    weight = ops.constant(draw.random((4, 3), np.float32))
    packed = ops.constant(draw.integers(-9, 9, (4, 4), np.int8))
    weight.friendly_name, packed.friendly_name = "dense.weight", "next.weight"
    hidden = ops.add(ops.matmul(x, weight, False, True), ops.constant(draw.random((1, 4), np.float32)))
    scaled = ops.multiply(ops.convert(packed, "f32"), ops.constant(np.ones((4, 1), np.float32), name="next.weight/scale"))
    last = ops.reshape(
        ops.matmul(ops.multiply(hidden, ops.constant(np.float32(2))), scaled, False, True), ops.constant(np.array([2, 2])), False
    )
    network = library.Model([last], [x], "tiny")
    said = {}
    for name, half in (("openvino.xml", False), ("openvino-half.xml", True)):
        library.save_model(network, HERE / name, compress_to_fp16=half)
        constants = [node for node in library.Core().read_model(HERE / name).get_ops() if node.get_type_name() == "Constant"]
        kinds = {"f32": "float32", "f16": "float16", "i8": "int8", "i64": "int64"}
        said[name] = {node.friendly_name: [list(node.shape), kinds[node.get_element_type().to_string()]] for node in constants}
    return said


def of_coremltools() -> dict[str, Facts]:
    """An ML program in two types, and a neural network of layers with weights; read back as messages of the library."""
    np, library = import_module("numpy"), import_module("coremltools")
    mil, network = import_module("coremltools.converters.mil"), import_module("coremltools.models.neural_network")
    arrays = import_module("coremltools.models.datatypes").Array
    draw = np.random.default_rng(0)
    said: dict[str, Facts] = {}

    def program(x: Any) -> Any:
        return mil.Builder.linear(x=x, weight=draw.random((8, 16), np.float32), bias=np.arange(8, dtype=np.float32), name="dense")

    for name, precision in (("half.mlpackage", "FLOAT16"), ("whole.mlpackage", "FLOAT32")):
        made = mil.Builder.program(input_specs=[mil.Builder.TensorSpec(shape=(1, 16))])(program)
        fresh(name)
        model = library.convert(made, convert_to="mlprogram", compute_precision=getattr(library.precision, precision))
        model.save(str(HERE / name))
        spec = library.models.utils.load_spec(str(HERE / name))
        (function,) = spec.mlProgram.functions.values()
        (block,) = function.block_specializations.values()
        kinds = {2: "string", 1: "bool", 10: "float16", 11: "float32", 23: "int32"}
        outputs = [operation.outputs[0] for operation in block.operations if operation.type == "const"]
        types = {output.name: output.type.tensorType for output in outputs}
        said[name] = {key: [[size.constant.size for size in kind.dimensions], kinds[kind.dataType]] for key, kind in types.items()}
    builder = network.NeuralNetworkBuilder([("x", arrays(3, 4, 4))], [("y", arrays(4))])
    builder.add_convolution(
        "conv", 3, 5, 3, 3, 1, 1, "same", 1, draw.random((3, 3, 3, 5)), np.ones(5), True, input_name="x", output_name="c"
    )
    builder.add_batchnorm("norm", 5, np.ones(5), np.ones(5), np.ones(5), np.ones(5), input_name="c", output_name="d")
    builder.add_flatten("flat", 0, "d", "e")
    builder.add_inner_product("dense", draw.random((4, 80)), None, 80, 4, False, "e", "y")
    library.models.MLModel(builder.spec, skip_model_load=True).save(str(HERE / "layers.mlmodel"))
    spec = library.models.utils.load_spec(str(HERE / "layers.mlmodel"))
    conv, norm, _, dense = spec.neuralNetwork.layers
    runs = {
        "conv.weight": conv.convolution.weights,
        "conv.bias": conv.convolution.bias,
        "norm.gamma": norm.batchnorm.gamma,
        "norm.beta": norm.batchnorm.beta,
        "norm.moving_mean": norm.batchnorm.mean,
        "norm.moving_variance": norm.batchnorm.variance,
        "dense.weight": dense.innerProduct.weights,
    }
    said["layers.mlmodel"] = {key: [[len(run.floatValue)], "float32"] for key, run in runs.items()}
    return said


def of_paddle() -> dict[str, Facts]:
    """A state dict as PaddlePaddle saves it, and an optimizer's."""
    paddle: Any = import_module("paddle")
    net = paddle.nn.Sequential(paddle.nn.Linear(3, 4), paddle.nn.BatchNorm1D(4))
    optimizer = paddle.optimizer.AdamW(parameters=net.parameters())
    net(paddle.ones([2, 3])).sum().backward()
    optimizer.step()
    paddle.save(net.state_dict(), str(HERE / "tiny.pdparams"))
    paddle.save({"model": net.state_dict(), "opt": optimizer.state_dict(), "epoch": 3}, str(HERE / "training.pdparams"))
    read = paddle.load(str(HERE / "tiny.pdparams"), return_numpy=True)
    return dict.fromkeys(
        ("tiny.pdparams", "training.pdparams"), facts({key: value for key, value in read.items() if hasattr(value, "shape")})
    )


def of_mlx() -> dict[str, Facts]:
    """Arrays and quantized ones as MLX saves them."""
    mx: Any = import_module("mlx.core")
    plain = {"dense.weight": mx.zeros((3, 4)), "dense.bias": mx.zeros((3,), dtype=mx.float16)}
    words, scales, biases = mx.quantize(mx.zeros((64, 128)), 64, 4)
    packed = {"dense.weight": words, "dense.scales": scales, "dense.biases": biases}
    mx.savez(str(HERE / "mlx.npz"), **plain)
    mx.save_safetensors(str(HERE / "mlx.safetensors"), packed)
    mx.savez(str(HERE / "mlx-packed.npz"), **packed)
    mx.save(str(HERE / "mlx.npy"), mx.zeros((2, 3)))
    read = {name: mx.load(str(HERE / name)) for name in ("mlx.npz", "mlx.safetensors", "mlx-packed.npz")}
    return {**{name: facts(arrays) for name, arrays in read.items()}, "mlx.npy": facts({"array": mx.load(str(HERE / "mlx.npy"))})}


def of_orbax() -> dict[str, Facts]:
    """A tree in each of Orbax' layouts, and a database of tensorstore whose tree has several levels."""
    ocp, jnp, store = import_module("orbax.checkpoint"), import_module("jax.numpy"), import_module("tensorstore")
    tree = {
        "params": {"dense": {"kernel": jnp.zeros((3, 4)), "bias": jnp.zeros(4, jnp.bfloat16)}},
        "opt_state": [{"mu": jnp.zeros((3, 4))}],
        "step": jnp.array(3),
    }
    said: dict[str, list[Any]] = {"dense.kernel": [[3, 4], "float32"], "dense.bias": [[4], "bfloat16"], "step": [[], "int32"]}
    for name, options in (("orbax", {}), ("orbax-files", {"use_ocdbt": False}), ("orbax-zarr3", {"use_zarr3": True})):
        fresh(name).rmdir()
        ocp.Checkpointer(ocp.PyTreeCheckpointHandler(**options)).save(HERE / name, tree)
    fresh("orbax-manager")
    manager = ocp.CheckpointManager(HERE / "orbax-manager")
    manager.save(0, args=ocp.args.StandardSave(tree))
    manager.wait_until_finished()
    for said_so in HERE.glob("orbax*/**/commit_success.txt"):
        said_so.write_text("Checkpoint commit was successful")  # and not where, on the machine that made it
    base = {"driver": "file", "path": str(fresh("ocdbt")) + "/"}
    config = {"max_decoded_node_bytes": 300, "max_inline_value_bytes": 20}
    many = {}
    for number in range(12):
        spec = {"driver": "zarr", "kvstore": {"driver": "ocdbt", "base": base, "config": config, "path": f"layer_{number}/"}}
        store.open(spec, create=True, dtype=store.float32, shape=[number, 5]).result().write(1).result()
        many[f"layer_{number}"] = [[number, 5], "float32"]
    return {**dict.fromkeys(("orbax", "orbax-files", "orbax-zarr3", "orbax-manager", "orbax-manager/0"), said), "ocdbt": many}


def fresh(name: str) -> Path:
    """Return an empty folder."""
    shutil.rmtree(HERE / name, ignore_errors=True)
    (HERE / name).mkdir(parents=True)
    return HERE / name


GROUPS: dict[str, tuple[str, Callable[[], dict[str, Facts]]]] = {
    "torch": ("torch", of_torch),
    "megatron": ("megatron-core", of_megatron),
    "deepspeed": ("deepspeed", of_deepspeed),
    "numpy": ("numpy", of_numpy),
    "equinox": ("equinox", of_equinox),
    "orbax": ("orbax-checkpoint", of_orbax),
    "openvino": ("openvino", of_openvino),
    "coremltools": ("coremltools", of_coremltools),
    "paddle": ("paddlepaddle", of_paddle),
    "mlx": ("mlx", of_mlx),
    "ctranslate2": ("ctranslate2", of_ctranslate2),
    "litert": ("ai-edge-litert", of_litert),
    "executorch": ("executorch", of_executorch),
}


def main() -> None:
    """Write the groups that are asked for, and what their libraries say."""
    os.environ["JAX_PLATFORMS"] = "cpu"
    path = HERE / "expected.json"
    expected = json.loads(path.read_text("utf-8")) if path.exists() else {}
    for group in sys.argv[1:]:
        package, write = GROUPS[group]
        expected[group] = {"version": f"{package} {version(package)}", "files": write()}
    path.write_text(json.dumps(expected, indent=1, sort_keys=True) + "\n", "utf-8")


if __name__ == "__main__":
    main()
