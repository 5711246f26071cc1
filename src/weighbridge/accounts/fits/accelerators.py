"""Accelerators: memory, bandwidth and peak arithmetic, each with where its maker says so.

Memory is what makers call GB and drivers count in GiB. Peaks are of dense matrices (makers often print twice that, for sparse ones);
of two 16-bit types the faster one is meant, so that no time is bound too high; ``float32`` is the fastest way to multiply float32 matrices there is, which is TF32 where a device has it.
"""

from __future__ import annotations

from weighbridge.core._namedtuple import NamedTuple
from weighbridge.core.errors import UsageError
from weighbridge.core.messages import Text, join_with_or
from weighbridge.core.suggestions import did_you_mean

GIB = 1 << 30
LONGEST = 60
"""Characters of a name that is looked up."""


class Accelerator(NamedTuple):
    """One device.

    Attributes:
        name: As ``--device`` takes it.
        memory: Bytes.
        bandwidth: Bytes a second, to its memory.
        peaks: FLOPs a second by element type, of dense matrices.
        source: Where its maker says so.
        confirmed: A second published table that its figures were held to; empty where there is none at hand.
    """

    name: str
    memory: int
    bandwidth: int
    peaks: dict[str, int]
    source: str
    confirmed: str


NVIDIA, AMD, TPU = "NVIDIA data sheet", "AMD data sheet", "Google Cloud TPU documentation, system architecture"
_TABLE = f"""
v100-16g    16   900   15700   125000        0 {NVIDIA} V100
v100-32g    32   900   15700   125000        0 {NVIDIA} V100
t4          16   320    8100    65000        0 {NVIDIA} T4
a2          16   200    9000    18000        0 {NVIDIA} A2
a10         24   600   62500   125000        0 {NVIDIA} A10
a30         24   933   82000   165000        0 {NVIDIA} A30
a40         48   696   74800   149700        0 {NVIDIA} A40
rtx-a6000   48   768   77400   154800        0 {NVIDIA} RTX A6000
a100-40g    40  1555  156000   312000        0 {NVIDIA} A100 40GB
a100-80g    80  2039  156000   312000        0 {NVIDIA} A100 80GB SXM
a100-80g-pcie 80 1935 156000   312000        0 {NVIDIA} A100 80GB PCIe
a800-80g    80  2039  156000   312000        0 {NVIDIA} A800 80GB
l4          24   300   60000   121000   242500 {NVIDIA} L4
l20         48   864   59800   119500   239000 {NVIDIA} L20
l40         48   864   90500   181100   362100 {NVIDIA} L40
l40s        48   864  183000   362100   733000 {NVIDIA} L40S
rtx-6000-ada 48  960  182100   364200   728500 {NVIDIA} RTX 6000 Ada
h100-80g    80  3350  494700   989400  1978900 {NVIDIA} H100 SXM
h100-80g-pcie 80 2000 378000   756000  1513000 {NVIDIA} H100 PCIe
h100-nvl    94  3900  417500   835500  1671000 {NVIDIA} H100 NVL
h800-80g    80  3350  494700   989400  1978900 {NVIDIA} H800 SXM
h20         96  4000   74000   148000   296000 {NVIDIA} H20
h200       141  4800  494700   989400  1978900 {NVIDIA} H200 SXM
gh200-96g   96  4000  494700   989400  1978900 {NVIDIA} GH200 96GB
gh200-144g 144  4900  494700   989400  1978900 {NVIDIA} GH200 144GB
b200       180  8000 1125000  2250000  4500000 {NVIDIA} HGX B200
b300       268  8000 1125000  2250000  4500000 {NVIDIA} HGX B300
gb200      186  8000 1250000  2500000  5000000 {NVIDIA} GB200
gb300      277  8000 1250000  2500000  5000000 {NVIDIA} GB300
arc-pro-b60 24   456   12280    98304   196608 Intel Arc Pro B60 data sheet
rtx-2080-ti 11   616   13400   107600        0 NVIDIA Turing architecture white paper
rtx-3060    12   360   25600    51200        0 NVIDIA Ampere GA102 architecture white paper, scaled to its cores and clock
rtx-3090    24   936   35600    71200        0 NVIDIA Ampere GA102 architecture white paper
rtx-4080    16   717   48700    97500   195000 NVIDIA Ada architecture white paper
rtx-4090    24  1008   82600   165200   330300 NVIDIA Ada architecture white paper
rtx-5090    32  1792  104800   209500   419000 NVIDIA RTX Blackwell architecture white paper
rtx-pro-6000 96 1792  251900   503800  1007600 {NVIDIA} RTX PRO 6000 Blackwell
mi100       32  1229   46100   184600        0 {AMD} Instinct MI100
mi210       64  1638   45300   181000        0 {AMD} Instinct MI210
mi250      128  3277   90500   362100        0 {AMD} Instinct MI250, both dies
mi250x     128  3277   95700   383000        0 {AMD} Instinct MI250X, both dies
mi300x     192  5300  653700  1307400  2614900 {AMD} Instinct MI300X
mi325x     256  6000  653700  1307400  2614900 {AMD} Instinct MI325X
mi355x     288  8000  157300  2516600  5033200 {AMD} Instinct MI355X
tpu-v3      32   900       0   123000        0 {TPU} v3
tpu-v4      32  1228       0   275000        0 {TPU} v4
tpu-v5e     16   819       0   197000        0 {TPU} v5e
tpu-v5p     95  2765       0   459000        0 {TPU} v5p
tpu-v6e     32  1640       0   918000        0 {TPU} v6e
gaudi2      96  2450       0   432000   865000 Intel Gaudi 2 white paper
gaudi3     128  3700       0  1835000  1835000 Intel Gaudi 3 white paper
trainium1   32   820   47500   190000   190000 AWS Neuron documentation, Trainium architecture
trainium2   96  2900  181000   667000  1299000 AWS Neuron documentation, Trainium2 architecture
"""
"""Name, GiB, GB/s, GFLOPS of float32, bfloat16 (float16 before Ampere) and fp8, and the source; 0 where there is none."""


