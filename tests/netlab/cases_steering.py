"""Cases about routes: every message takes the links that its schedule says. Asserts that fail say what was seen."""
import json
import os
import subprocess

from measures import goodput, lane_address, link_counters, reaches, routes_of
from sandbox import CANNOT, NETLAB, Skip, assert_same, in_time, netlab, picture


def _alltoall(bytes_per_peer, calls):
    netlab("bytes", "--reset")
    netlab(
        *("run", "--transport", "tcp", "--", "colltopo-bench", "--collective", "alltoall", "--algorithm", "linear"),
        *("--bytes", str(bytes_per_peer), "--warmup", "1", "--iterations", str(calls), "--check"),
        timeout=400,
    )
    return [row["bytes"] for row in link_counters()]


def counters_equal_loads():
    shard = 65536
    routes = routes_of("dor", "hypercube:3")
    with open(routes, encoding="utf-8") as file:
        paths = json.load(file)["routes"]
    netlab("up", "hypercube:3", "--rate", "100mbit", "--routes", routes)
    # What two runs have in common (start, check, barriers) is not of the calls.
    few, many = _alltoall(shard, 2), _alltoall(shard, 22)
    loads = [0] * len(few)
    for path in paths:
        for link in path["links"]:
            loads[link] += 1
    assert min(loads) == max(loads) == 4, "dimension order loads every link of a hypercube alike"
    for link, load in enumerate(loads):
        ratio = (many[link] - few[link]) / (20 * shard * load)
        # What TCP sends twice on a machine that is taken up counts as well.
        in_time(1.0 <= ratio < 1.05, f"link {link}: {ratio:.4f} of the bytes that its routes carry")
    netlab("down")


def lanes_follow_their_routes():
    for topo in ("bipartite:4:4", "mesh:3/ranks:2"):
        file = routes_of("mcf", topo)
        with open(file, encoding="utf-8") as text:
            wanted = json.load(text)
        netlab("up", topo, "--routes", file)
        links = link_counters()
        hosts = sorted({row["tail"] for row in links} & {f"n{host}" for host in range(wanted["hosts"])})
        tables, addresses = {}, {}
        for host in hosts:
            table = json.loads(netlab("exec", host, "--", "ip", "-j", "route").stdout)
            tables[host] = {route["dst"]: route for route in table}
            addresses[host] = netlab("exec", host, "--", "ip", "-br", "addr").stdout
        for route in wanted["routes"]:
            plane, target = route["lane"], lane_address(route["target"], route["lane"])
            at = f"n{route['source']}"
            taken = []
            while at != f"n{route['target']}":
                hop = tables[at][target]
                link = int(hop["dev"][1:])
                assert hop["prefsrc"] == lane_address(int(at[1:]), plane), hop
                taken.append(link)
                at = f"n{hop['gateway'].split('.')[-1]}"
            # Bridges are not stations: of their links only those out of hosts are in a table.
            named = [link for link in route["links"] if links[link]["tail"] in hosts]
            assert taken == named, f"{topo}: {route}: the tables take links {taken}"
            assert f" {target}/32" in addresses[at], addresses[at]
        netlab("run", "--", "true")
        assert reaches("n0", lane_address(wanted["hosts"] - 1, wanted["planes"] - 1))
        netlab("down")


def detours():
    # On a ring of 4, what goes from 0 to 2 takes the other side than plane 0 does.
    file = routes_of("sssp", "ring:4")
    with open(file, encoding="utf-8") as text:
        tables = json.load(text)
    own = {(at["node"], entry["target"]): entry["link"] for at in tables["nodes"] for entry in at["entries"]}
    netlab("up", "ring:4")
    ends = [(int(row["tail"][1:]), int(row["head"][1:])) for row in link_counters()]
    netlab("down")
    over = 3 if ends[own[0, 2]][1] == 1 else 1
    other_way = [ends.index((0, over)), ends.index((over, 2))]
    tables["exceptions"] = [
        {"source": 0, "target": 2, "lane": 0, "plane": 0, "node": node, "link": link} for node, link in zip((0, over), other_way)
    ]
    with open("detours.json", "w", encoding="utf-8") as text:
        json.dump(tables, text)
    assert json.loads(netlab("up", "ring:4", "--routes", "detours.json", "--json").stdout)["rules"] == 2
    netlab("bytes", "--reset")
    rate = goodput("n0", "n2", "10.100.0.2")
    assert rate > 1e6
    sent = [row["bytes"] for row in link_counters()]
    assert all(sent[link] > 1e6 for link in other_way), sent
    assert sent[own[0, 2]] < 1e5, sent
    netlab("down")


