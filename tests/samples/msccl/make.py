"""make.py: writes the sample algorithms next to it. They are built as the tools that are named build theirs: which
buffers they use, how they fuse steps, assign channels and state dependencies."""

import os

HERE = os.path.dirname(os.path.abspath(__file__))


class Block:
    """A thread block; its steps are given as (type, source, target, count, awaited), places as "i3"."""

    def __init__(self, send=-1, recv=-1, chan=0):
        self.send, self.recv, self.chan, self.steps = send, recv, chan, []

    def add(self, kind, source="i0", target="o0", count=1, awaited=None):
        self.steps.append((kind, source, target, count, awaited))
        return self

    @property
    def last(self):
        return (self, len(self.steps) - 1)


def algorithm(name, coll, gpus, chunks, sizes, comments=(), **attributes):
    """gpus: [rank][thread block]; sizes: (input, output, scratch) chunks."""
    blocks = [block for gpu in gpus for block in gpu]
    awaited = {(id(step[4][0]), step[4][1]) for block in blocks for step in block.steps if step[4]}
    head = {"proto": "Simple", "inplace": 0, **attributes}
    text = f'<algo name="{name}" nchannels="{max(b.chan for b in blocks) + 1}" nchunksperloop="{chunks}" ngpus="{len(gpus)}" coll="{coll}"'
    text += "".join(f' {key}="{value}"' for key, value in head.items()) + ">\n"
    text += "".join(f"  <!--{comment}-->\n" for comment in comments)
    for rank, gpu in enumerate(gpus):
        text += '  <gpu id="%d" i_chunks="%d" o_chunks="%d" s_chunks="%d">\n' % (rank, *sizes)
        for index, block in enumerate(gpu):
            text += f'    <tb id="{index}" send="{block.send}" recv="{block.recv}" chan="{block.chan}">\n'
            for s, (kind, source, target, count, after) in enumerate(block.steps):
                depid, deps = (next(i for i, b in enumerate(gpu) if b is after[0]), after[1]) if after else (-1, -1)
                srcbuf, srcoff, dstbuf, dstoff = source[0], source[1:], target[0], target[1:]
                if kind == "nop":
                    srcoff, dstoff, count = -1, -1, 0
                text += (f'      <step s="{s}" type="{kind}" srcbuf="{srcbuf}" srcoff="{srcoff}" dstbuf="{dstbuf}" dstoff="{dstoff}" '
                         f'cnt="{count}" depid="{depid}" deps="{deps}" hasdep="{int((id(block), s) in awaited)}"/>\n')
            text += "    </tb>\n"
        text += "  </gpu>\n"
    return text + "</algo>\n"


def write(name, text):
    with open(os.path.join(HERE, name), "w", encoding="utf-8") as out:
        out.write(text)


def allgather_ring(ranks=4, channels=2):
    """MSCCLang, examples/mscclang/allgather_ring: in place, an instance of the ring per channel, receives fused with sends."""
    gpus = []
    for rank in range(ranks):
        gpu = []
        for channel in range(channels):
            block = Block((rank + 1) % ranks, (rank - 1) % ranks, channel)
            place = lambda shard: f"o{shard % ranks * channels + channel}"
            block.add("s", place(rank), place(rank))
            for behind in range(1, ranks):
                block.add("rcs" if behind < ranks - 1 else "r", place(rank - behind), place(rank - behind))
            gpu.append(block)
        gpus.append(gpu)
    return algorithm("allgather_ring", "allgather", gpus, ranks * channels, (0, ranks * channels, 0), inplace=1)


def allreduce_ring(ranks=4):
    """MSCCLang, simple/allreduce_ring: in place, which it calls the input; one thread block sends and receives."""
    gpus = []
    for rank in range(ranks):
        block = Block((rank + 1) % ranks, (rank - 1) % ranks)
        place = lambda shard: f"i{shard % ranks}"
        block.add("s", place(rank - 1), place(rank - 1))
        for behind in range(2, ranks):
            block.add("rrs", place(rank - behind), place(rank - behind))
        block.add("rrcs", place(rank), place(rank))
        for behind in range(1, ranks - 1):
            block.add("rcs", place(rank - behind), place(rank - behind))
        block.add("r", place(rank + 1), place(rank + 1))
        gpus.append([block])
    return algorithm("allreduce_ring_1channelsperring", "allreduce", gpus, ranks, (ranks, ranks, 0), inplace=1)


