"""The cases. Each is one fact about netlab; asserts that fail say what was seen."""
import json
import os
import pwd
import signal
import subprocess
import time

from sandbox import CANNOT, NETLAB, Skip, assert_same, netlab, picture, processes, start


def _links():
    return json.loads(netlab("bytes", "--json").stdout)["links"]


def nothing_is_left():
    before = picture()
    for topo in ("hypercube:3", "switch:4", "mesh:2/ranks:2", "fattree:4", "kautz:6:2"):
        about = json.loads(netlab("up", topo, "--json").stdout)
        assert about["hosts"] == len(processes("netlab:")) - 1 - (about["switches"] if topo.startswith("fat") else 0), about
        netlab("run", "--", "true")
        netlab("down")
        assert_same(before, picture())


def killed_up_leaves_nothing():
    before = picture()
    begin = time.monotonic()
    netlab("up", "torus:3x3x3")
    whole = time.monotonic() - begin
    netlab("down")
    unfinished = 0
    for part in range(1, 13):
        rising = start("up", "torus:3x3x3")
        time.sleep(whole * part / 14)
        rising.kill()
        unfinished += rising.wait() != 0
        netlab("down", "--all")
        assert_same(before, picture())
    assert unfinished >= 5, f"only {unfinished} of 12 were killed on their way"
    for number in (signal.SIGINT, signal.SIGTERM):
        rising = start("up", "torus:3x3x3")
        time.sleep(whole / 2)
        rising.send_signal(number)
        assert rising.wait() != 0, f"up survived {number}"
        assert_same(before, picture())  # it has cleaned up itself
    # What a crash left does not stand in the way of the next network of that name.
    rising = start("up", "torus:3x3x3")
    while not os.path.isdir("/run/netlab/netlab/nodes"):
        time.sleep(0.01)
    rising.kill()
    rising.wait()
    netlab("up", "ring:3")
    netlab("down")
    assert_same(before, picture())


def _wait_until(fact, what, seconds=10):
    end = time.monotonic() + seconds
    while not fact():
        assert time.monotonic() < end, f"after {seconds} s still not so: {what}"
        time.sleep(0.05)


def killed_run_leaves_nothing():
    before = picture()
    netlab("up", "hypercube:3")
    idle = picture()
    for number in (signal.SIGKILL, signal.SIGINT, signal.SIGTERM):
        running = start("run", "--", "sleep", "77.5")
        _wait_until(lambda: len(processes("sleep 77.5")) >= 8, "8 ranks run")
        os.killpg(running.pid, number)
        assert running.wait(timeout=30) != 0, "an interrupted run must not report success"
        _wait_until(lambda: not processes("sleep 77.5") and not processes("orted"), f"signal {number} ended all ranks")
        netlab("run", "--", "true")
    _wait_until(lambda: picture()["processes"] == idle["processes"], "only the stations run")
    # A network goes down under a job, whose mpirun then fails.
    running = start("run", "--", "sleep", "77.5")
    _wait_until(lambda: len(processes("sleep 77.5")) >= 8, "8 ranks run")
    netlab("down")
    assert running.wait(timeout=30) != 0
    assert_same(before, picture())


def _alltoall(bytes_per_peer, calls):
    netlab("bytes", "--reset")
    netlab(
        *("run", "--transport", "tcp", "--", "colltopo-bench", "--collective", "alltoall", "--algorithm", "linear"),
        *("--bytes", str(bytes_per_peer), "--warmup", "1", "--iterations", str(calls), "--check"),
        timeout=150,
    )
    return [row["bytes"] for row in _links()]


def counters_equal_loads():
    shard = 65536
    routes = _routes_of("dor", "hypercube:3")
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
        assert 1.0 <= ratio < 1.05, f"link {link}: {ratio:.4f} of the bytes that its routes carry"
    netlab("down")


SEND = """
import socket, sys, time
with socket.create_connection((sys.argv[1], 7000)) as s:
    end = time.monotonic() + 2.5
    while time.monotonic() < end:
        s.sendall(bytes(16384))
"""
RECEIVE = """
import socket, time
with socket.create_server(("0.0.0.0", 7000)) as server:
    print("listening", flush=True)
    s, _ = server.accept()
    counted, begin = 0, None
    while part := s.recv(65536):
        now = time.monotonic()
        if begin is None:
            first, begin = now, 0
        if now - first < 0.5:
            continue  # slow start
        if not begin:
            begin = now
        else:
            counted += len(part)
        last = now
    print(counted * 8 / (last - begin), flush=True)
"""


