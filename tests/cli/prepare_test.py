"""prepare_test.py COLLTOPO: what `colltopo prepare` leaves in a folder is proved, agrees with itself, and is used again.

Networks: a torus, a fat tree, a dragonfly, a topology file of Slurm, several ranks on a host, and a network that loses a cable.
"""

import json
import os
import subprocess
import sys
import tempfile
import time

COLLTOPO = os.path.abspath(sys.argv[1])
SAMPLES = os.environ["COLLTOPO_SAMPLES"]
INFINITY = float("inf")


def run(*arguments, expect=0):
    done = subprocess.run([COLLTOPO, *arguments], capture_output=True, text=True)
    assert done.returncode == expect, f"{arguments}: exit status {done.returncode}: {done.stdout}{done.stderr}"
    return done


def prepare(topology, folder, *options):
    start = time.monotonic()
    report = json.loads(run("prepare", topology, "-o", folder, "--json", *options).stdout)
    report["took"] = time.monotonic() - start
    with open(os.path.join(folder, "rules.json")) as rules:
        report["rules"] = json.load(rules)
    return report


def check_files(report, folder):
    """Every file is there, sealed, proved, fits the network, and tables carry its routes."""
    named = {entry["file"] for entry in report["files"]}
    there = {name for name in os.listdir(folder) if name.endswith(".sched")}
    assert named == there, f"{folder}: {named} reported, {there} there"
    network = os.path.join(folder, "network-of-ranks.json")
    if not os.path.exists(network):
        network = os.path.join(folder, "topology.json")
    for entry in report["files"]:
        path = os.path.join(folder, entry["file"])
        options = ["--on", network]
        said = run("verify", path, *options).stdout
        assert "valid" in said and "invalid" not in said, said
    if report["planes"] > 0:
        with open(os.path.join(folder, "routes.json")) as tables:
            assert json.load(tables)["planes"] == report["planes"]
    with open(os.path.join(folder, "index.html")) as page:
        text = page.read()
    for word in ("<svg", "coll_topo_topology", *(entry["file"] for entry in report["files"])):
        assert word in text, f"{folder}/index.html lacks {word}"


def check_rules(report):
    """Sizes of each list follow each other without a gap; names are those that the report has."""
    files = {"file:" + entry["file"] for entry in report["files"]}
    for plan in report["collectives"]:
        entries = report["rules"]["collectives"][plan["collective"]]
        assert entries[-1].get("lanes", 0) == 0, "communicators without lanes have no rule"
        assert len(entries) == (2 if plan["with_tables"] else 1)
        for entry in entries:
            assert entry["topology"] == report["fingerprint"] and entry["comm_size_min"] == report["ranks"]
            behind = 0
            for rule in entry["rules"]:
                assert rule["msg_size_min"] == behind, f"{plan['collective']}: {rule}"
                behind = INFINITY if rule["msg_size_max"] == "inf" else rule["msg_size_max"] + 1
                assert not rule["alg"].startswith("file:") or rule["alg"] in files, rule
            assert behind == INFINITY


def serving(intervals, size):
    return next(i["algorithm"] for i in intervals if i["from_bytes"] <= size and (i["to_bytes"] is None or size <= i["to_bytes"]))


def check_predictions(report):
    """Who has a rule is ahead of the model's choice (0.95, and who serves smaller sizes stays within 3%); nothing beats the bound."""
    for plan in report["collectives"]:
        for row in plan["sizes"]:
            for key, intervals in (("as_is_s", plan["as_is"]), ("with_tables_s", plan["with_tables"])):
                place = (plan["collective"], row)
                assert row[key] is None or row[key] >= 0.999 * row["lower_bound_s"], place
                if intervals and row["model_s"] is not None and serving(intervals, row["bytes"]) != "auto":
                    assert row[key] <= 0.95 * row["model_s"], place


def check(report, folder):
    check_files(report, folder)
    check_rules(report)
    check_predictions(report)