def allreduce_trees(in_place=True):
    """ForestColl's converter: a tree per root, up it and down it, main children fused, comments in the file. No input."""
    children = {root: {root: [(root + 1) % 4, (root + 2) % 4], (root + 1) % 4: [(root + 3) % 4]} for root in range(4)}
    gpus = [[] for _ in range(4)]
    for root in range(4):
        tree, place, channel = children[root], f"o{root}", 2 * root
        parent = {child: node for node, below in tree.items() for child in below}
        # The channel of an edge: that of its path from the root, the second child being on a path of its own.
        chan = {child: channel + (tree[node].index(child) and 1) for node, below in tree.items() for child in below}
        for node in range(4):
            below, gpu, before = tree.get(node, []), gpus[node], None
            for child in below[1:]:
                gpu.append(Block(-1, child, chan[child]).add("rrc", place, place, 1, before))
                before = gpu[-1].last
            main = below[0] if below else -1
            if node == root:
                gpu.append(Block(main, main, chan[main]).add("rrcs", place, place, 1, before))
                down = gpu[-1].last
            else:
                gpu.append(Block(parent[node], main, chan[node]).add("rrs" if below else "s", place, place, 1, before))
                gpu.append(Block(main, parent[node], chan[node]).add("rcs" if below else "r", place, place))
                down = gpu[-1].last
            for child in below[1:]:
                gpu.append(Block(child, -1, chan[child]).add("s", place, place, 1, down))
    return algorithm("pipeline schedule (k1,inst1)", "allreduce", gpus, 4, (0, 4, 0), ["nics: one per gpu"],
                     inplace=1, outofplace=0, minBytes=0, maxBytes=1 << 40)


def reduce_scatter_trees():
    """ForestColl's converter: in-trees over the input, in place: a rank's result is its own block of it."""
    gpus = [[] for _ in range(3)]
    for root in range(3):
        middle, leaf, place = (root + 1) % 3, (root + 2) % 3, f"i{root}"
        gpus[leaf].append(Block(middle, -1, root).add("s", place, place))
        gpus[middle].append(Block(root, leaf, root).add("rrs", place, place))
        gpus[root].append(Block(-1, middle, root).add("rrc", place, place))
    return algorithm("pipeline schedule (k1,inst1)", "reducescatter", gpus, 3, (3, 0, 0), inplace=1, outofplace=0,
                     minBytes=0, maxBytes=1 << 40)


def alltoall_two_step(nodes=2, local=2):
    """MSCCLang, alltoall_a100_two_step: what goes to another node is gathered at the GPU of the target's number, in scratch,
    and crosses as one message; a send that waits for several thread blocks has nops before it."""
    ranks = nodes * local
    gpus = [[] for _ in range(ranks)]
    blocks = {}

    def block(rank, send, recv, chan):
        key = (rank, send, recv, chan)
        if key not in blocks:
            blocks[key] = Block(send, recv, chan)
            gpus[rank].append(blocks[key])
        return blocks[key]

    for rank in range(ranks):
        block(rank, -1, -1, 0).add("cpy", f"i{rank}", f"o{rank}")
    for rank in range(ranks):
        node, number = divmod(rank, local)
        for other in range(nodes):
            for target in range(local):
                goal, gate = other * local + target, node * local + target
                if other == node and goal != rank:  # within the node
                    block(rank, goal, -1, 0).add("s", f"i{goal}", f"o{rank}")
                    block(goal, -1, rank, 0).add("r", f"i{goal}", f"o{rank}")
                elif other != node:
                    slot = f"s{other * local + number}"
                    if gate == rank:
                        block(rank, -1, -1, 0).add("cpy", f"i{goal}", slot)
                    else:
                        block(rank, gate, -1, 1).add("s", f"i{goal}", slot)
                        block(gate, -1, rank, 1).add("r", f"i{goal}", slot)
    for rank in range(ranks):
        node, number = divmod(rank, local)
        for other in range(nodes):
            if other == node:
                continue
            peer, sender = other * local + number, block(rank, other * local + number, -1, 0)
            awaited = [b.last for b in gpus[rank] if b.send < 0 and (b.chan == 1 or b.recv < 0)]
            for wait in awaited[:-1]:
                sender.add("nop", "i-1", "o-1", 0, wait)
            sender.add("s", f"s{other * local}", f"o{node * local}", local, awaited[-1])
            block(peer, -1, rank, 0).add("r", f"s{other * local}", f"o{node * local}", local)
    return algorithm("alltoall_two_step", "alltoall", gpus, ranks, (ranks, ranks, ranks))