def _goodput(sender, receiver, address, program=SEND):
    """bits per second"""
    with subprocess.Popen(
        [NETLAB, "exec", receiver, "--", "python3", "-c", RECEIVE], stdout=subprocess.PIPE, text=True
    ) as listening:
        listening.stdout.readline()
        netlab("exec", sender, "--", "python3", "-c", program, address)
        return float(listening.stdout.readline())


def rates():
    links = [(0, 1, 100), (1, 0, 100), (1, 2, 1000), (2, 1, 1000)]
    network = {
        "colltopo-topology": 1,
        "name": "slow and fast",
        "hosts": ["a", "b", "c"],
        "switches": [],
        "links": [{"tail": t, "head": h, "bandwidth": b, "latency": 1e-6} for t, h, b in links],
    }
    with open("rates.json", "w", encoding="utf-8") as file:
        json.dump(network, file)
    payload = 1460 / 1514  # of an Ethernet frame of TCP without time stamps
    for shaper in ("htb", "tbf"):
        netlab("up", "rates.json", "--rate", "5mbit", "--shaper", shaper, "--queue", "256k")
        for sender, receiver, rate in (("a", "b", 5e6), ("c", "b", 50e6), ("a", "c", 5e6)):
            measured = _goodput(sender, receiver, _address("abc".index(receiver), 0))
            said = f"{shaper}: {sender} to {receiver}: {measured:.3g} bit/s of {rate:.3g}"
            assert 0.9 < measured / (rate * payload) < 1.1, said
        netlab("down")


def order_is_kept():
    """Short packets with data stay behind the long ones of their connection; TCP would take an overtaken packet for lost."""
    netlab("up", "ring:3", "--rate", "5mbit")
    # An end of record keeps the kernel from filling a short packet up with what follows.
    records = "s.sendall(bytes(16384), socket.MSG_EOR); s.sendall(bytes(40), socket.MSG_EOR)"
    mixed = SEND.replace("s.sendall(bytes(16384))", records)
    assert mixed.count("MSG_EOR") == 2
    assert _goodput("n0", "n1", "10.100.0.1", mixed) > 4e6
    counted = netlab("exec", "n0", "--", "nstat", "-asz", "TcpExtTCPSACKReorder", "TcpRetransSegs").stdout
    numbers = {line.split()[0]: int(line.split()[1]) for line in counted.splitlines() if line.startswith("Tcp")}
    # One probe of the tail of the connection may be sent again.
    assert numbers["TcpExtTCPSACKReorder"] == 0 and numbers["TcpRetransSegs"] <= 1, numbers
    netlab("down")


def delays():
    """20 ms on every link: a connection over two of them takes four times that, and links stay as fast as they are. By netem, or
    by a process between taps where the kernel has none; with neither netlab refuses."""
    has = {row["feature"]: row["present"] for row in json.loads(netlab("features", "--json").stdout)["features"]}
    if not has["netem"] and not has["tap"]:
        done = netlab("up", "ring:4", "--delay", "20ms", status=CANNOT)
        assert "neither netem nor tap" in done.stderr and not os.path.exists("/run/netlab"), done.stderr
        return
    about = json.loads(netlab("up", "ring:4", "--delay", "20ms", "--rate", "10mbit", "--json").stdout)
    assert about["delay_us"] == 20e3 and about["delay_by"] == ("netem" if has["netem"] else "wire"), about
    code = (
        "import socket, time; s = socket.socket(); begin = time.monotonic(); "
        "print(s.connect_ex(('10.100.0.2', 9)), time.monotonic() - begin)"
    )
    answer, seconds = netlab("exec", "n0", "--", "python3", "-c", code).stdout.split()
    assert answer == "111" and 0.08 <= float(seconds) < 0.2, seconds
    assert 0.85 < _goodput("n0", "n1", "10.100.0.1") / (10e6 * 1460 / 1514) < 1.1
    netlab("cut", "n0", "n1")
    assert not _reaches("n0", "10.100.0.1")
    netlab("cut", "n0", "n1", "--restore")
    assert _reaches("n0", "10.100.0.1")
    netlab("kill", "n3")
    assert _reaches("n0", "10.100.0.1") and not _reaches("n0", "10.100.0.3")
    netlab("down")
    netlab("up", "switch:3", "--delay", "5ms")
    assert _reaches("n0", _address(2, 0))
    netlab("down")


