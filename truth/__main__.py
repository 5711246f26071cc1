"""The commands of the truth harness."""

from __future__ import annotations

import argparse
import json
import random
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any

from truth import aliases, flips
from truth import backbones as composing
from truth import census as counting
from truth import check as checking
from truth import coverage as covering
from truth import fuzz as fuzzing
from truth import inner_classes as inside
from truth import new as proposing
from truth import probe as probing
from truth import record as recording
from truth import saved as saving
from truth import trials as trying
from truth.live import RefusedError
from truth.outcomes import needs_library, print_outcome, run
from weighbridge.blueprints import MODULES, is_remote, model_type_of

LIVE = [name for name in MODULES if not is_remote(name)]
"""The types that the reference library knows."""


Commands = Any
"""What a parser's ``add_subparsers`` returns: argparse keeps the class to itself."""


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit code is 1 if anything differs."""
    parser = argparse.ArgumentParser("python -m truth", description="Hold the blueprints to the live classes of the reference library.")
    commands = parser.add_subparsers(dest="command", required=True)
    for add in (
        _add_check,
        _add_probe,
        _add_fuzz,
        _add_one,
        _add_record,
        _add_new,
        _add_coverage,
        _add_census,
        _add_keys,
        _add_backbones,
        _add_inner,
        _add_names,
        _add_adapters,
        _add_costs,
        _add_parallel,
        _add_checkpoints,
        _add_accuracy,
    ):
        add(commands)
    options = parser.parse_args(arguments)
    answer: Callable[[argparse.Namespace], int] = options.answer
    return answer(options)


def _add(commands: Commands, name: str, answer: Callable[[argparse.Namespace], int], meaning: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = commands.add_parser(name, help=meaning)
    parser.set_defaults(answer=answer)
    return parser


def _add_types(parser: argparse.ArgumentParser, meaning: str = "model types; all that have a blueprint if none is named") -> None:
    parser.add_argument("types", nargs="*", help=meaning)


def _add_check(commands: Commands) -> None:
    check = _add(commands, "check", _check, "our blueprints against live classes, on default and random configs")
    _add_types(check)
    check.add_argument("--class", dest="only", help="only this class")
    check.add_argument("--n", type=int, default=20, help="random configs per class")
    check.add_argument("--seed", default=None, help="what random configs are drawn from; printed, and random by default")
    check.add_argument("--flops", action=argparse.BooleanOptionalAction, default=True, help="compare forward passes too")
    check.add_argument("--jobs", type=int, default=1, help="processes")
    check.add_argument(
        "--minutes", type=float, default=None, help="share this much time among the classes; one whose turn comes late gets one config"
    )


def _check(options: argparse.Namespace) -> int:
    seed = options.seed if options.seed is not None else str(random.SystemRandom().randrange(10**6))
    unknown = [name for name in options.types if name not in MODULES]
    if unknown:
        print(f"no blueprint for {', '.join(unknown)}; known: {', '.join(MODULES)}", file=sys.stderr)
        return 2
    work = [(name, cls) for name in options.types or LIVE for cls in checking.classes(name, options.only)]
    if not work:
        print("nothing to check", file=sys.stderr)
        return 2
    print(f"seed {seed}, {options.n} random configs per class, {len(work)} classes", flush=True)
    start, share = monotonic(), options.minutes * 60 / len(work) if options.minutes else None
    todo = [
        partial(checking.check, *item, n=options.n, seed=seed, flops=options.flops, due=None if share is None else start + share * turn)
        for turn, item in enumerate(work, 1)
    ]
    outcomes = [print_outcome(outcome, options.flops) for outcome in run(todo, options.jobs)]
    absent = [outcome for outcome in outcomes if needs_library(outcome)]
    bad = [outcome for outcome in outcomes if outcome.failure or not (outcome.configs or outcome in absent)]
    # Who names types works on them; the sweep over all of them has classes whose forward no generic input fits.
    partly = (
        [outcome for outcome in outcomes if outcome not in bad + absent and outcome.partly(flops=options.flops)] if options.types else []
    )
    total = sum(outcome.configs for outcome in outcomes)
    compared = len(outcomes) - len(absent)
    print(f"{compared - len(bad)} of {compared} classes agree on {total} configs and {sum(o.passes for o in outcomes)} passes")
    if absent:
        print(f"{len(absent)} not compared, for want of a library: {', '.join(outcome.class_name for outcome in absent)}")
    if bad:
        print(f"repeat with: python -m truth check {' '.join(sorted({o.model_type for o in bad}))} --seed {seed} --n {options.n}")
    if partly:
        print(f"{len(partly)} agree only PARTLY: see truth/recipes/__init__.py for inputs and draws")
    return 1 if bad or partly else 0


def _add_one(commands: Commands) -> None:
    one = _add(commands, "one", _one, "one class on one config, given as JSON")
    one.add_argument("class_name")
    one.add_argument("config", type=json.loads)


def _one(options: argparse.Namespace) -> int:
    raw: dict[str, Any] = options.config
    model_type = raw.get("model_type") or model_type_of(options.class_name)
    assert model_type, "the config does not say its model_type"
    found, passes, unrun = checking.build_and_compare(model_type, options.class_name, {**raw, "model_type": model_type})
    print(found or f"agrees, {passes} passes compared" + (f", forward does not run ({unrun})" if unrun else ""))
    return 1 if found else 0


def _add_probe(commands: Commands) -> None:
    probe = _add(commands, "probe", _probe, "every key of a config changed, declared or not, alone and in pairs")
    _add_types(probe)
    probe.add_argument("--seed", default="probe")
    probe.add_argument("--seconds", type=float, default=20, help="time for each type")
    probe.add_argument("--refusals", action="store_true", help="show what was refused too")


def _probe(options: argparse.Namespace) -> int:
    bad = 0
    for name in options.types or LIVE:
        found = list(probing.probe(name, options.seed, options.seconds))
        wrong = [one for one in found if one.wrong]
        refused = {one.detail: one for one in found if one.verdict == "refused"}
        print(f"{name:26} {len(found)} changes, {len(wrong)} wrong, {len(refused)} kinds of refusals", flush=True)
        for one in wrong:
            print(f"    {one.class_name} {'; '.join(map(str, one.changes))}: {one.verdict}: {one.detail}", flush=True)
            print(f"        python -m truth one {one.class_name} '{json.dumps(one.raw)}'", flush=True)
        if options.refusals:
            print("".join(f"    refused {one.class_name} {'; '.join(map(str, one.changes))}: {why}\n" for why, one in refused.items()))
        bad += len(wrong) + (not found)
    return 1 if bad else 0


def _add_fuzz(commands: Commands) -> None:
    fuzz = _add(
        commands,
        "fuzz",
        _fuzz,
        "1 to 4 keys of a default, random, recorded or published config changed at once: what each side counts, and what it refuses alone",
    )
    _add_types(fuzz)
    fuzz.add_argument("--n", type=int, default=20, help="trials of each type")
    fuzz.add_argument("--seed", default=None, help="what changes are drawn from; printed, and random by default")
    fuzz.add_argument(
        "--slice", default="1/1", metavar="K/N", help="of the types the K-th of N equal parts, for runs beside or behind each other"
    )
    fuzz.add_argument("--configs", metavar="FOLDER", help="a folder of published config files, to be changed beside the presets'")
    fuzz.add_argument("--log", metavar="FILE", help="append each trial as a line of JSON")


def _fuzz(options: argparse.Namespace) -> int:
    seed = options.seed if options.seed is not None else str(random.SystemRandom().randrange(10**6))
    part, parts = map(int, options.slice.split("/"))
    types = (options.types or LIVE)[part - 1 :: parts]
    print(f"seed {seed}, {options.n} trials of each of {len(types)} types", flush=True)
    return fuzzing.main(types, seed, options.n, folder=options.configs, log=options.log)


def _add_keys(commands: Commands) -> None:
    for name, meaning in (
        ("aliases", "every alias, alone and beside its key"),
        ("flips", "every boolean and null of the config class, toggled"),
    ):
        keys = _add(commands, name, _keys, f"{meaning}, against the live class; --record writes them down")
        _add_types(keys)
        keys.add_argument("--seed", default="keys", help="what the random base config is drawn from")
        keys.add_argument("--record", action="store_true", help="write tests/truth/keys, which the ordinary tests hold")
        keys.add_argument("--refusals", action="store_true", help="show what was refused too")


def _keys(options: argparse.Namespace) -> int:
    listed = {"aliases": aliases, "flips": flips}[options.command]
    bad = total = 0
    for name in options.types or LIVE:
        configs = trying.bases(name, options.seed)
        results = list(trying.run(name, configs, listed.trials(name, configs)))
        wrong = [one for one in results if one.verdict in ("differs", "crashed")]
        refused = [one for one in results if one.verdict == "refused"]
        print(f"{name:26} {len(results)} trials, {len(wrong)} wrong, {len(refused)} refused", flush=True)
        for one in wrong + (refused if options.refusals else []):
            print(f"    {one.trial.class_name} {trying.write_changes(one.trial)}: {one.verdict}: {one.detail}", flush=True)
            print(f"        python -m truth one {one.trial.class_name} '{json.dumps(one.raw)}'", flush=True)
        if options.record and not wrong:
            trying.record(options.command, name, configs, results)
        bad, total = bad + len(wrong), total + len(results)
    print(f"{total:,} trials, {bad:,} wrong")
    return 1 if bad else 0


def _add_backbones(commands: Commands) -> None:
    backs = _add(commands, "backbones", _backbones, "every type that looks through a backbone over every backbone, against the live class")
    _add_types(backs, "the outer types; all if none is named")
    backs.add_argument("--record", action="store_true", help="write tests/truth/keys/backbones.jsonl, which the ordinary tests hold")


def _backbones(options: argparse.Namespace) -> int:
    results = []
    for neck in options.types or composing.necks():
        found = [one for inner in composing.types() for one in composing.run(neck, inner)]
        for one in found:
            if one.verdict != "agrees":
                print(f"{neck:22} {one.raw['backbone_config']['model_type']:22} {one.verdict}: {one.detail}", flush=True)
                print(f"        python -m truth one {one.trial.class_name} '{json.dumps(one.raw)}'", flush=True)
        if options.record and all(one.verdict in ("agrees", "refused") for one in found):
            composing.record(neck, found)
        results += found
    bad, refused = (sum(one.verdict in verdicts for one in results) for verdicts in (("differs", "crashed"), ("refused",)))
    print(f"{len(results):,} configs, {bad:,} wrong, {refused:,} refused")
    return 1 if bad else 0


def _add_inner(commands: Commands) -> None:
    inner = _add(commands, "inner", _inner, "every class inside every composite config, against the live class built from the sub-config")
    _add_types(inner, "the outer types; all if none is named")
    inner.add_argument("--n", type=int, default=1, help="random configs of each, beside the default")
    inner.add_argument("--seed", default="inner")
    inner.add_argument("--record", action="store_true", help="write tests/truth/keys/inner_classes.jsonl, which the ordinary tests hold")


def _inner(options: argparse.Namespace) -> int:
    return inside.main(options.types, options.n, options.seed, options.record)


def _add_record(commands: Commands) -> None:
    record = _add(commands, "record", _record, "write committed truth files")
    _add_types(record)
    record.add_argument("--seed", default="truth", help="what the random configs are drawn from")


def _record(options: argparse.Namespace) -> int:
    for name in options.types or LIVE:
        path = recording.record(name, options.seed)
        print(f"{name:18} {sum(1 for _ in recording.read(path))} cases, {path.stat().st_size:,} bytes", flush=True)
    return 0


def _add_coverage(commands: Commands) -> None:
    cover = _add(commands, "coverage", _coverage, "how many of all buildable classes agree; writes the table of weigh models --coverage")
    _add_types(cover, "model types whose rows are renewed; all rows if none is named")
    cover.add_argument("--n", type=int, default=3, help="random configs per class")
    cover.add_argument("--seed", default="coverage")
    cover.add_argument("--jobs", type=int, default=1, help="processes")


def _coverage(options: argparse.Namespace) -> int:
    todo = [partial(covering.one, *item) for item in covering.work(options.seed, options.n, options.types)]
    outcomes = []
    for outcome in run(todo, options.jobs):
        outcomes.append(outcome)
        if outcome.failure or not outcome.configs:
            print_outcome(outcome)
    found = covering.summary(outcomes, seed=options.seed, n=options.n, before=covering.read() if options.types else None)
    covering.write(found)
    print(f"{found['classes_exact']:,} of {found['classes']:,} classes and {found['types_exact']} of {found['types']} types agree")
    return 1 if found["differ"] else 0


def _add_new(commands: Commands) -> None:
    new = _add(commands, "new", _new, "the skeleton of a blueprint, proposed from the live class of a type not yet described")
    new.add_argument("type", help="a model type of the reference library")
    new.add_argument("-o", "--output", default=None, help="the file to write; standard output by default")
    new.add_argument("--seed", default="new", help="what the configs are drawn from that sizes are fitted to")


def _new(options: argparse.Namespace) -> int:
    try:
        text = proposing.skeleton(options.type, options.seed)
    except RefusedError as error:
        print(error, file=sys.stderr)
        return 2
    if options.output is None:
        print(text, end="")
    else:
        Path(options.output).write_text(text, "utf-8")
        print(f"{options.output}: {text.count(chr(10))} lines, {text.count('TODO')} to do")
    return 0


def _add_census(commands: Commands) -> None:
    counted = _add(commands, "census", _census, "try to build every class of the reference library; writes truth/census.json (minutes)")
    _add_types(counted, "model types whose rows are renewed; all rows if none is named")


def _census(options: argparse.Namespace) -> int:
    found = counting.take(options.types)
    counting.write(found)
    built = [sum(not reason for reason in entry.values()) for entry in found.values()]
    print(f"{sum(built):,} of {sum(map(len, found.values())):,} classes of {sum(map(bool, built))} of {len(found)} types can be built")
    return 0


def _add_names(commands: Commands) -> None:
    names = _add(commands, "names", _names, "--names checkpoint and verify against files that live classes save")
    _add_types(names)
    names.add_argument("--n", type=int, default=1, help="random configs per class; 0 takes the default config")
    names.add_argument("--seed", default="saved")


def _names(options: argparse.Namespace) -> int:
    return saving.compare_classes(options.types or LIVE, options.n, options.seed)


def _add_adapters(commands: Commands) -> None:
    adapting = _add(commands, "adapters", _adapters, "adapters, against the PEFT library (0.21), which must be installed")
    adapting.add_argument("methods", nargs="*", help="peft types, such as LORA; all if none is named")
    adapting.add_argument("--n", type=int, default=200, help="random cases")
    adapting.add_argument("--seed", default="adapters")
    adapting.add_argument("--record", type=int, default=0, metavar="N", help="write N cases of each method for the ordinary tests")
    adapting.add_argument("--again", type=Path, metavar="FILE", help="ask the library once more for the figures of the cases in FILE")
    adapting.add_argument("--verbose", action="store_true", help="show what one side alone refuses")


def _adapters(options: argparse.Namespace) -> int:
    from truth import adapters

    if options.again:
        return adapters.again(options.again)
    if options.record:
        return adapters.record(options.record, options.seed)
    return adapters.compare_cases([name.upper() for name in options.methods], options.n, options.seed, options.verbose)


def _add_costs(commands: Commands) -> None:
    for name, meaning in (
        ("cache", "what a forward leaves in its cache, to the byte"),
        ("memory", "what autograd keeps of a forward, to the byte"),
        ("peak", "the most that a step of training holds, within 5 %%"),
    ):
        cost = _add(commands, name, _costs, meaning)
        _add_types(cost, "model types; all that are described if none is named")
        cost.add_argument("--n", type=int, default=3, help="random configs per class")
        cost.add_argument("--seed", default=None, help="what they are drawn from; printed, and random by default")
        cost.add_argument("--record", action="store_true", help="write what was measured to tests/costs")


def _costs(options: argparse.Namespace) -> int:
    from truth import costs, peak

    ask = {"cache": costs.cache, "memory": costs.memory, "peak": peak.compare_peaks}[options.command]
    return ask(options.types, options.n, options.seed, options.record)


def _add_parallel(commands: Commands) -> None:
    sharding = _add(commands, "parallel", _parallel, "shards on devices, against torch's DTensor and FSDP2 on CPU processes")
    sharding.add_argument("--n", type=int, default=12, help="random cases")
    sharding.add_argument("--seed", default="parallel")
    sharding.add_argument("--record", action="store_true", help="write them down for the ordinary tests")


def _parallel(options: argparse.Namespace) -> int:
    from truth import parallel

    return parallel.compare_cases(options.n, options.seed, options.record)


def _add_checkpoints(commands: Commands) -> None:
    written = _add(commands, "checkpoints", _checkpoints, "random training checkpoints, written by torch, against torch.load")
    written.add_argument("--n", type=int, default=200, help="random checkpoints of each sort")
    written.add_argument("--seed", default="checkpoints")
    written.add_argument("--record", type=int, default=0, metavar="N", help="write N of each sort for the ordinary tests")


def _checkpoints(options: argparse.Namespace) -> int:
    from truth import checkpoints

    if options.record:
        return checkpoints.record(options.record, options.seed)
    return checkpoints.compare_checkpoints(options.n, options.seed)


def _add_accuracy(commands: Commands) -> None:
    published = _add(commands, "accuracy", _accuracy, "published figures beside ours; writes docs/accuracy.md")
    published.add_argument("path", help="a file of published figures, one JSON object a line")


def _accuracy(options: argparse.Namespace) -> int:
    from truth import accuracy

    return accuracy.main(options.path)


if __name__ == "__main__":
    sys.exit(main())
