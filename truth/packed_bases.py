"""Adapters beside bases in 16 bits and bases packed by bitsandbytes: four figures, and bytes of gradients, held to the live library.

    python -m truth.packed_bases NUMBER SEED [--record]

needs peft 0.21 and bitsandbytes 0.50. Linear layers but for output heads are packed, as the reference library does (``replace_with_bnb_linear``); a layer of 4 bits computes in the
base's type. A case says the base's type, the scheme that packs it, and whether the adapter is cast to float32 (``autocast_adapter_dtype``).
"""

from __future__ import annotations

import json
import random
import sys
import warnings
from collections import Counter
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

from truth import live
from truth.adapters import Case, cases
from weighbridge import model
from weighbridge.accounts.adapters.costs import trained_bytes
from weighbridge.accounts.adapters.packed_base import BITSANDBYTES
from weighbridge.core.errors import WeighbridgeError

RECORD = Path(__file__).parents[1] / "tests" / "truth" / "adapters" / "packed.json"
HEADS = ("lm_head", "decoder", "classifier", "score", "qa_outputs", "pooler.dense", "proj_out", "embed_out")
"""Names of linear layers that stay as they are."""


class Below(NamedTuple):
    """How a base is loaded, and whether an adapter is cast."""

    dtype: str
    quantization: str | None
    autocast: bool


Figures = tuple[int, int, int, int, int]


def pack(base: Any, scheme: str) -> Any:
    """Put bitsandbytes' layers in place of linear ones."""
    torch, bnb = import_module("torch"), import_module("bitsandbytes")
    for path, module in list(base.named_modules()):
        if not isinstance(module, torch.nn.Linear) or path.endswith(HEADS):
            continue
        biased, kind, weight = module.bias is not None, module.weight.dtype, module.weight.data.clone()
        if scheme == "bnb-4bit":
            packed = bnb.nn.Linear4bit(module.in_features, module.out_features, bias=biased, compute_dtype=kind, quant_type="nf4")
            packed.weight = bnb.nn.Params4bit(weight, requires_grad=False, quant_type="nf4")
        else:
            packed = bnb.nn.Linear8bitLt(module.in_features, module.out_features, bias=biased, has_fp16_weights=False)
            packed.weight = bnb.nn.Int8Params(weight, requires_grad=False, has_fp16_weights=False)
        if biased:
            packed.bias = torch.nn.Parameter(module.bias.data.clone())
        outer, _, name = path.rpartition(".")
        setattr(base.get_submodule(outer) if outer else base, name, packed.to("cpu"))
    setattr(base, "is_loaded_in_4bit" if scheme == "bnb-4bit" else "is_loaded_in_8bit", True)
    return base


def theirs(case: Case, below: Below) -> Figures:
    """Return trainable, total, saved elements, saved bytes and bytes of gradients, as the library has them.

    Raises:
        RefusedError: It refuses the base or the adapter.
    """
    torch, peft = import_module("torch"), import_module("peft")
    torch.manual_seed(0)
    base = live.build(case.model_type, case.class_name, case.config, device="cpu").to(getattr(torch, below.dtype))
    try:
        if below.quantization is not None:
            base = pack(base, below.quantization)
        wrapped = peft.get_peft_model(
            base, peft.PeftConfig.from_peft_type(**json.loads(json.dumps(case.adapter))), autocast_adapter_dtype=below.autocast
        )
        state = peft.get_peft_model_state_dict(wrapped).values()
    except Exception as error:  # whatever a config may provoke in there
        raise live.RefusedError(f"{type(error).__name__}: {str(error)[:200]}") from error
    trainable, total = wrapped.get_nb_trainable_parameters()
    gradients = sum(one.numel() * one.element_size() for one in wrapped.parameters() if one.requires_grad)
    return trainable, total, sum(one.numel() for one in state), sum(one.numel() * one.element_size() for one in state), gradients


def ours(case: Case, below: Below) -> Figures:
    """Return the same as we count it."""
    found = model({**case.config, "model_type": case.model_type}, case.class_name).adapters(case.adapter, **below._asdict())
    return found.trainable, found.total, found.saved, found.saved_bytes, trained_bytes(found)[1]


def compare_cases(number: int, seed: str, record: bool = False) -> int:
    """Compare random cases, or write those down that agree; 1 if any differs."""
    outcome: Counter[str] = Counter()
    kept = []
    for index, case in enumerate(cases(sorted(BITSANDBYTES - {"BITFIT", "FREEZE", "HOULSBY"}), number, seed)):
        rng = random.Random(f"{seed} {index}")
        below = Below(rng.choice(("bfloat16", "float16", "float32")), rng.choice((None, "bnb-4bit", "bnb-8bit")), rng.random() < 0.5)
        try:
            right, mine = theirs(case, below), ours(case, below)
        except live.RefusedError:
            outcome["refused by the library"] += 1
            continue
        except WeighbridgeError as error:
            outcome["refused by us alone"] += 1
            print(f"we alone refuse: {error}"[:160], flush=True)
            continue
        outcome["equal" if right == mine else "WRONG"] += 1
        if right != mine:
            print(f"theirs {right}, ours {mine}\n  {json.dumps([*below, case._asdict()])}", flush=True)
        else:
            kept.append({**case._asdict(), **below._asdict(), "figures": right})
    if record:
        libraries = {**live.versions(), **{name: import_module(name).__version__ for name in ("peft", "bitsandbytes")}}
        head = {"libraries": libraries, "command": f"python -m truth.packed_bases {number} {seed} --record"}
        head["figures"] = "trainable, total, saved, saved_bytes, bytes of gradients"
        lines = ",\n".join(json.dumps(case) for case in kept)
        RECORD.write_text(json.dumps(head)[:-1] + ',\n"cases": [\n' + lines + "\n]}\n", "utf-8")
    print(dict(outcome))
    return 1 if outcome["WRONG"] else 0


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    words = [word for word in sys.argv[1:] if not word.startswith("-")]
    sys.exit(compare_cases(int(words[0]), words[1], "--record" in sys.argv))
