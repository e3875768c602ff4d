"""The command line: options, what is printed, exit statuses (0 good, 1 wrong, 2 usage, 77 this machine cannot)."""
import argparse
import json
import os
import re
import signal
import subprocess
import sys

from . import box, check, counters, cut, features, plan, reroute, run, state, up
from .fault import WRONG, Fault

_RATE_UNITS = {"bit": 1.0, "kbit": 1e3, "mbit": 1e6, "gbit": 1e9}
_TIME_UNITS = {"us": 1.0, "ms": 1e3, "s": 1e6}
_DELAYS = {"netem": "netem", "wire": "a process between taps: this kernel has no netem"}
_SIZE_UNITS = {"": 1, "k": 1024, "m": 1024**2}


def _quantity(option, text, units, example):
    match = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)([a-z]*)", text.lower())
    if not match or match[2] not in units or float(match[1]) * units[match[2]] <= 0:
        raise Fault(f"{option} {text}: not a {'rate' if units is _RATE_UNITS else 'quantity'}; expected one such as {example}")
    return float(match[1]) * units[match[2]]


def shaping_of(options):
    rate = _quantity("--rate", options.rate, _RATE_UNITS, "50mbit")
    if not 64e3 <= rate <= 100e9:
        raise Fault(f"--rate {options.rate}: expected 64kbit to 100gbit")
    queue = int(_quantity("--queue", options.queue, _SIZE_UNITS, "4m or 65536"))
    if queue < 3000:
        raise Fault(f"--queue {options.queue}: has no room for two packets; expected at least 3000 bytes")
    delay = _quantity("--delay", options.delay, _TIME_UNITS, "0.1ms") if options.delay else 0.0
    burst = int(_quantity("--burst", options.burst, _SIZE_UNITS, "16k"))
    least = 2000 if options.shaper == "tbf" else 100
    if burst < least:
        raise Fault(f"--burst {options.burst}: expected at least {least} bytes{', as tbf holds back larger packets' if least > 1500 else ''}")
    return plan.Shaping(rate, queue, options.shaper, delay, burst=burst)


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        print(f"{self.prog}: {message}; see {self.prog} --help", file=sys.stderr)
        sys.exit(2)


def _shaping_options(parser):
    parser.add_argument("topo", metavar="TOPO", help="what colltopo understands: torus:3x3, switch:16, a file")
    parser.add_argument("--rate", default="50mbit", help="of the slowest link, others in proportion; default %(default)s")
    parser.add_argument("--delay", help="of every link, such as 0.1ms")
    queue = "bytes that wait before a link (a host's own link into a switch: at least 4m); default %(default)s: never drops"
    parser.add_argument("--queue", default="4m", help=queue)
    burst = "bytes that a link which was idle sends at once; fewer are truer to a wire, and lose rate on a busy machine; default %(default)s"
    parser.add_argument("--burst", default="16k", help=burst)
    shaper = "htb: acknowledgements first; tbf: one plain queue"
    parser.add_argument("--shaper", choices=("htb", "tbf"), default="htb", help=shaper)


def _network_options(parser):
    _shaping_options(parser)
    routes = parser.add_mutually_exclusive_group()
    routes.add_argument("--routes", metavar="FILE", help="tables: colltopo routes SCHEDULE --for json")
    routes.add_argument("--hash", action="store_true", help="of shortest paths one by hash instead of that of the lowest links; so does TOPO/routes:hash")
    routes.add_argument("--balance", action="store_true", help="balanced single-path routes (the best of dor, sssp and ilp)")
    parser.add_argument("--planes", metavar="N", type=int, default=1, help="lanes at least, for tables that come later")