def steering():
    """The proof that lanes take their routes: counters against the schedule's loads, by netlab check."""
    if not os.path.exists(os.path.join(os.environ["NETLAB_TEST_BUILD"], "lib", "libcolltopo_ucx.so")):
        raise Skip("built without UCX lanes")
    before = picture()
    for topo, algorithm in (
        ("bipartite:4:4", "mcf"),
        ("twisted-hypercube:3", "mcf-steps"),
        ("hammingmesh:2x2:1x2", "mcf"),
    ):
        command = [NETLAB, "check", topo, "--algorithm", algorithm, "--rate", "10mbit", "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=400, check=False)
        if done.returncode == CANNOT:
            raise Skip(done.stderr.strip())
        assert done.returncode in (0, 1) and done.stdout, f"status {done.returncode}: {done.stderr}"
        report = json.loads(done.stdout)
        assert report["correct"], report
        # What TCP sends twice on a machine that is taken up counts as well.
        in_time(done.returncode == 0 and report["max_link_error"] < 0.05, report)
        assert report["planes"] > 1 or algorithm == "mcf-steps", report
        assert_same(before, picture())


def _walk(hosts, links):
    """Load of each link, in messages, when every host sends one to every other along the kernel's tables of plane 0."""
    tables = {}
    for host in range(hosts):
        table = json.loads(netlab("exec", f"n{host}", "--", "ip", "-j", "route").stdout)
        tables[host] = {route["dst"]: route for route in table if "gateway" in route}
    loads = [0] * links
    for source in range(hosts):
        for target in range(hosts):
            at = source
            while at != target:
                hop = tables[at][lane_address(target, 0)]
                loads[int(hop["dev"][1:])] += 1
                at = int(hop["gateway"].split(".")[-1])
    return loads


def _simulate(*arguments):
    return subprocess.run(["colltopo", "simulate", *arguments], capture_output=True, text=True, timeout=60, check=True).stdout


def _known_to_model(network, like):
    """What the model says of the busiest link of an all-to-all in `network`, routed as `like` says."""
    path = f"{network}/routes:{like}"
    said = json.loads(_simulate("linear", path, "-c", "alltoall", "--bytes", "1K", "--json"))
    return round(said["busiest_link_load"])


def routes_by_default():
    """On K4,4 a balanced choice of single paths puts 3 messages on the busiest link; first come and by hash put more, as the
    model knows."""
    busiest = {}
    for option in ("--balance", "--hash", None):
        netlab("up", "bipartite:4:4", *([option] if option else []))
        loads = _walk(8, 32)
        assert sum(loads) == 8 * 4 * 1 + 8 * 3 * 2, f"{option}: not all paths are shortest: {loads}"
        busiest[option] = max(loads)
        netlab("down")
    assert busiest["--balance"] == 3 < busiest["--hash"] <= busiest[None], busiest
    assert busiest["--hash"] == _known_to_model("bipartite:4:4", "hash"), busiest
    assert busiest[None] == _known_to_model("bipartite:4:4", "lowest"), busiest
    # A topology that says how it routes is taken at its word, and jobs hear of it.
    for like, loaded in (("hash", busiest["--hash"]), ("lowest", busiest[None])):
        netlab("up", f"bipartite:4:4/routes:{like}")
        assert max(_walk(8, 32)) == loaded, like
        with open("/run/netlab/netlab/topology.json", encoding="utf-8") as file:
            assert json.load(file)["routes"] == like
        netlab("down")
