"""What autograd keeps with the flash kernel of GPUs: torch's own call, its shapes alone, in live classes on the meta device.

    python -m truth.flash NUMBER SEED [TYPE ...] [--record]

``aten::_scaled_dot_product_flash_attention`` stands in for a class's attention. On the meta device it has shapes and no values, and autograd keeps for it what it keeps
on a GPU: queries, keys, values, the output, a float32 for each row of scores, and the state of the random numbers. ``--record`` writes the cases for the ordinary tests.
"""

from __future__ import annotations

import json
import random
import sys
import warnings
from importlib import import_module
from typing import Any

from truth import check, live
from truth.activation_ways import NOTHING
from truth.costs import RECORDS, TOUCHES, Case, add_labels, our_activations, vary
from truth.draw import draw
from truth.forward import Pass, inputs
from truth.live import RefusedError
from weighbridge.accounts.memory.styles import STYLES
from weighbridge.core.errors import WeighbridgeError

RECORD = RECORDS / "activations_flash.jsonl"
NAME = "torch_fused"
"""What the attention is called in the reference library, which takes a name with the word flash for a kernel to be fetched."""


CALLS: list[str] = []
"""Which modules attended: a class with attention of its own never calls what stands in for it."""


def attend(module: Any, query: Any, key: Any, value: Any, _: Any = None, **words: Any) -> tuple[Any, None]:
    """Attend by torch's flash kernel; heads lie side by side again in the output.

    Raises:
        RefusedError: There are sinks beside the scores, which the kernel does not take.
    """
    if words.get("s_aux") is not None:
        raise RefusedError("sinks beside the scores")
    CALLS.append(type(module).__name__)
    causal = words.get("is_causal")
    causal = query.shape[2] > 1 and getattr(module, "is_causal", True) if causal is None else causal
    call = import_module("torch").ops.aten._scaled_dot_product_flash_attention
    return call(query, key, value, 0.0, bool(causal), False, scale=words.get("scaling"))[0].transpose(1, 2).contiguous(), None


def kept_bytes(model: Any, made: dict[str, Any]) -> int:
    """Return the bytes of what a forward keeps, each storage once; on the meta device storages have no address, but are objects.

    Raises:
        RefusedError: The forward does not run without values.
    """
    torch = import_module("torch")
    known = {
        tensor.untyped_storage()._cdata for tensor in (*model.parameters(), *model.buffers(), *made.values()) if torch.is_tensor(tensor)
    }
    found: dict[int, int] = {}
    kept = []

    def pack(tensor: Any) -> Any:
        storage = tensor.untyped_storage()
        if storage._cdata not in known:
            kept.append(tensor)
            found[storage._cdata] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        try:
            result = model(**made)
        except Exception as error:  # whatever a forward may meet
            raise RefusedError(f"{type(error).__name__}: {' '.join(str(error).split())[:160]}") from error
    del result
    return sum(found.values())


def random_case(seed: str, types: list[str]) -> Case | None:
    """Draw a class and a config that builds and runs, and measure it; None if no draw does."""
    torch, rng = import_module("torch"), random.Random(seed)
    model_type = rng.choice(types)
    class_name = rng.choice(list(check.classes(model_type)))
    loss, dtype = rng.random() < 0.3, "bfloat16"  # in float16 some classes look for infinities, which shapes do not tell
    lengths = Pass(rng.randint(1, 4), rng.choice((4, 6, 12, 17)), rng.choice((2, 5, 8)))
    for attempt, touch in enumerate(TOUCHES[:4]):
        raw = vary(draw(f"{seed}/{attempt}", model_type, touch), attempt + len(seed)) | NOTHING
        try:
            model = live.build(model_type, class_name, raw).to(getattr(torch, dtype)).train()
            if not getattr(model, "_supports_flash_attn", False) or getattr(model.config.get_text_config(), "attn_logit_softcapping", None):
                return None  # the reference runs no flash kernel there, or caps its scores
            model.set_attn_implementation(NAME)
            if model_type == "whisper" and not class_name.endswith(("ForCausalLM", "Decoder", "DecoderWrapper")):
                lengths = lengths._replace(seq=2 * model.config.max_source_positions)
            given = inputs(model, lengths)
            made = {
                name: value.to("meta") if torch.is_tensor(value) else value
                for name, value in (add_labels(model, given) if loss else given).items()
            }
            made = {
                name: value.to(model.dtype) if torch.is_tensor(value) and value.is_floating_point() else value
                for name, value in made.items()
            }
            CALLS.clear()
            found = kept_bytes(model, made)
        except Exception:
            continue
        if not CALLS:
            return None
        how = {"attention": "flash", "device": "cuda", "dropout": False, "loss": loss, "dtype": dtype}
        return Case(
            model_type, class_name, raw, {"batch": lengths.batch, "seq": lengths.seq, "decoder_seq": lengths.decoder_seq}, how, found
        )
    return None


def compare_cases(number: int, seed: str, types: list[str], record: bool = False) -> int:
    """Compare random cases, or write them down; 1 if any differs."""
    transformers = import_module("transformers")
    transformers.AttentionInterface.register(NAME, attend)
    transformers.AttentionMaskInterface.register(NAME, lambda *_, **__: None)
    found, wrong, refused = [], 0, 0
    for index in range(number):
        case = random_case(f"{seed} {index}", types or sorted(STYLES))
        if case is None:
            continue
        try:
            own = our_activations(case)
        except (RefusedError, WeighbridgeError):
            refused += 1
            continue
        found.append(case)
        if own != case.bytes:
            wrong += 1
            print(f"DIFFERS {own / max(case.bytes, 1) - 1:+.2%} {case.bytes:,}, ours {own:,} {json.dumps(list(case))}", flush=True)
    if record:
        head = {"versions": live.versions(), "command": f"python -m truth.flash {number} {seed} --record"}
        RECORD.write_text("\n".join((json.dumps(head), *(json.dumps(list(case)) for case in found))) + "\n", "utf-8")
    print(f"{len(found) - wrong} equal, {wrong} wrong, {refused} refused by us alone, {len({case.model_type for case in found})} types")
    return 1 if wrong else 0


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    sys.exit(compare_cases(int(words[0]), words[1], words[2:], "--record" in sys.argv))