def _reaches(host, address):
    """Whether a connection comes about (or is refused by the peer, which is an answer too) within a second."""
    code = f"import socket; s = socket.socket(); s.settimeout(1); print(s.connect_ex(('{address}', 9)))"
    return netlab("exec", host, "--", "python3", "-c", code).stdout.strip() == "111"  # ECONNREFUSED


def cut_and_kill():
    netlab("up", "ring:4")
    assert _reaches("n0", "10.100.0.1")
    netlab("cut", "n0", "n1")
    assert not _reaches("n0", "10.100.0.1") and not _reaches("n1", "10.100.0.0")
    assert _reaches("n0", "10.100.0.3")
    netlab("cut", "1", "0", "--restore")
    assert _reaches("n0", "10.100.0.1") and _reaches("n1", "10.100.0.0")
    sleeping = start("exec", "n2", "--", "sleep", "78.5")
    _wait_until(lambda: processes("sleep 78.5"), "a process on n2")
    netlab("kill", "n2")
    assert sleeping.wait(timeout=10) != 0
    _wait_until(lambda: not [line for line in processes("sleep 78.5") if line.startswith("sleep")], "n2's processes ended")
    assert not _reaches("n1", "10.100.0.2")
    assert "killed" in netlab("exec", "n2", "--", "true", status=1).stderr
    assert len(netlab("run", "--", "hostname").stdout.split()) == 3
    assert len(_links()) == 8
    netlab("down")
    # A switch's cable, where the switch is a bridge.
    netlab("up", "switch:3")
    netlab("cut", "n0", "s0")
    assert not _reaches("n0", "10.100.0.1") and _reaches("n2", "10.100.0.1")
    netlab("cut", "n0", "s0", "--restore")
    assert _reaches("n0", "10.100.0.1")
    netlab("down")


def hosts_are_apart():
    netlab("up", "ring:3")
    look = "touch /dev/shm/$(hostname)-x; sleep 1; echo $(hostname) $(ls /dev/shm)"
    seen = netlab("run", "-np", "6", "--", "sh", "-c", look).stdout
    lines = sorted(line for line in seen.split("\n") if line)
    assert [line.split()[0] for line in lines] == ["n0", "n0", "n1", "n1", "n2", "n2"], seen
    for line in lines:
        host, *files = line.split()
        assert [name for name in files if name.endswith("-x")] == [f"{host}-x"], f"{host} sees {files}"
    spaces = {
        netlab("exec", f"n{host}", "--", "readlink", f"/proc/self/ns/{kind}").stdout
        for host in range(3)
        for kind in ("ipc", "pid", "net", "uts")
    }
    assert len(spaces) == 12, spaces
    assert netlab("exec", "n1", "--", "getent", "hosts", "n2").stdout.split()[0] == "172.31.1.3"
    assert netlab("exec", "n1", "--", "sh", "-c", "exit 5", status=5)
    assert netlab("run", "--env", "COLOUR=blue", "--", "sh", "-c", "test $COLOUR = blue")
    netlab("run", "--", "sh", "-c", "exit 3", status=3)
    netlab("down")


def _routes_of(algorithm, topo):
    for command in (
        ["colltopo", "generate", algorithm, topo, "-o", "routed.sched"],
        ["colltopo", "routes", "routed.sched", "--for", "json", "-o", "routed.json"],
    ):
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=60)
    return "routed.json"


def _address(node, plane):
    return f"10.{100 + plane}.{node // 256}.{node % 256}"


def lanes_follow_their_routes():
    for topo in ("bipartite:4:4", "mesh:3/ranks:2"):
        file = _routes_of("mcf", topo)
        with open(file, encoding="utf-8") as text:
            wanted = json.load(text)
        netlab("up", topo, "--routes", file)
        links = _links()
        hosts = sorted({row["tail"] for row in links} & {f"n{host}" for host in range(wanted["hosts"])})
        tables, addresses = {}, {}
        for host in hosts:
            table = json.loads(netlab("exec", host, "--", "ip", "-j", "route").stdout)
            tables[host] = {route["dst"]: route for route in table}
            addresses[host] = netlab("exec", host, "--", "ip", "-br", "addr").stdout
        for route in wanted["routes"]:
            plane, target = route["lane"], _address(route["target"], route["lane"])
            at = f"n{route['source']}"
            taken = []
            while at != f"n{route['target']}":
                hop = tables[at][target]
                link = int(hop["dev"][1:])
                assert hop["prefsrc"] == _address(int(at[1:]), plane), hop
                taken.append(link)
                at = f"n{hop['gateway'].split('.')[-1]}"
            # Bridges are not stations: of their links only those out of hosts are in a table.
            named = [link for link in route["links"] if links[link]["tail"] in hosts]
            assert taken == named, f"{topo}: {route}: the tables take links {taken}"
            assert f" {target}/32" in addresses[at], addresses[at]
        netlab("run", "--", "true")
        assert _reaches("n0", _address(wanted["hosts"] - 1, wanted["planes"] - 1))
        netlab("down")


