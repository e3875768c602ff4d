"""Cables with a delay where the kernel has no netem: both ends are tap devices, and one process carries every frame across.

The process holds all taps of a network. What it reads from one is due at the other a fixed time later, so what is under way is
one queue in order of due times. Frames cross whole, packets of up to 16 KiB uncut and with their checksum not yet filled in, as
on a veth (virtio's header before each frame tells the other end). Rates and finite queues are the kernel's, before the tap.
"""
import collections
import contextlib
import fcntl
import os
import select
import socket
import struct
import time

from . import kernel

_TUNSETIFF, _TUNSETOFFLOAD, _SIOCSIFHWADDR = 0x400454CA, 0x400454D0, 0x8924
_IFF_TAP, _IFF_NO_PI, _IFF_VNET_HDR = 0x0002, 0x1000, 0x4000
_TUN_F_CSUM, _TUN_F_TSO4 = 0x01, 0x02
_ETHERNET = 1  # ARPHRD_ETHER
_LONGEST = 10 + 65536 + 64  # bytes of a frame with its header
_AT_A_TIME = 16  # frames of one tap before others have their turn


def _tap(name, mac):
    """A new tap device in the network namespace of this process; the descriptor that its frames come from."""
    descriptor = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    flags = _IFF_TAP | _IFF_NO_PI | _IFF_VNET_HDR
    fcntl.ioctl(descriptor, _TUNSETIFF, struct.pack("16sH22x", name.encode(), flags))
    fcntl.ioctl(descriptor, _TUNSETOFFLOAD, _TUN_F_CSUM | _TUN_F_TSO4)
    request = struct.pack("16sH6s16x", name.encode(), _ETHERNET, bytes.fromhex(mac.replace(":", "")))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        fcntl.ioctl(control.fileno(), _SIOCSIFHWADDR, request)
    return descriptor


def _let_go(kept):
    """Closes what a program that is executed would not have, but `kept`: others wait for the ends of the hub's pipes."""
    for name in os.listdir("/proc/self/fd"):
        descriptor = int(name)
        with contextlib.suppress(OSError):
            if descriptor != kept and not os.get_inheritable(descriptor):
                os.close(descriptor)
    with open(os.devnull, "r+b", buffering=0) as null:
        for descriptor in (0, 1, 2):
            os.dup2(null.fileno(), descriptor)


def lay(cables, place, delay_s):
    """Makes the devices of these cables (plan.cables) and starts the process that carries their frames, a child of the hub, with
    which it ends. place[node]: process whose network namespace the node's devices are in."""
    hear, say = os.pipe()
    carrier = os.fork()
    if carrier == 0:
        try:
            kernel.die_with_parent(True)
            _let_go(say)
            peers = {}
            for cable in cables:
                ends = []
                for end in cable:
                    kernel.enter({"net": f"/proc/{place[end.node]}/ns/net"}, ["net"])
                    ends.append(_tap(end.device, end.mac))
                peers[ends[0]], peers[ends[1]] = ends[1], ends[0]
            os.write(say, b"laid")
            os.close(say)
            carry(peers, delay_s)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.write(say, f"cables by taps: {error.strerror}".encode())
        finally:
            os._exit(1)
    os.close(say)
    with os.fdopen(hear, encoding="utf-8") as report:
        said = report.read()
    if said != "laid":
        raise OSError(0, said or "the process that carries frames ended")


def carry(peers, delay_s):
    """Frames of every tap to its peer, delay_s later, until there is no tap any more."""
    poll = select.epoll()
    for descriptor in peers:
        poll.register(descriptor, select.EPOLLIN)
    timer = kernel.timer()
    poll.register(timer, select.EPOLLIN)
    under_way = collections.deque()  # (due, tap, frame)
    open_taps = len(peers)
    while open_taps > 0:
        for descriptor, _ in poll.poll():
            if descriptor == timer:
                with contextlib.suppress(BlockingIOError):
                    os.read(timer, 8)
                continue
            try:
                for _ in range(_AT_A_TIME):
                    frame = os.read(descriptor, _LONGEST)
                    under_way.append((time.monotonic() + delay_s, peers[descriptor], frame))
            except BlockingIOError:
                pass
            except OSError:  # its device has gone
                poll.unregister(descriptor)
                open_taps -= 1
        now = time.monotonic()
        while under_way and under_way[0][0] <= now:
            _, tap, frame = under_way.popleft()
            # A device that is down loses what reaches it, as a cable does that is cut; a full one drops.
            with contextlib.suppress(OSError):
                os.write(tap, frame)
        if under_way:
            kernel.set_timer(timer, under_way[0][0])
