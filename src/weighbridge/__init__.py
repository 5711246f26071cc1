"""Weigh a transformer without loading it.

>>> import weighbridge
>>> weighbridge.count("bert-base-uncased").unique
109482240
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from weighbridge import columns
    from weighbridge.accounts.adapters.account import AdapterCount
    from weighbridge.accounts.adapters.costs import AdapterCosts
    from weighbridge.accounts.cache import CacheSize
    from weighbridge.accounts.compare import Comparison
    from weighbridge.accounts.fits.account import Fit
    from weighbridge.accounts.flops import Flops
    from weighbridge.accounts.memory.account import Memory
    from weighbridge.accounts.parallel.account import Parallel
    from weighbridge.accounts.parameters import Tally
    from weighbridge.api.functions import (
        audit,
        census,
        compare,
        count,
        design,
        diff,
        exercise,
        flops_per_token,
        kv_bytes,
        mark,
        params,
        reconcile,
        solve,
        sweep,
        verify,
    )
    from weighbridge.api.model import Model, model
    from weighbridge.auditing.claims import Audit
    from weighbridge.conventions.arithmetic import Arithmetic
    from weighbridge.conventions.counts import Count
    from weighbridge.conventions.reconcile import Reconciliation
    from weighbridge.conventions.reconcile_flops import FlopsReconciliation
    from weighbridge.core.errors import ConfigError, ReadError, SourceError, UnknownArchitecture, UsageError, WeighbridgeError
    from weighbridge.core.tree import Part, Row, Tensor
    from weighbridge.designs.costs import Workload
    from weighbridge.designs.search import Search
    from weighbridge.designs.solve import Solution
    from weighbridge.designs.space import Space
    from weighbridge.designs.sweep import Sweep
    from weighbridge.exercises.marking import Marking
    from weighbridge.exercises.questions import Exercise
    from weighbridge.explain.derive import Derivation
    from weighbridge.explain.formulas import Formula
    from weighbridge.inventory.run import Summary
    from weighbridge.verification.diff import Difference
    from weighbridge.verification.findings import Verification

__version__ = "0.1.0"
__all__ = [
    "AdapterCosts",
    "AdapterCount",
    "Arithmetic",
    "Audit",
    "CacheSize",
    "Comparison",
    "ConfigError",
    "Count",
    "Derivation",
    "Difference",
    "Exercise",
    "Fit",
    "Flops",
    "FlopsReconciliation",
    "Formula",
    "Marking",
    "Memory",
    "Model",
    "Parallel",
    "Part",
    "ReadError",
    "Reconciliation",
    "Row",
    "Search",
    "Solution",
    "SourceError",
    "Space",
    "Summary",
    "Sweep",
    "Tally",
    "Tensor",
    "UnknownArchitecture",
    "UsageError",
    "Verification",
    "WeighbridgeError",
    "Workload",
    "audit",
    "census",
    "columns",
    "compare",
    "count",
    "design",
    "diff",
    "exercise",
    "flops_per_token",
    "kv_bytes",
    "mark",
    "model",
    "params",
    "reconcile",
    "solve",
    "sweep",
    "verify",
]

_HOMES = {
    "accounts.adapters.account": ("AdapterCount",),
    "accounts.adapters.costs": ("AdapterCosts",),
    "accounts.cache": ("CacheSize",),
    "accounts.compare": ("Comparison",),
    "accounts.fits.account": ("Fit",),
    "accounts.flops": ("Flops",),
    "accounts.memory.account": ("Memory",),
    "accounts.parallel.account": ("Parallel",),
    "accounts.parameters": ("Tally",),
    "api.functions": (
        "audit",
        "census",
        "compare",
        "count",
        "design",
        "diff",
        "exercise",
        "mark",
        "reconcile",
        "solve",
        "sweep",
        "verify",
        "flops_per_token",
        "kv_bytes",
        "params",
    ),
    "api.model": ("Model", "model"),
    "auditing.claims": ("Audit",),
    "conventions.arithmetic": ("Arithmetic",),
    "conventions.counts": ("Count",),
    "conventions.reconcile": ("Reconciliation",),
    "conventions.reconcile_flops": ("FlopsReconciliation",),
    "core.errors": ("ConfigError", "ReadError", "SourceError", "UnknownArchitecture", "UsageError", "WeighbridgeError"),
    "core.tree": ("Part", "Row", "Tensor"),
    "designs.costs": ("Workload",),
    "designs.search": ("Search",),
    "designs.space": ("Space",),
    "designs.solve": ("Solution",),
    "designs.sweep": ("Sweep",),
    "exercises.marking": ("Marking",),
    "exercises.questions": ("Exercise",),
    "explain.derive": ("Derivation",),
    "explain.formulas": ("Formula",),
    "inventory.run": ("Summary",),
    "verification.diff": ("Difference",),
    "verification.findings": ("Verification",),
}
"""Where each public name stands: it is fetched when it is first asked for, so that a command starts at once."""


def __getattr__(name: str) -> object:
    """Fetch a public name from where it stands."""
    from importlib import import_module

    if name == "columns":
        return import_module("weighbridge.columns")
    home = next((home for home, names in _HOMES.items() if name in names), None)
    if home is None:
        raise AttributeError(f"module 'weighbridge' has no attribute {name!r}")
    found = getattr(import_module(f"weighbridge.{home}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*globals(), *__all__]
