#!/usr/bin/env python3
"""Schedule files that are wrong, each sealed as docs/schedule.md says, and rules that send a size of call to each.

wrong_schedules.py FOLDER [FINGERPRINT TOPOLOGY]: writes NAME.sched for 4 ranks, rules.json and calls.txt, a line
"COLLECTIVE INTS NAME" for each; all are for that network. wrong_schedules.py --large FOLDER: so large that proving takes
too long, and of what ranks find by comparing what they send and receive; "right" is right. What is wrong with a file no reader sees: numbers are in range, seals and counts are right, and its proof line
claims all that there is to claim.
"""
import json
import os
import re
import struct
import sys
import zlib

P = 4
ROOTED = ("bcast", "reduce", "gather", "scatter")
SEEN_BY_PAIRS = ("stray-message", "missing-send", "missing-receive", "long-message", "short-message", "steps-differ",
                 "lanes-differ", "received-twice", "from-another", "message-in-two")
PROOF = "proof in-place rank-order equal-bits stepped independent"


LARGE = 400000  # chunks in the place of one
network = []  # fingerprint and name


def header(collective, chunks, steps, sections, first="topo-schedule 1"):
    root = ["root 0"] if collective in ROOTED else []
    topology = ["topology " + " ".join(network)] if network else []
    return ([first, "name wrong", "collective " + collective, f"ranks {P}", f"chunks {chunks}"] + root +
            [f"steps {steps}"] + topology + [PROOF, f"sections {sections}"])


def sealed(header_lines, sections):
    """The bytes of a text file; `sections`: [rank] its lines."""
    out, seal, lines = b"", 0, 0

    def put(line):
        nonlocal out, seal, lines
        seal = zlib.crc32(line.encode() + b"\n", seal)
        out += f"{line} ~{seal:08x}\n".encode()
        lines += 1

    for line in header_lines:
        put(line)
    header_seal, header_bytes, places = seal, len(out), []
    for section in sections:
        first, number, seal = len(out), lines + 1, header_seal
        for line in section:
            put(line)
        places.append(f"section {len(places)} bytes {first}+{len(out) - first} line {number} seal {seal:08x}")
    index, seal = len(out), header_seal
    for line in [f"index {len(places)}"] + places:
        put(line)
    put(f"end lines {lines + 1} header 0+{header_bytes} index {index}+{len(out) - index}")
    return out


def runs(op):
    return [(word.split(":")[0], *map(int, word.split(":")[1].split("+"))) for word in op.split() if ":" in word]


def text_file(collective, chunks, programs):
    steps = max([int(op.split("step ")[1].split()[0]) for ops in programs for op in ops] + [0])
    sections = []
    for rank, ops in enumerate(programs):
        slots = max([first + count for op in ops for buffer, first, count in runs(op) if buffer == "scratch"] + [0])
        sections.append([f"section {rank} ops {len(ops)} scratch {slots}"] + ops)
    return sealed(header(collective, chunks, steps, P), sections)


def number(value):
    out = b""
    while value >= 128:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def binary_file(collective, chunks, programs):
    """The binary form of programs in step 1 whose runs are all written out."""
    buffers, actions = {"input": 0, "output": 1, "scratch": 2}, {"send": 0, "recv": 1, "copy": 2}
    out, seal = b"", 0
    for line in header(collective, chunks, 1, P, "topo-schedule-binary 1"):
        seal = zlib.crc32(line.encode() + b"\n", seal)
        out += f"{line} ~{seal:08x}\n".encode()
    header_bytes, index = len(out), b""
    for ops in programs:
        body = number(len(ops)) + number(0)
        for op in ops:
            words = op.split()
            body += bytes([actions[words[0]] | 8]) + number(int(op.split("step ")[1].split()[0]))
            if words[0] != "copy":
                body += number(int(words[1]))
            for side in op.split(" > ") if words[0] == "copy" else [op]:
                body += number(len(runs(side)))
                for buffer, first, count in runs(side):
                    body += number(first * 4 + buffers[buffer]) + number(count)
        packed = zlib.compress(body, 9)
        out += packed
        index += struct.pack("<QQI", len(packed), len(body), zlib.crc32(packed))
    place, seal = len(out), zlib.crc32(index, seal)
    trailer = b"topo-end" + struct.pack("<QQI", header_bytes, place, seal)
    return out + index + trailer + struct.pack("<I", zlib.crc32(trailer, seal))