ALSO = {
    "aiconfigurator-core 0.12.0, systems/*.yaml": "a30 a100-80g a100-80g-pcie l4 l40s h100-80g h100-80g-pcie h200 b200 b300 gb200 gb300 arc-pro-b60",
    "llm-analysis 0.2.2, gpu_configs/*.json": "v100-32g rtx-a6000 a100-40g mi100 mi210 mi250 mi250x",
    "genz-llm 0.0.16, system_configs.py": "gh200-144g mi300x mi325x tpu-v4 tpu-v5p gaudi3",
    "vidur 0.0.26, device_sku_config.py": "a40 l40",
    "Google Cloud, TPU v6e, system architecture": "tpu-v5e tpu-v6e",
}
"""Published tables that the rows of some devices were held to; a device that is in none of them has its maker's sheet alone."""
_CONFIRMED = {name: table for table, names in ALSO.items() for name in names.split()}


def _read(line: str) -> Accelerator:
    name, memory, bandwidth, single, half, eighth, source = line.split(None, 6)
    peaks = {"float32": int(single), "bfloat16": int(half), "float16": int(half), "fp8": int(eighth)}
    return Accelerator(
        name,
        int(memory) * GIB,
        int(bandwidth) * 10**9,
        {key: value * 10**9 for key, value in peaks.items() if value},
        source,
        _CONFIRMED.get(name, ""),
    )


ACCELERATORS = {entry.name: entry for entry in map(_read, _TABLE.strip().splitlines())}
"""By name."""


MODULES = {
    "v100": "sxm2 sxm3",
    "a100": "sxm4",
    "a800": "sxm4",
    "h100": "sxm5 hbm3",
    "h800": "sxm5 hbm3",
    "h20": "sxm5",
    "h200": "sxm5",
    "b200": "sxm6",
    "b300": "sxm6",
}
"""Devices that are modules unless their name says otherwise, and what drivers and shops add to the name of the module."""

MAKERS = frozenset(("nvidia", "amd", "intel", "google", "cloud", "aws", "habana", "geforce", "tesla", "instinct", "generation"))
"""Words that stand before or behind a name and tell no two devices apart."""


def _device_key(name: str) -> tuple[str, int | None]:
    """Reduce a name to what tells devices apart: its letters and digits without the maker, and the GB that it says, if any.

    >>> _device_key("NVIDIA A100-SXM4-80GB"), _device_key("h100-80g-pcie"), _device_key("GeForce RTX 4090")
    (('a100', 80), ('h100pcie', 80), ('rtx4090', None))
    """
    import re

    size = re.search(r"(?<![a-z0-9])([0-9]{1,4})[ _-]?g(?:i?b)?(?![a-z0-9])", name.lower())
    rest = name.lower().replace(size[0], " ", 1) if size else name.lower()
    words = [word for word in re.findall(r"[^\W_]+", rest) if word not in MAKERS]
    module = MODULES.get(words[0], "").split() if words else []
    return "".join(word for word in words if not module or word not in ("sxm", *module)), int(size[1]) if size else None


def _find_devices(name: str) -> tuple[list[str], list[str]]:
    """Return the devices that another spelling of a name means, and those it may mean where it leaves out the memory or the form.

    >>> _find_devices("A100 80GB")[0], _find_devices("L4 24 GB")[0], _find_devices("V100"), _find_devices("L4 80GB")
    (['a100-80g'], ['l4'], ([], ['v100-16g', 'v100-32g']), ([], []))
    """
    word, size = _device_key(name)
    spelled = [(device, *_device_key(device.name)) for device in ACCELERATORS.values()]
    exact = [device.name for device, own, own_size in spelled if own == word and size in (own_size, own_size or device.memory // GIB)]
    return exact, [
        device.name for device, own, _ in spelled if word and (own.startswith(word) or (len(word) > 2 and own.endswith(word)))
    ] if size is None else []


def accelerator(name: str) -> Accelerator:
    """Return a device by its name, or by another spelling of it that means no other device.

    Raises:
        UsageError: None of that name, or several.

    >>> accelerator("a100-80g").memory
    85899345920
    >>> accelerator("NVIDIA A100-SXM4-80GB").name, accelerator("H100 80GB PCIe").name
    ('a100-80g', 'h100-80g-pcie')
    """
    if not isinstance(name, str):
        raise UsageError(Text("device: expected a name, such as a100-80g, found {name!r:.40}", name=name))
    found = ACCELERATORS.get(name.lower())
    if found is not None:
        return found
    exact, near = _find_devices(name) if len(name) <= LONGEST else ([], [])
    if len(exact) == 1:
        return ACCELERATORS[exact[0]]
    hint = Text("did you mean {names}?", names=join_with_or(near)) if near else did_you_mean(name[:LONGEST], ACCELERATORS)
    raise UsageError(Text("device: no {name!r:.60}; {hint}", name=name, hint=hint or f"known: {', '.join(ACCELERATORS)}"))
