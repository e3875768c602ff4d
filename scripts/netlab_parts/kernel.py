"""System calls that Python 3.11 does not have: namespaces, mounts, timers, the parent-death signal (by libc, through ctypes)."""
import ctypes
import os
import signal
import socket
import struct
import time

MOUNT = 0x00020000  # CLONE_NEWNS
UTS = 0x04000000
IPC = 0x08000000
PID = 0x20000000
NET = 0x40000000

_KINDS = {"mnt": MOUNT, "uts": UTS, "ipc": IPC, "pid": PID, "net": NET}
_MS_NOSUID, _MS_NODEV, _MS_NOEXEC, _MS_BIND, _MS_REC, _MS_PRIVATE = 2, 4, 8, 4096, 16384, 1 << 18
_PR_SET_PDEATHSIG = 1
_TFD_TIMER_ABSTIME = 1

_libc = ctypes.CDLL(None, use_errno=True)


def _checked(result, what):
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def unshare(kinds):
    """New namespaces of these kinds for this process; of PID, for the children that follow."""
    _checked(_libc.unshare(kinds), "unshare")


def enter(paths, kinds):
    """Joins namespaces: paths[kind] is a file such as /proc/7/ns/net. All are opened before the first is entered, because
    entering a mount namespace changes what the paths mean."""
    opened = [(os.open(paths[kind], os.O_RDONLY | os.O_CLOEXEC), _KINDS[kind]) for kind in kinds]
    for descriptor, kind in opened:
        _checked(_libc.setns(descriptor, kind), "setns")
        os.close(descriptor)


def _mount(source, target, kind, flags, options=""):
    _checked(
        _libc.mount(source.encode(), target.encode(), kind.encode() or None, ctypes.c_ulong(flags), options.encode()),
        f"mount {target}",
    )


def private_mounts():
    """What is mounted from here on is not seen outside this mount namespace."""
    _mount("none", "/", "", _MS_REC | _MS_PRIVATE)


def mount_proc():
    _mount("proc", "/proc", "proc", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)


def mount_sys():
    """UCX reads /sys/class/net, which shows the network namespace of whoever mounted it."""
    _mount("sysfs", "/sys", "sysfs", _MS_NOSUID | _MS_NODEV | _MS_NOEXEC)


def mount_shared_memory():
    _mount("tmpfs", "/dev/shm", "tmpfs", _MS_NOSUID | _MS_NODEV, "mode=1777")


def bind(source, target):
    _mount(source, target, "", _MS_BIND)


def set_host_name(name):
    encoded = name.encode()
    _checked(_libc.sethostname(encoded, len(encoded)), "sethostname")


def die_with_parent(wanted):
    """SIGKILL when the parent dies; with wanted=False no longer."""
    _checked(_libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL) if wanted else 0, 0, 0, 0), "prctl")


def timer():
    """A descriptor that can be read once the time that set_timer() named has come."""
    descriptor = _libc.timerfd_create(time.CLOCK_MONOTONIC, os.O_NONBLOCK | os.O_CLOEXEC)
    _checked(-1 if descriptor < 0 else 0, "timerfd_create")
    return descriptor


def set_timer(descriptor, at):
    """at: of time.monotonic(), in seconds"""
    seconds = int(at)
    value = struct.pack("qqqq", 0, 0, seconds, int((at - seconds) * 1e9) + 1)  # struct itimerspec: no interval, this moment
    _checked(_libc.timerfd_settime(descriptor, _TFD_TIMER_ABSTIME, value, None), "timerfd_settime")


def loopback_up():
    request = struct.pack("16sh", b"lo", 1)  # struct ifreq with IFF_UP
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        _checked(_libc.ioctl(control.fileno(), 0x8914, request), "lo up")  # SIOCSIFFLAGS


def start_time(pid):
    """When a process started, in clock ticks: with the number it names a process for good. None if there is none."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
            fields = stat.read().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if fields[0] in "ZX" else int(fields[19])