# Right programs, in which something is then changed. [rank] ops.


def alltoall(chunks=1):
    programs = []
    for r in range(P):
        own = f"{r * chunks}+{chunks}"
        programs.append([f"copy step 0 input:{own} > output:{own}"] +
                        [f"send {j} step 1 input:{j * chunks}+{chunks}" for j in range(P) if j != r] +
                        [f"recv {j} step 1 output:{j * chunks}+{chunks}" for j in range(P) if j != r])
    return programs


def allgather():
    programs = []
    for r in range(P):
        ops = [f"copy step 0 input:0+1 > output:{r}+1"]
        for step in range(1, P):
            ops += [f"send {(r + 1) % P} step {step} output:{(r - step + 1) % P}+1",
                    f"recv {(r - 1) % P} step {step} output:{(r - step) % P}+1"]
        programs.append(ops)
    return programs


def bcast(chunks=1):
    return [[f"send 1 step 1 input:0+{chunks}", f"send 2 step 2 input:0+{chunks}"],
            [f"recv 0 step 1 output:0+{chunks}", f"send 3 step 2 output:0+{chunks}"],
            [f"recv 0 step 2 output:0+{chunks}"], [f"recv 1 step 2 output:0+{chunks}"]]


def reduce():
    root = ["copy step 0 input:0+1 > output:0+1"]
    for j in range(1, P):
        root += [f"recv {j} step 1 scratch:{j}+1", f"reduce step 1 scratch:{j}+1 > output:0+1"]
    return [root] + [["send 0 step 1 input:0+1"] for _ in range(1, P)]


def allreduce():
    programs = []
    for r in range(P):
        ops = ["copy step 0 input:0+4 > output:0+4"] + [f"send {j} step 1 input:0+4" for j in range(P) if j != r]
        for j in range(P):
            if j != r:
                ops += [f"recv {j} step 1 scratch:{4 * j}+4", f"reduce step 1 scratch:{4 * j}+4 > output:0+4"]
        programs.append(ops)
    return programs


def reduce_scatter():
    programs = []
    for r in range(P):
        ops = [f"copy step 0 input:{r}+1 > output:0+1"] + [f"send {j} step 1 input:{j}+1" for j in range(P) if j != r]
        for j in range(P):
            if j != r:
                slot = P * j + r  # of the rank's own size
                ops += [f"recv {j} step 1 scratch:{slot}+1", f"reduce step 1 scratch:{slot}+1 > output:0+1"]
        programs.append(ops)
    return programs


def gather():
    return [["copy step 0 input:0+1 > output:0+1"] + [f"recv {j} step 1 output:{j}+1" for j in range(1, P)]
            ] + [["send 0 step 1 input:0+1"] for _ in range(1, P)]


def scatter():
    return [["copy step 0 input:0+1 > output:0+1"] + [f"send {j} step 1 input:{j}+1" for j in range(1, P)]
            ] + [["recv 0 step 1 output:0+1"] for _ in range(1, P)]


def changed(programs, rank, old, new):
    """An op of a rank in another form; `new`: a list of ops, or one."""
    at = programs[rank].index(old)
    programs[rank][at:at + 1] = [new] if isinstance(new, str) else new
    return programs


def without(programs, rank, op):
    return changed(programs, rank, op, [])


def with_op(programs, rank, op, at=None):
    programs[rank].insert(len(programs[rank]) if at is None else at, op)
    return programs


def swapped(programs, rank, one, other):
    ops = programs[rank]
    a, b = ops.index(one), ops.index(other)
    ops[a], ops[b] = ops[b], ops[a]
    return programs


def on_all(programs, change):
    return [change(r, ops) for r, ops in enumerate(programs)]


def exchanged(r, ops):
    """Blocks of two peers in each other's place."""
    first, second = [j for j in range(P) if j != r][:2]
    names = {f"recv {first} step 1 output:{first}+1": f"recv {first} step 1 output:{second}+1",
             f"recv {second} step 1 output:{second}+1": f"recv {second} step 1 output:{first}+1"}
    return [names.get(op, op) for op in ops]


