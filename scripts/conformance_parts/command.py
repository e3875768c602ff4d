"""The command: jobs one after the other until the time is over, a record that the next run goes on from, and what it came to."""
import argparse
import collections
import json
import pathlib
import random
import sys
import time

from whole_file import replaced

from . import jobs as runs
from . import settings as table
from .shrink import Shrink, spans

RANKS = [1, 2, 2, 3, 3, 4, 4, 4, 5, 5, 6, 7, 8, 8, 9, 11, 13, 16, 32]


def operations_on(ranks):
    return 150 if ranks <= 4 else 90 if ranks <= 8 else 40 if ranks <= 16 else 12


def parse(arguments):
    parser = argparse.ArgumentParser(prog="conformance", description="generated conformance of MPI's collectives")
    parser.add_argument("--build", default=str(runs.SOURCE / "build" / "release"))
    parser.add_argument("--hours", type=float, help="run for so long, and go on where the last run ended")
    parser.add_argument("--minute", action="store_true", help="a minute of jobs for continuous integration")
    parser.add_argument("--serves", help="component, shim or mpich: settings of these alone")
    parser.add_argument("--settings", help="names, separated by commas")
    parser.add_argument("--ranks", help="numbers of ranks, separated by commas")
    parser.add_argument("--leave", default=",".join(table.WAITS),
                        help="what is left out: names of calls and forms, early-free, empty-types, ... (default: %(default)s)")
    parser.add_argument("--bytes", type=int, default=262144, help="of a rank in one call, at most about")
    parser.add_argument("--record", help="the record of what was run (default: conformance.jsonl of the build folder)")
    parser.add_argument("--no-shrink", action="store_true")
    parser.add_argument("--replay", nargs=2, metavar=("SETTING", "RANKS"), help="one job; prints its command and what it says")
    parser.add_argument("--shrink", nargs=2, metavar=("SETTING", "RANKS"), help="the shortest case of a job that fails")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--operations", type=int)
    parser.add_argument("--only")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--summary", action="store_true", help="what the record says, as JSON")
    return parser.parse_args(arguments)


def more_of(options):
    more = ["--bytes", str(options.bytes)]
    return more + (["--leave", options.leave] if options.leave else [])


def say(text):
    print(text, flush=True)


def one_job(options, jobs):
    name, ranks = options.replay
    setting = table.table()[name]
    arguments = ["--seed", str(options.seed), *(["--only", options.only] if options.only else []), *more_of(options),
                 "--operations", str(options.operations or operations_on(int(ranks)))]
    say(runs.in_words(jobs.command(setting, int(ranks), arguments)))
    outcome = jobs.run(setting, int(ranks), arguments, 300)
    say(outcome.output)
    return 0 if outcome.good else 1


def shortest(options, jobs, setting, ranks, seed, last):
    """Prints the shortest case, and whether the library alone fails in it, too. Returns what the record keeps of it."""
    shrink = Shrink(jobs, setting, ranks, seed, more_of(options), say=say)
    only, setting, ranks, more = shrink.all(last)
    if not only:
        say("it did not fail again")
        return {"case": "", "stock": None}
    arguments = ["--seed", str(seed), "--only", spans(only), *more]
    command = runs.in_words(jobs.command(setting, ranks, arguments))
    text = shrink.last.text
    stock = table.stock_of(setting)
    fails_without = setting.serves not in ("stock", "stock-mpich") and not jobs.run(stock, ranks, arguments, 60).good
    say(f"shortest case, after {shrink.runs} jobs: {text}")
    say(f"  {command}")
    say("  without colltopo it fails, too" if fails_without else "  without colltopo it is right")
    return {"case": command, "line": text, "stock": fails_without}


def shrink_one(options, jobs):
    name, ranks = options.shrink
    setting = table.table()[name]
    operations = options.operations or operations_on(int(ranks))
    arguments = ["--seed", str(options.seed), "--operations", str(operations), *more_of(options), "--patience", "20"]
    outcome = jobs.run(setting, int(ranks), arguments, 120)
    if outcome.good:
        say("it does not fail")
        return 0
    say(outcome.text)
    shortest(options, jobs, setting, int(ranks), options.seed, outcome.operation if outcome.operation >= 0 else operations - 1)
    return 1


def chosen(options, jobs):
    settings = list(table.table().values())
    if options.settings:
        names = options.settings.split(",")
        settings = [table.table()[name] for name in names]
    if options.serves:
        settings = [s for s in settings if s.serves in options.serves.split(",")]
    if options.minute:
        settings = [s for s in settings if s.minute]
    left = [s.name for s in settings if not jobs.can_run(s)]
    if left:
        say(f"cannot run here: {' '.join(left)}")
    return [s for s in settings if s.name not in left]


