"""What came out of comparing classes: worked out in one process or several, and printed a line each."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor

from truth.check import Failure, Outcome


def run(todo: Sequence[Callable[[], Outcome]], jobs: int) -> Iterator[Outcome]:
    """Yield outcomes in order, worked out in several processes if there is more than one."""
    if jobs < 2 or len(todo) < 2:
        for item in todo:
            yield item()
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from (future.result() for future in [pool.submit(item) for item in todo])


def needs_library(outcome: Outcome) -> bool:
    """Tell whether a class could not be built for want of a library, such as timm: a config that its config class refuses says nothing of that."""
    refused = outcome.refused
    absent = outcome.unbuilt.startswith("ImportError") or any(one.startswith("ImportError") for one in refused)
    return not (outcome.configs or outcome.failure) and bool(refused) and absent


def print_outcome(outcome: Outcome, flops: bool = False) -> Outcome:
    """Print a class's line and, where it differs, how; *flops* says that forward passes were compared too. Returns it."""
    notes = [f"{outcome.configs} configs", f"{outcome.passes} passes"]
    notes += [f"{len(outcome.refused)} draws refused (such as {outcome.refused[0]})"] if outcome.refused else []
    notes += [f"default does not build ({outcome.unbuilt})"] if outcome.unbuilt else []
    notes += [f"some passes do not run ({outcome.unrun})"] if outcome.unrun else []
    partly = outcome.partly(flops=flops) if outcome.configs and not outcome.failure else ""
    notes += [partly] if partly else []
    verdict = "DIFFERS" if outcome.failure else "NOTHING COMPARED" if not outcome.configs else "PARTLY" if partly else "agrees"
    print(f"{outcome.model_type:18} {outcome.class_name:40} {verdict:8} {', '.join(notes)}, {outcome.seconds:.1f} s", flush=True)
    if outcome.failure:
        _explain(outcome.failure)
    return outcome


def _explain(failure: Failure) -> None:
    print(f"    {failure.difference}\n    repeat: {failure.repro}", flush=True)