def _parser():
    parser = _Parser(prog="netlab", description="A cluster in a box. docs/netlab.md explains it.")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)

    def add(name, text, named=True, json_too=False):
        command = commands.add_parser(name, help=text, description=text)
        if named:
            command.add_argument("--name", default=state.DEFAULT_NAME, help="of the network; default %(default)s")
        if json_too:
            command.add_argument("--json", action="store_true", help="one JSON object on standard output")
        return command

    _network_options(add("up", "Bring a network up", json_too=True))
    running = add("run", "mpirun across the hosts")
    running.add_argument("-np", default="", metavar="N[,N...]", help="ranks, to hosts in turn, or on each host; default one per host")
    running.add_argument("--env", action="append", default=[], metavar="X=Y")
    running.add_argument("--transport", choices=sorted(run.TRANSPORTS), default="tcp", help="of Open MPI's own messages")
    executing = add("exec", "Run a command on one host")
    executing.add_argument("host")
    reading = add("bytes", "Bytes that have crossed every directed link", json_too=True)
    reading.add_argument("--reset", action="store_true", help="count from now")
    reading.add_argument("--drops", action="store_true", help="packets that full queues dropped, too")
    cutting = add("cut", "Take the cables between two nodes away")
    cutting.add_argument("a")
    cutting.add_argument("b")
    cutting.add_argument("--restore", action="store_true", help="give them back")
    rerouting = add("reroute", "Other tables for a network that is up", json_too=True)
    rerouting.add_argument("file", metavar="FILE", help="colltopo routes SCHEDULE --for json")
    rerouting.add_argument("--of", metavar="TOPO", help="the topology of the tables, where the file does not say how to get it")
    add("kill", "End a host: its links and all its processes").add_argument("host")
    add("down", "Take a network down, or what a crash left of it").add_argument("--all", action="store_true")
    add("list", "The networks of this machine", named=False, json_too=True)
    add("features", "What this kernel has and lacks, and what is used instead", named=False, json_too=True)
    proof = "Do counters equal the schedule's loads? Up, a routed all-to-all over UCX lanes, down"
    checking = add("check", proof, named=False, json_too=True)
    _shaping_options(checking)
    checking.add_argument("--algorithm", default="mcf", help="of colltopo generate; default %(default)s")
    checking.add_argument("--bytes", type=int, default=0, help="for each peer; default: what takes 0.4 s at the bound")
    boxing = add("box", "A network and a command in a user namespace, without root", named=False)
    _network_options(boxing)
    return parser


def _print_up(about, as_json):
    if as_json:
        print(json.dumps(about))
        return
    print(f"{about['name']}: {about['topology']}: {about['hosts']} hosts, {about['switches']} switches, {about['links']} links")
    if about["switches"]:
        print(f"switches   {about['switches_are']}")
    print(f"links      {about['rate_bits'] / 1e6:g} Mbit/s the slowest, {about['shaper']}, queue {about['queue_bytes']} bytes")
    if about["delay_us"]:
        print(f"delay      {about['delay_us']:g} us on every link ({_DELAYS[about['delay_by']]})")
    print(f"lanes      {about['planes']} per node, on {about['lanes_on']} devices")
    print(f"routes     {about['routes']}, rules {about['rules']}: {about['routes_are']}")
    print(f"up in      {about['seconds']:.2f} s")


def _bring_up(name, options):
    single_path = "balanced" if options.balance else "hash" if options.hash else None
    return up.up(name, options.topo, shaping_of(options), options.routes, single_path, options.planes)


def _up(options, _rest):
    _print_up(_bring_up(options.name, options), options.json)
    return 0


def _run(options, rest):
    if not rest:
        raise Fault("run: no command; expected netlab run [options] -- COMMAND")
    ranks = options.np.split(",") if options.np else []
    if not all(number.isdecimal() for number in ranks):
        raise Fault(f"-np {options.np}: expected a number of ranks, or one for each host")
    return run.run(state.Network(options.name), [int(number) for number in ranks], options.transport, options.env, rest)


def _exec(options, rest):
    if not rest:
        raise Fault("exec: no command; expected netlab exec HOST -- COMMAND")
    network = state.Network(options.name)
    return run.execute(network, network.need_host(options.host), rest)


def _bytes(options, _rest):
    network = state.Network(options.name)
    if options.reset:
        counters.reset(network)
        return 0
    rows = counters.read(network, options.drops)
    if options.json:
        print(json.dumps({"network": network.name, "topology": network.graph.name, "links": rows}))
        return 0
    for row in rows:
        drops = f"{row['drops']:8} dropped" if options.drops else ""
        ends = f"{row['tail']} -> {row['head']}"
        print(f"{row['link']:5} {ends:24} {row['bytes']:14} bytes {row['packets']:9} packets{drops}")
    return 0


