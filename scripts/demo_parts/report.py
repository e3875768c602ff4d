"""What the demo found, as one object and as a table for people."""
import os

from demo_parts.setting import HOSTS, PAYLOAD, TOPOLOGY

NAMES = {"native": "Open MPI alone", "topo": "one variable"}


def result_of(size, bound, runs, variable):
    """Times in milliseconds. The bound is certified for the all-to-all; a transform is at least its exchanges."""
    shard_ms = bound["inverse_F_lower"] * size.shard * 8 / (size.rate_mbit * 1e6 * PAYLOAD) * 1e3
    native, topo = runs["native"], runs["topo"]

    def row(before, after, least):
        return {"native_ms": before, "topo_ms": after, "gain": before / after, "bound_ms": least, "of_bound": least / after}

    transforms = [run["transform"] for run in (native, topo)]
    exchanges = transforms[0]["exchanges"]
    served = all(run["topo_calls"] == (run["alltoall_calls"] if run is transforms[1] else 0) for run in transforms)
    correct = all(run["correct"] for run in transforms) and all(run["alltoall"]["correct"] is True for run in (native, topo))
    return {
        "topology": TOPOLOGY,
        "hosts": HOSTS,
        "rate_mbit": size.rate_mbit,
        "grid": size.grid,
        "shard_bytes": size.shard,
        "variable": variable,
        "transform": row(*(run["total_s"] * 1e3 for run in transforms), exchanges * shard_ms),
        "alltoall": row(*(run["alltoall"]["median_us"] / 1e3 for run in (native, topo)), shard_ms),
        "busiest_link_bytes": {name: max(run["links"]) for name, run in runs.items()},
        "busiest_link_gain": max(native["links"]) / max(topo["links"]),
        "calls": {name: {"made": run["transform"]["alltoall_calls"], "by_topo": run["transform"]["topo_calls"]} for name, run in runs.items()},
        "inverse_F": bound["inverse_F_lower"],
        "correct": correct,
        "load_average": os.getloadavg()[0],
        "good": correct and served,
    }


def line(*cells):
    return f"{cells[0]:38}" + "".join(f"{cell:>16}" for cell in cells[1:])


def text_of(result, picture, seconds, build):
    rows = [
        f"{result['hosts']} hosts on {result['topology']}, every link {result['rate_mbit']} Mbit/s, one shortest path per pair (by hash, as routers choose)",
        "",
        line("", "Open MPI alone", "one variable", "gain", "bound", "of the bound"),
    ]
    names = {"transform": f"3D transform {result['grid']}, ms", "alltoall": f"all-to-all of {result['shard_bytes'] // 1024} KiB, ms"}
    for key, name in names.items():
        row = result[key]
        times = (f"{row['native_ms']:.0f}", f"{row['topo_ms']:.0f}", f"{row['gain']:.2f}x", f"{row['bound_ms']:.0f}", f"{row['of_bound']:.0%}")
        rows.append(line(name, *times))
    busiest = result["busiest_link_bytes"]
    rows.append(line("the same, MB on the busiest link", *(f"{busiest[name] / 1e6:.1f}" for name in NAMES), f"{result['busiest_link_gain']:.2f}x"))
    rows.append(line("calls served by coll/topo", *(f"{result['calls'][name]['by_topo']} of {result['calls'][name]['made']}" for name in NAMES)))
    rows.append(f"every value checked: {'right' if result['correct'] else 'WRONG'}")
    rows += [
        "",
        f"The bound: no all-to-all on this network takes less than {result['inverse_F']:g} times what a pair sends over one link, whatever its routes",
        f"(proof: colltopo bound alltoall {result['topology']} --lengths FILE). For the transform: its two exchanges, and no time for computing.",
        f"The variable: {result['variable']}",
        f"The picture:  {picture}",
        "",
        f"On your machine, after `source {build}/env.sh`, with your network in place of {result['topology']} (docs/topologies.md):",
        f"    colltopo generate mcf-steps {result['topology']} -o alltoall.sched && mpirun --mca coll_topo_alltoall_algorithm file:$PWD/alltoall.sched ./your-program",
        f"({seconds:.0f} s; load of this machine {result['load_average']:.1f})",
    ]
    if result["transform"]["gain"] < 1.5:
        rows.append("The gain is smaller than usual (1.5 and more): other programs use the processors that stand for all hosts and links here.")
    if not result["good"]:
        rows.append("demo: coll/topo did not serve every call, or a value is wrong; --mca coll_topo_verbose 1 says why")
    return "\n".join(rows)