def allreduce_allpairs(ranks=4):
    """MSCCLang, allreduce_a100_allpairs: everybody sends everybody its chunk, adds up what came, in order, and sends the sum.
    Two ranks send to each other before they receive: the runtime's buffers are needed."""
    gpus = []
    for rank in range(ranks):
        others = [(rank + 1 + i) % ranks for i in range(ranks - 1)]
        gpu = [Block(other, other, 0).add("s", f"i{other}", f"s{rank}").add("r", f"i{rank}", f"s{other}") for other in others]
        adder = gpu[0]
        for block in gpu[2:]:
            adder.add("nop", "i-1", "o-1", 0, (block, 1))
        for k, other in enumerate(others):
            adder.add("re", f"s{other}", f"i{rank}", 1, (gpu[1], 1) if k == 0 else None)
        total = adder.last
        for block, other in zip(gpu, others):
            block.add("s", f"i{rank}", f"i{rank}", 1, None if block is adder else total)
            block.add("r", f"i{other}", f"i{other}")
        gpus.append(gpu)
    return algorithm("allreduce_pairs", "allreduce", gpus, ranks, (ranks, ranks, ranks), proto="LL", inplace=1)


def allgather_precopied():
    """TACCL through ncclize: copies first, relays out of the output, channels by the time at which links are used."""
    gpus = []
    for rank in range(4):
        across, beside = rank ^ 2, rank ^ 1
        first = Block(across, -1, 0).add("s", "i0", f"o{rank}", 2)
        second = Block(-1, across, 0).add("r", "i0", f"o{2 * across}", 2)
        copy = Block().add("cpy", "i0", f"o{2 * rank}", 2)
        third = Block(beside, -1, 1).add("s", f"o{2 * rank}", f"o{2 * rank}", 2, copy.last)
        third.add("s", f"o{2 * across}", f"o{2 * across}", 2, second.last)
        fourth = Block(-1, beside, 1).add("r", "i0", f"o{2 * beside}", 2).add("r", "i0", f"o{2 * (beside ^ 2)}", 2)
        gpus.append([copy, first, second, third, fourth])
    return algorithm("Allgather(n=4)-hierarchical-steps=2", "allgather", gpus, 8, (2, 8, 0))


def allreduce_binomial(ranks=4):
    """MSCCLang, allreduce_binomial_tree: one chunk for the whole vector, whatever the number of ranks."""
    gpus = [[] for _ in range(ranks)]
    gpus[1].append(Block(0, 0).add("s", "i0", "i0"))
    gpus[3].append(Block(2, 2).add("s", "i0", "i0"))
    gpus[2].append(Block(3, 3).add("rrc", "i0", "i0"))
    gpus[2].append(Block(0, 0).add("s", "i0", "i0", 1, gpus[2][0].last))
    gpus[0].append(Block(1, 1).add("rrc", "i0", "i0"))
    gpus[0].append(Block(2, 2).add("rrc", "i0", "i0", 1, gpus[0][0].last).add("s", "i0", "i0"))
    gpus[0][0].add("s", "i0", "i0", 1, (gpus[0][1], 0))
    gpus[1][0].add("r", "i0", "i0")
    gpus[2][1].add("r", "i0", "i0")
    gpus[2][0].add("s", "i0", "i0", 1, gpus[2][1].last)
    gpus[3][0].add("r", "i0", "i0")
    return algorithm("allreduce_binomial_tree", "allreduce", gpus, 1, (1, 1, 0), inplace=1)


def chain(coll):
    """A pipelined chain from, or to, gpu 1."""
    gpus = []
    for rank, (up, down) in enumerate([(1, 2), (-1, 0), (0, -1)]):
        if coll == "broadcast":
            block = Block(down, up)
            for chunk in range(3):
                kind = "s" if up < 0 else "rcs" if down >= 0 else "r"
                block.add(kind, f"i{chunk}", f"o{chunk}")
        else:
            block = Block(up, down)
            for chunk in range(3):
                kind = "rrc" if up < 0 else "rrs" if down >= 0 else "s"
                block.add(kind, f"i{chunk}", f"o{chunk}")
        gpus.append([block])
    return algorithm("chain", coll, gpus, 3, (3, 3, 0), inplace=0)