def kinds(report):
    return {entry["kind"] for entry in report["files"]}


def test_networks(scratch):
    for name, topology in (("torus", "torus:3x3x3"), ("tree", "fattree:4"), ("dragonfly", "dragonfly:4:2:2"),
                           ("slurm", os.path.join(SAMPLES, "topology.conf"))):
        folder = os.path.join(scratch, name)
        report = prepare(topology, folder)
        check(report, folder)
        print(f"{name}: {report['took']:.1f} s, {len(report['files'])} files, planes {report['planes']}, {sorted(kinds(report))}")


def test_routes_serve_large_alltoalls_of_a_kautz_graph(scratch):
    """The network's own paths load some links more than others there: with tables the flow must be ahead."""
    folder = os.path.join(scratch, "kautz")
    report = prepare("kautz:16:4", folder, "--collectives", "alltoall")
    check(report, folder)
    (plan,) = report["collectives"]
    assert plan["with_tables"][-1]["algorithm"].startswith("file:alltoall-mcf"), plan["with_tables"]
    last = plan["sizes"][-1]
    assert last["with_tables_s"] < 1.2 * last["lower_bound_s"], last
    assert any(entry.get("lanes", 0) > 0 for entry in report["rules"]["collectives"]["alltoall"])


def test_ranks_on_hosts(scratch):
    folder = os.path.join(scratch, "ranks")
    report = prepare("ring:4", folder, "--ranks-per-host", "2", "--collectives", "allreduce,alltoall")
    assert report["ranks"] == 8 and report["hosts"] == 4
    check(report, folder)
    hosts = os.path.join(scratch, "hosts")
    with open(hosts, "w") as file:
        file.write("alpha slots=2\nbeta:1 # one\ngamma\ngamma\ndelta slots=1\n")
    report = prepare("ring:4", folder, "--hosts", hosts, "--collectives", "allgather")
    assert report["ranks"] == 6
    with open(os.path.join(folder, "topology.json")) as file:
        assert json.load(file)["hosts"] == ["alpha", "beta", "gamma", "delta"]
    check(report, folder)
    with open(hosts, "w") as file:
        file.write("alpha\nbeta\n")
    said = run("prepare", "ring:4", "-o", folder, "--hosts", hosts, expect=2).stderr
    assert "host alpha is not in ring:4, which has 4 hosts" in said, said


def test_a_lost_cable(scratch):
    folder = os.path.join(scratch, "broken")
    first = prepare("torus:4x4", folder, "--collectives", "alltoall,allreduce")
    again = prepare("torus:4x4", folder, "--collectives", "alltoall,allreduce", "--without", "link", "0-1")
    check(again, folder)
    assert again["fingerprint"] != first["fingerprint"]
    if "alltoall-mcf.sched" in {entry["file"] for entry in first["files"]}:
        assert again["begun_with"] == "the routes of alltoall-mcf.sched", again.get("begun_with")


def test_bad_input(scratch):
    folder = os.path.join(scratch, "bad")
    for arguments, words in ((("torus:2x2x", "-o", folder), "torus"),
                             (("torus:64x64", "-o", folder), "4096 ranks; expected at most 2048"),
                             (("ring:4", "-o", folder, "--sizes", "x"), "bytes 'x'"),
                             (("ring:4", "-o", folder, "--collectives", "alltoal"), "collective 'alltoal' is unknown"),
                             (("ring:4", "-o", folder, "--set", "message_overhead"), "expected NAME=VALUE"),
                             (("ring:4", "-o", "/proc/none/such", "--collectives", "bcast"), "cannot be made")):
        said = run("prepare", *arguments, expect=2).stderr
        assert words in said, said
    assert not os.path.exists(folder)


def main():
    cases = [function for name, function in sorted(globals().items()) if name.startswith("test_")]
    with tempfile.TemporaryDirectory() as scratch:
        for case in cases:
            case(scratch)
            print(f"{case.__name__}: good")


main()