def detours():
    # On a ring of 4, what goes from 0 to 2 takes the other side than plane 0 does.
    file = _routes_of("sssp", "ring:4")
    with open(file, encoding="utf-8") as text:
        tables = json.load(text)
    own = {(at["node"], entry["target"]): entry["link"] for at in tables["nodes"] for entry in at["entries"]}
    netlab("up", "ring:4")
    ends = [(int(row["tail"][1:]), int(row["head"][1:])) for row in _links()]
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
    rate = _goodput("n0", "n2", "10.100.0.2")
    assert rate > 1e6
    sent = [row["bytes"] for row in _links()]
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
        report = json.loads(netlab("check", topo, "--algorithm", algorithm, "--rate", "10mbit", "--json", timeout=150).stdout)
        assert report["max_link_error"] < 0.05 and report["correct"], report
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
                hop = tables[at][_address(target, 0)]
                loads[int(hop["dev"][1:])] += 1
                at = int(hop["gateway"].split(".")[-1])
    return loads


def routes_by_default():
    """On K4,4 a balanced choice of single paths puts 3 messages on the busiest link; first come and by hash put more."""
    busiest = {}
    for option in ("--balance", "--hash", None):
        netlab("up", "bipartite:4:4", *([option] if option else []))
        loads = _walk(8, 32)
        assert sum(loads) == 8 * 4 * 1 + 8 * 3 * 2, f"{option}: not all paths are shortest: {loads}"
        busiest[option] = max(loads)
        netlab("down")
    assert busiest["--balance"] == 3 < busiest["--hash"] <= busiest[None], busiest


def fault_in_a_job():
    """A cable goes during a job: its links fall silent. Then a schedule without it, tables for it, and the job again."""
    bench = ("colltopo-bench", "--collective", "alltoall", "--bytes", "64K", "--check", "--json")
    netlab("up", "hypercube:3", "--rate", "20mbit", "--routes", _routes_of("mcf", "hypercube:3"))
    running = start("run", "--", "colltopo-bench", "--collective", "alltoall", "--bytes", "256K", "--iterations", "10000")
    between = [row["link"] for row in _links() if {row["tail"], row["head"]} == {"n0", "n1"}]
    _wait_until(lambda: all(_links()[link]["bytes"] > 1e6 for link in between), "traffic on the link", 30)
    begin = time.monotonic()
    netlab("cut", "n0", "n1")
    silent = [_links()[link]["bytes"] for link in between]
    time.sleep(1)
    assert [_links()[link]["bytes"] for link in between] == silent, "a cut link carries traffic"
    os.killpg(running.pid, signal.SIGINT)
    assert running.wait(timeout=30) != 0
    made = subprocess.run(
        ["colltopo", "generate", "mcf", "hypercube:3", "--without", "link", "0-1", "-o", "rest.sched"],
        capture_output=True,
        timeout=60,
        check=True,
    )
    assert b"drop-links:0-1" in made.stdout, made.stdout
    subprocess.run(["colltopo", "routes", "rest.sched", "--for", "json", "-o", "rest.json"], check=True, capture_output=True)
    planes = json.loads(netlab("reroute", "rest.json", "--json").stdout)["planes"]
    netlab("bytes", "--reset")
    lanes = ",".join(f"lane{plane}" for plane in range(planes))
    with_lanes = os.path.exists(os.path.join(os.environ["NETLAB_TEST_BUILD"], "lib", "libcolltopo_ucx.so"))
    settings = ["--env", "OMPI_MCA_coll_topo_transport=ucx", "--env", f"OMPI_MCA_coll_topo_lanes=device:{lanes}"]
    done = netlab(
        *("run", *(settings if with_lanes else []), "--env", "UCX_TLS=tcp,self", "--", *bench),
        *("--iterations", "2", "--warmup", "1", "--algorithm", f"file:{os.getcwd()}/rest.sched"),
    )
    assert "using MPI" not in done.stderr, done.stderr
    print(f"from the cut to the end of a job on the rest of the network: {time.monotonic() - begin:.1f} s")
    assert all(row["bytes"] == 0 for row in _links() if row["link"] in between), "the new tables use the cut link"
    netlab("cut", "n0", "n1", "--restore")
    netlab("reroute", "routed.json")
    assert _reaches("n0", "10.100.0.1")
    assert "not in hypercube:3" in netlab("reroute", _routes_of("sssp", "complete:8"), status=2).stderr
    netlab("down")