def _cut(options, _rest):
    network = state.Network(options.name)
    links = cut.cut(network, options.a, options.b, options.restore)
    print(f"{options.a} - {options.b}: links {', '.join(map(str, links))} {'restored' if options.restore else 'cut'}")
    return 0


def _reroute(options, _rest):
    done = reroute.reroute(state.Network(options.name), options.file, options.of)
    if options.json:
        print(json.dumps(done))
    else:
        print(f"routes     {done['routes']}, rules {done['rules']}, planes {done['planes']}: {done['routes_are']}")
    return 0


def _kill(options, _rest):
    cut.kill(state.Network(options.name), options.host)
    return 0


def _down(options, _rest):
    names = [name for name, _ in state.names()] if options.all else [options.name]
    for name in names:
        if not state.remove(name) and not options.all:
            raise Fault(f"no network called {name}; netlab list shows those that are there")
    return 0


def _list(options, _rest):
    rows = []
    for name, what in state.names():
        graph = state.Network(name).graph if what == "up" else None
        row = {"topology": graph.name, "hosts": graph.hosts} if graph else {"topology": None, "hosts": 0}
        rows.append({"name": name, "state": what} | row)
    if options.json:
        print(json.dumps({"networks": rows}))
    else:
        for row in rows:
            print(f"{row['name']:16} {row['state']:18} {row['topology'] or '-'}")
    return 0


def _features(options, _rest):
    rows = features.table()
    if options.json:
        print(json.dumps({"features": rows}))
        return 0
    for row in rows:
        instead = "" if row["present"] else f"; instead: {row['instead']}"
        print(f"{row['feature']:16} {'yes' if row['present'] else 'no ':4} {row['used_for']}{instead}")
    return 0


def _box(options, rest):
    if not rest:
        raise Fault("box: no command; expected netlab box TOPO [options] -- COMMAND")
    shaping_of(options)
    box.reenter()
    about = _bring_up(state.DEFAULT_NAME, options)
    print(f"{about['topology']}: up in {about['seconds']:.2f} s", file=sys.stderr)
    try:
        status = subprocess.run(rest, check=False).returncode
    except OSError as error:
        raise Fault(f"{rest[0]}: {error.strerror}; nothing was run") from error
    state.remove(state.DEFAULT_NAME)
    return 128 - status if status < 0 else status


def _check(options, _rest):
    shaping = shaping_of(options)
    if options.bytes < 0:
        raise Fault(f"--bytes {options.bytes}: expected a number of bytes")
    if os.geteuid() != 0 or box.inside():
        box.reenter()
    report = check.check(options.topo, options.algorithm, shaping, options.bytes)
    if options.json:
        print(json.dumps(report))
    else:
        print(f"{report['topology']}: {report['algorithm']}, {report['planes']} planes, {report['bytes']} bytes to each peer")
        print(f"links      at most {report['max_link_error']:.2%} from the schedule's loads (link {report['worst_link']})")
        over = report["throughput_over_bound"]
        print(f"time       {report['median_ms']:.1f} ms, bound {report['bound_ms']:.1f} ms: {over:.1%} of it")
    return 0 if report["good"] else WRONG


_COMMANDS = {
    "up": _up,
    "run": _run,
    "exec": _exec,
    "bytes": _bytes,
    "cut": _cut,
    "kill": _kill,
    "reroute": _reroute,
    "down": _down,
    "list": _list,
    "features": _features,
    "box": _box,
    "check": _check,
}


def main(arguments):
    # What follows `--` is a command for someone else.
    rest = []
    if "--" in arguments:
        place = arguments.index("--")
        arguments, rest = arguments[:place], arguments[place + 1 :]

    def ended(number, _frame):
        sys.exit(128 + number)

    signal.signal(signal.SIGTERM, ended)
    signal.signal(signal.SIGHUP, ended)
    try:
        options = _parser().parse_args(arguments)
        return _COMMANDS[options.command](options, rest)
    except Fault as fault:
        print(f"netlab: {fault}", file=sys.stderr)
        return fault.status
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        return 1