def crossing_channels():
    """Two messages of a pair on two channels, wanted in the other order than they can be sent."""
    sender = [Block(1, -1, 0).add("s", "i0", "o0"), Block(1, -1, 1)]
    sender[1].add("s", "i1", "o1", 1, sender[0].last)
    sender.append(Block(-1, 1, 0).add("r", "i0", "o2", 2))
    sender.append(Block().add("cpy", "i0", "o0", 2))
    receiver = [Block(-1, 0, 0), Block(-1, 0, 1).add("r", "i1", "o1")]
    receiver[0].add("r", "i0", "o0", 1, receiver[1].last)
    receiver.append(Block(0, -1, 0).add("s", "i0", "o2", 2))
    receiver.append(Block().add("cpy", "i0", "o2", 2))
    return algorithm("crossing", "allgather", [sender, receiver], 4, (2, 4, 0))


def exchange_in_place():
    """Both send what they then overwrite with what they receive, there, back and there again: with buffers, no scratch is
    needed."""
    gpus = []
    for rank in range(2):
        block, place = Block(1 - rank, 1 - rank), f"o{1 - rank}"
        for _ in range(3):
            block.add("s", place, f"o{rank}").add("r", f"o{rank}", place)
        gpus.append([block])
    return algorithm("exchange", "alltoall", gpus, 2, (2, 2, 0), inplace=1, outofplace=0)


SAMPLES = {
    "allgather-ring-2-channels.xml": allgather_ring(),
    "allreduce-ring.xml": allreduce_ring(),
    "allreduce-trees.xml": allreduce_trees(),
    "reduce-scatter-trees.xml": reduce_scatter_trees(),
    "alltoall-two-step.xml": alltoall_two_step(),
    "alltoall-two-step-3x3.xml": alltoall_two_step(3, 3),
    "allreduce-allpairs.xml": allreduce_allpairs(),
    "allgather-precopied.xml": allgather_precopied(),
    "allreduce-binomial.xml": allreduce_binomial(),
    "broadcast-chain.xml": chain("broadcast"),
    "reduce-chain.xml": chain("reduce"),
    "allgather-crossing.xml": crossing_channels(),
    "alltoall-exchange-in-place.xml": exchange_in_place(),
}

# What is changed in which sample (the first place), and what the file is called.
BROKEN = {
    "cut.xml": ("allreduce-ring.xml", "</algo>\n", ""),
    "custom.xml": ("allreduce-ring.xml", 'coll="allreduce"', 'coll="custom"'),
    "gpu-missing.xml": ("allreduce-ring.xml", 'ngpus="4"', 'ngpus="5"'),
    "type.xml": ("allreduce-ring.xml", 'type="rrcs"', 'type="swap"'),
    "offset.xml": ("allreduce-ring.xml", 'srcoff="3"', 'srcoff="4"'),
    "peer.xml": ("allreduce-ring.xml", 'recv="3"', 'recv="-1"'),
    "itself.xml": ("allreduce-ring.xml", 'send="1"', 'send="0"'),
    "count.xml": ("allreduce-trees.xml", 'cnt="1"', 'cnt="0"'),
    "unsent.xml": ("allreduce-ring.xml", 'type="rrcs"', 'type="rrc"'),
    "awaited.xml": ("alltoall-two-step.xml", 'depid="0" deps="1"', 'depid="0" deps="9"'),
    "circle.xml": ("allgather-crossing.xml", 'type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="-1" deps="-1"',
                   'type="s" srcbuf="i" srcoff="0" dstbuf="o" dstoff="0" cnt="1" depid="1" deps="0"'),
    "unwritten.xml": ("alltoall-two-step.xml", 'type="s" srcbuf="i" srcoff="1"', 'type="s" srcbuf="s" srcoff="1"'),
    "other-chunk.xml": ("allreduce-ring.xml", 'type="rrs" srcbuf="i" srcoff="2"', 'type="rrs" srcbuf="i" srcoff="1"'),
    "wrong-result.xml": ("alltoall-two-step.xml", 'type="s" srcbuf="i" srcoff="1"', 'type="s" srcbuf="i" srcoff="0"'),
}

for file, text in SAMPLES.items():
    write(file, text)
for file, (sample, old, new) in BROKEN.items():
    assert old in SAMPLES[sample], file
    write(os.path.join("broken", file), SAMPLES[sample].replace(old, new, 1))