def cases():
    """name, collective, chunks, programs"""
    a = alltoall
    yield "exchanged", "alltoall", 1, on_all(a(), exchanged)
    yield "nothing", "alltoall", 1, [[] for _ in range(P)]
    yield "stray-message", "alltoall", 1, with_op(a(), 0, "send 1 step 1 input:2+1")
    yield "missing-send", "alltoall", 1, without(a(), 0, "send 1 step 1 input:1+1")
    yield "missing-receive", "alltoall", 1, without(a(), 1, "recv 0 step 1 output:0+1")
    yield "long-message", "alltoall", 1, changed(a(), 0, "send 1 step 1 input:1+1", "send 1 step 1 input:1+3")
    yield "short-message", "alltoall", 1, changed(a(), 1, "recv 0 step 1 output:0+1", "recv 0 step 1 scratch:0+4")
    yield "circle-of-receives", "alltoall", 1, [
        ops + [f"recv {(r - 1) % P} step 2 scratch:0+1", f"send {(r + 1) % P} step 2 scratch:0+1"]
        for r, ops in enumerate(a())]
    yield "one-slot-exchanged", "alltoall", 1, [
        ops + [f"copy step 1 input:{r}+1 > scratch:0+1", f"send {r ^ 1} step 2 scratch:0+1",
               f"recv {r ^ 1} step 2 scratch:0+1"] for r, ops in enumerate(a())]
    yield "unwritten-scratch", "alltoall", 1, on_all(
        a(), lambda r, ops: [op.replace("input:", "scratch:") if op.startswith("send") else op for op in ops])
    yield "unwritten-scratch-of-one", "alltoall", 1, changed(a(), 3, "send 0 step 1 input:0+1", "send 0 step 1 scratch:9+1")
    yield "others-block", "alltoall", 1, changed(a(), 0, "send 1 step 1 input:1+1", "send 1 step 1 input:2+1")
    yield "overwritten-later", "alltoall", 1, with_op(a(), 2, "copy step 2 input:2+1 > output:3+1")
    yield "steps-differ", "alltoall", 1, changed(a(), 1, "recv 0 step 1 output:0+1", "recv 0 step 2 output:0+1")
    yield "lanes-differ", "alltoall", 1, changed(a(), 1, "recv 0 step 1 output:0+1", "recv 0 step 1 lane 1 output:0+1")
    yield "own-block-left-out", "alltoall", 1, without(a(), 3, "copy step 0 input:3+1 > output:3+1")
    yield "received-twice", "alltoall", 1, with_op(a(), 1, "recv 0 step 1 output:0+1")
    yield "from-another", "alltoall", 1, changed(a(), 1, "recv 0 step 1 output:0+1", "recv 2 step 1 output:0+1")
    halves = changed(a(2), 0, "send 1 step 1 input:2+2", ["send 1 step 1 input:2+1", "send 1 step 1 input:3+1"])
    yield "halves-exchanged", "alltoall", 2, changed(
        halves, 1, "recv 0 step 1 output:0+2", ["recv 0 step 1 output:1+1", "recv 0 step 1 output:0+1"])
    yield "message-in-two", "alltoall", 2, changed(
        a(2), 0, "send 1 step 1 input:2+2", ["send 1 step 1 input:2+1", "send 1 step 1 input:3+1"])
    yield "binary-exchanged", "alltoall", 1, on_all(a(), exchanged)
    yield "forwards-another", "allgather", 1, changed(allgather(), 1, "send 2 step 2 output:0+1", "send 2 step 2 output:1+1")
    yield "last-step-left-out", "allgather", 1, [ops[:-2] for ops in allgather()]
    yield "forwards-too-early", "allgather", 1, swapped(allgather(), 2, "send 3 step 2 output:1+1", "recv 1 step 1 output:1+1")
    yield "own-block-elsewhere", "allgather", 1, changed(
        allgather(), 3, "copy step 0 input:0+1 > output:3+1", "copy step 0 input:0+1 > output:2+1")
    yield "bcast-of-nothing", "bcast", 1, [[] for _ in range(P)]
    yield "bcast-to-some", "bcast", 1, without(without(bcast(), 1, "send 3 step 2 output:0+1"), 3, "recv 1 step 2 output:0+1")
    yield "bcast-backwards", "bcast", 2, changed(bcast(2), 1, "recv 0 step 1 output:0+2", "recv 0 step 1 output:1+1 output:0+1")
    yield "bcast-in-a-circle", "bcast", 1, [["send 1 step 1 input:0+1"],
                                            ["recv 0 step 1 output:0+1", "recv 3 step 2 output:0+1",
                                             "send 2 step 2 output:0+1"],
                                            ["recv 1 step 2 output:0+1", "send 3 step 2 output:0+1"],
                                            ["recv 2 step 2 output:0+1", "send 1 step 2 output:0+1"]]
    yield "reduce-forgets", "reduce", 1, without(reduce(), 0, "reduce step 1 scratch:3+1 > output:0+1")
    yield "reduce-twice", "reduce", 1, with_op(reduce(), 0, "reduce step 1 scratch:3+1 > output:0+1")
    yield "reduce-one-for-another", "reduce", 1, changed(
        reduce(), 0, "reduce step 1 scratch:3+1 > output:0+1", "reduce step 1 scratch:2+1 > output:0+1")
    yield "allreduce-forgets", "allreduce", 1, without(allreduce(), 2, "reduce step 1 scratch:12+4 > output:0+4")
    yield "allreduce-twice", "allreduce", 1, with_op(allreduce(), 1, "reduce step 1 input:0+4 > output:0+4")
    yield "allreduce-half", "allreduce", 1, changed(
        allreduce(), 0, "reduce step 1 scratch:4+4 > output:0+4", "reduce step 1 scratch:4+2 > output:0+2")
    yield "allreduce-unwritten", "allreduce", 1, changed(
        allreduce(), 3, "reduce step 1 scratch:0+4 > output:0+4", "reduce step 1 scratch:16+4 > output:0+4")
    yield "allreduce-lost-at-the-end", "allreduce", 1, with_op(allreduce(), 3, "copy step 2 input:0+4 > output:0+4")
    yield "reduce-scatter-others-shard", "reduce_scatter", 1, changed(
        reduce_scatter(), 0, "send 1 step 1 input:1+1", "send 1 step 1 input:2+1")
    yield "reduce-scatter-forgets", "reduce_scatter", 1, without(reduce_scatter(), 0, "copy step 0 input:0+1 > output:0+1")
    yield "gather-exchanged", "gather", 1, on_all(gather(), exchanged)
    yield "gather-missing", "gather", 1, without(without(gather(), 0, "recv 3 step 1 output:3+1"), 3, "send 0 step 1 input:0+1")
    yield "scatter-exchanged", "scatter", 1, changed(
        changed(scatter(), 0, "send 1 step 1 input:1+1", "send 1 step 1 input:2+1"), 0,
        "send 2 step 1 input:2+1", "send 2 step 1 input:1+1")
    yield "scatter-of-nothing", "scatter", 1, [[] for _ in range(P)]