def ranks_for(setting, seed, options):
    if setting.ranks:
        return random.Random(seed).choice(setting.ranks)
    allowed = [int(r) for r in options.ranks.split(",")] if options.ranks else [2, 3, 4, 5] if options.minute else RANKS
    return random.Random(seed).choice([r for r in allowed if r >= setting.nodes] or [setting.nodes])


class Record:
    """One line of JSON per job."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.rows = [json.loads(line) for line in self.path.read_text().splitlines()] if self.path.exists() else []

    def add(self, row):
        self.rows.append(row)
        with replaced(self.path, encoding="utf-8") as file:
            file.writelines(json.dumps(one) + "\n" for one in self.rows)

    def next_seed(self):
        return max((row["seed"] for row in self.rows), default=0) + 1


def summary(rows):
    """Jobs, hours, calls by kind and form, served and left, failures."""
    calls, alone, shim = collections.Counter(), collections.defaultdict(lambda: [0, 0]), collections.Counter()
    together, by_who = [0, 0], collections.Counter()
    for row in rows:
        by_who[row["serves"]] += 1
        counts = row.get("counts") or {}
        for kind, forms in counts.get("calls", {}).items():
            for form, number in forms.items():
                calls[f"{kind} {form}"] += number
        for kind, forms in counts.get("alone", {}).items() if counts.get("component") else ():
            for form, pair in forms.items():
                for i in (0, 1):
                    alone[f"{kind} {form}"][i] += pair[i]
        for i in (0, 1):
            together[i] += counts.get("together", [0, 0])[i]
        shim.update(counts.get("shim", {}))
    failed = [row for row in rows if not row["good"]]
    return {
        "jobs": len(rows), "by": dict(by_who), "settings": len({row["setting"] for row in rows}),
        "ranks": sorted({row["ranks"] for row in rows}), "hours": round(sum(row["seconds"] for row in rows) / 3600, 3),
        "calls": sum(calls.values()), "calls_by_kind": dict(sorted(calls.items())),
        "component_alone_served_left": dict(sorted(alone.items())), "component_together_served_left": together,
        "shim_served": dict(sorted(shim.items())),
        "failed": len(failed), "failed_without_colltopo_too": sum(1 for row in failed if row.get("stock")),
    }


def sweep(options, jobs):
    settings = chosen(options, jobs)
    if not settings:
        say("no setting can run here")
        return 77
    seconds = 50 if options.minute else options.hours * 3600
    record = Record(options.record or jobs.build / ("conformance-minute.jsonl" if options.minute else "conformance.jsonl"))
    if options.minute:
        record.path.unlink(missing_ok=True)
        record.rows = []
    first, began, turn = record.next_seed() if not options.minute else options.seed, time.monotonic(), 0
    ours, rows = 0, []
    while time.monotonic() - began < seconds and not (options.minute and turn >= 3 * len(settings)):
        setting, seed = settings[(first + turn) % len(settings)], first + turn
        turn += 1
        ranks = ranks_for(setting, seed, options)
        operations = options.operations or (30 if options.minute else operations_on(ranks))
        arguments = ["--seed", str(seed), "--operations", str(operations), *more_of(options), "--patience", "60"]
        start = time.monotonic()
        outcome = jobs.run(setting, ranks, arguments, 240)
        row = {"setting": setting.name, "serves": setting.serves, "ranks": ranks, "seed": seed, "good": outcome.good,
               "seconds": round(time.monotonic() - start, 2), "counts": outcome.counts}
        if not outcome.good:
            say(f"{setting.name}, {ranks} ranks, seed {seed}: {outcome.text}")
            row["line"] = outcome.text
            if not options.no_shrink:
                last = outcome.operation if outcome.operation >= 0 else operations - 1
                row.update(shortest(options, jobs, setting, ranks, seed, last))
            ours += 0 if row.get("stock") else 1
        record.add(row)
        rows.append(row)
    print(json.dumps(summary(rows)))
    return 1 if ours else 0


def main(arguments):
    options = parse(arguments)
    if options.list:
        for setting in table.table().values():
            say(f"{setting.name:22} {setting.serves:10} {setting.nodes} nodes  {setting.parameters or ''}")
        return 0
    jobs = runs.Jobs(options.build)
    if options.summary:
        print(json.dumps(summary(Record(options.record or jobs.build / "conformance.jsonl").rows), indent=1))
        return 0
    if options.replay:
        return one_job(options, jobs)
    if options.shrink:
        return shrink_one(options, jobs)
    if not options.minute and options.hours is None:
        print("conformance: --hours H, --minute, --replay, --shrink or --list", file=sys.stderr)
        return 2
    return sweep(options, jobs)