def two_at_once():
    before = picture()
    netlab("up", "ring:3", "--name", "one")
    netlab("up", "switch:3", "--name", "two")
    listed = json.loads(netlab("list", "--json").stdout)["networks"]
    assert [(row["name"], row["topology"]) for row in listed] == [("one", "ring:3"), ("two", "switch:3")]
    netlab("down", "--name", "one")
    assert netlab("exec", "n2", "--name", "two", "--", "hostname").stdout == "n2\n"
    netlab("down", "--name", "two")
    assert_same(before, picture())


def box():
    """Without root: as nobody, who can read nothing of /run's."""
    nobody = pwd.getpwnam("nobody").pw_uid
    command = f"{NETLAB} list; {NETLAB} run -- hostname"

    def as_nobody():
        os.setgroups([])
        os.setgid(nobody)
        os.setuid(nobody)

    before = picture()
    readable = subprocess.run([NETLAB, "--help"], preexec_fn=as_nobody, capture_output=True, check=False, cwd="/")
    if readable.returncode != 0:
        raise Skip("nobody cannot read the source tree")
    done = netlab("box", "ring:3", "--", "sh", "-c", command, preexec_fn=as_nobody, cwd="/")
    assert sorted(done.stdout.split()) == ["n0", "n1", "n2", "netlab", "ring:3", "up"], done.stdout
    netlab("box", "ring:3", "--", "sh", "-c", "exit 4", status=4, preexec_fn=as_nobody, cwd="/")
    assert "netlab box" in netlab("up", "ring:3", status=CANNOT, preexec_fn=as_nobody, cwd="/").stderr
    boxed = start("box", "ring:3", "--", "sleep", "79.5", preexec_fn=as_nobody, cwd="/")
    _wait_until(lambda: [line for line in processes("sleep 79.5") if line.startswith("sleep")], "the boxed command runs")
    boxed.kill()
    boxed.wait()
    _wait_until(lambda: not processes("netlab:") and not processes("sleep 79.5"), "a killed box ends all that is in it")
    assert_same(before, picture())


def wrong_arguments():
    netlab("up", "ring:4")
    for arguments, part in (
        (("up", "nonsense:4", "--name", "x"), "nonsense"),
        (("up", "/nowhere.json", "--name", "x"), "/nowhere.json"),
        (("up", "ring:4", "--name", "x", "--rate", "fast"), "--rate fast"),
        (("up", "ring:4", "--name", "x", "--rate", "0mbit"), "--rate 0mbit"),
        (("up", "ring:4", "--name", "x", "--rate", "1bit"), "64kbit"),
        (("up", "ring:4", "--name", "x", "--queue", "7"), "--queue 7"),
        (("up", "ring:4", "--name", "x", "--shaper", "red"), "red"),
        (("up", "ring:4", "--name", "x/../y"), "x/../y"),
        (("up", "ring:4", "--name", "x", "--routes", "/nowhere.json"), "/nowhere.json"),
        (("up", "ring:4", "--name", "x", "--routes", "/etc/passwd"), "/etc/passwd"),
        (("up", "ring:4", "--name", "x", "--routes", "a", "--balance"), "--balance"),
        (("up", "ring:4"), "already up"),
        (("down", "--name", "x"), "no network called x"),
        (("run", "--name", "x", "--", "true"), "no network called x"),
        (("run",), "no command"),
        (("run", "--env", "X", "--", "true"), "NAME=VALUE"),
        (("exec", "n9", "--", "true"), "n9"),
        (("exec", "n1", "--", "/nowhere"), "/nowhere"),
        (("cut", "n0", "n2"), "not a link"),
        (("cut", "n0", "n9"), "n9"),
        (("kill", "s9"), "s9"),
        (("fly",), "fly"),
        ((), "COMMAND"),
    ):
        done = netlab(*arguments, status=2)
        lines = done.stderr.strip().split("\n")
        assert len(lines) == 1 and part in lines[0] and not done.stdout, f"{arguments}: {done.stderr}"
    routes = _routes_of("sssp", "ring:5")
    assert "5 hosts" in netlab("up", "ring:4", "--name", "x", "--routes", routes, status=2).stderr
    assert [row["name"] for row in json.loads(netlab("list", "--json").stdout)["networks"]] == ["netlab"]
    netlab("down")