def enlarged(programs):
    larger = lambda run: f"{run[1]}:{int(run[2]) * LARGE}+{int(run[3]) * LARGE}"
    return [[re.sub(r"(\w+):(\d+)\+(\d+)", larger, op) for op in ops] for ops in programs]


def large_cases():
    yield "right", "alltoall", LARGE, enlarged(alltoall())
    for name, collective, chunks, programs in cases():
        if name in SEEN_BY_PAIRS:
            yield name, collective, chunks * LARGE, enlarged(programs)


def main():
    large = sys.argv[1] == "--large"
    folder, *network[:] = sys.argv[2:] if large else sys.argv[1:]
    ints, rules, calls = {}, {}, []
    for name, collective, chunks, programs in large_cases() if large else cases():
        path = os.path.join(folder, name + ".sched")
        made = binary_file if name.startswith("binary") else text_file
        with open(path, "wb") as file:
            file.write(made(collective, chunks, programs))
        ints[collective] = ints.get(collective, 0) + 12
        rules.setdefault(collective, []).append({"msg_size_max": 4 * ints[collective], "alg": "file:" + path})
        calls.append(f"{collective} {ints[collective]} {name}")
    where = {"comm_size_min": P, "comm_size_max": P, **({"topology": network[0]} if network else {})}
    document = {"rule_file_version": 3, "collectives": {key: [{**where, "rules": value}] for key, value in rules.items()}}
    with open(os.path.join(folder, "rules.json"), "w") as file:
        json.dump(document, file, indent=1)
    with open(os.path.join(folder, "calls.txt"), "w") as file:
        file.write("\n".join(calls) + "\n")


main()
