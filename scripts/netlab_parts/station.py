"""A station is a host, or a switch that forwards: a process with network, host name, IPC, /dev/shm and process table of its own.

Its first process sleeps for good. When it is killed, everything on the station ends with it. Ranks on different hosts can
share no memory: nothing of /dev/shm or System V is common, and no process sees another host's.
"""
import contextlib
import json
import os
import signal
import subprocess
import time

from . import kernel

# Of every network namespace here. Loss and delay are the links' own, so TCP is told nothing that is learned elsewhere.
SETTINGS = {
    "net/ipv4/ip_forward": "1",
    "net/ipv4/conf/all/rp_filter": "0",
    "net/ipv4/conf/default/rp_filter": "0",
    "net/ipv4/conf/all/send_redirects": "0",
    "net/ipv4/conf/default/send_redirects": "0",
    "net/ipv4/conf/all/accept_redirects": "0",
    "net/ipv4/conf/default/accept_redirects": "0",
    "net/ipv6/conf/all/disable_ipv6": "1",
    "net/ipv6/conf/default/disable_ipv6": "1",
    "net/ipv4/tcp_congestion_control": "reno",  # allowed in every namespace
    # Acknowledgements overtake data, and time stamps would call that data old and drop it.
    "net/ipv4/tcp_timestamps": "0",
    "net/ipv4/tcp_slow_start_after_idle": "0",
    "net/ipv4/tcp_no_metrics_save": "1",
    "net/bridge/bridge-nf-call-iptables": "0",
    "net/bridge/bridge-nf-call-ip6tables": "0",
    "net/bridge/bridge-nf-call-arptables": "0",
}


def apply_settings():
    for name, value in SETTINGS.items():
        with contextlib.suppress(FileNotFoundError):  # bridge filters and IPv6 may not be there
            with open(f"/proc/sys/{name}", "w", encoding="ascii") as file:
                file.write(value)


def batch(program, path, go_on=False):
    """Runs `ip -batch`, `tc -batch` or `bridge -batch` on a file that may be empty; go_on: whatever fails."""
    if os.path.getsize(path) == 0:
        return
    force = ["-force"] if go_on else []
    done = subprocess.run([program, *force, "-batch", path], capture_output=True, text=True, check=False)
    if done.returncode != 0 and not go_on:
        raise OSError(0, f"{program} -batch {os.path.basename(path)}: {' '.join(done.stderr.split())}")


def wait_for_bridges(ports=None):
    """A bridge forwards through a port only some time after its cable is whole. Waits for these ports, or for all."""
    deadline = time.monotonic() + 10
    while True:
        done = subprocess.run(["bridge", "-j", "link", "show"], capture_output=True, text=True, check=False)
        blocked = [port["ifname"] for port in json.loads(done.stdout or "[]") if port["state"] != "forwarding"]
        blocked = [port for port in blocked if ports is None or port in ports]
        if not blocked:
            return
        if time.monotonic() > deadline:
            raise OSError(0, f"bridge port {blocked[0]} does not forward after 10 s")
        time.sleep(0.02)


def own_machine(host_name, host_file):
    """The namespaces of this process become those of a machine of its own: call after unshare and fork."""
    kernel.private_mounts()
    kernel.mount_proc()
    kernel.mount_sys()
    kernel.mount_shared_memory()
    kernel.bind(host_file, "/etc/hosts")
    kernel.set_host_name(host_name)
    apply_settings()
    kernel.loopback_up()


def sleep_for_good(name):
    """Becomes process 1 of a station, as `ps` shows it. Children that nobody waits for are reaped: SIGCHLD is ignored."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with open(os.devnull, "r+b", buffering=0) as null:
        for descriptor in (0, 1, 2):
            os.dup2(null.fileno(), descriptor)
    os.execvp("sleep", [f"netlab:{name}", "infinity"])


class Station:
    """Seen from the hub, which starts it and tells it when the cables are there."""

    def __init__(self, folder, node, name):
        self.node, self.name, self.folder = node, name, folder
        self.pid = None
        self._report, self._go = None, None

    def start(self):
        """Forks twice: a process is in a new process namespace only as the child of who made it."""
        self._report, report = os.pipe()
        go, self._go = os.pipe()
        between = os.fork()
        if between == 0:
            try:
                kernel.unshare(kernel.NET | kernel.MOUNT | kernel.UTS | kernel.IPC | kernel.PID)
                pid = os.fork()
                if pid == 0:
                    self._live(go, report)
                os.write(report, f"pid {pid}\n".encode())
            except OSError as error:
                os.write(report, f"station {self.name}: {error.strerror}\n".encode())
            os._exit(0)
        os.close(report)
        os.close(go)

    def _live(self, go, report):
        try:
            own_machine(self.name, f"{self.folder}/hosts")
            os.write(report, b"made\n")
            if os.read(go, 1) != b"x":
                os._exit(1)
            for kind in ("devices", "neighbours", "routes", "rules", "shaping"):
                batch("tc" if kind == "shaping" else "ip", f"{self.folder}/nodes/{self.node}.{kind}")
            os.write(report, b"ready\n")
            sleep_for_good(self.name)
        except OSError as error:
            os.write(report, f"station {self.name}: {error.strerror}\n".encode())
        os._exit(1)

    def wait_made(self):
        # The two lines come from two processes, in either order.
        for line in (self._line(), self._line()):
            if line.startswith("pid "):
                self.pid = int(line[4:])
            elif line != "made":
                raise OSError(0, line or f"station {self.name} ended while it was made")

    def go(self):
        os.write(self._go, b"x")
        os.close(self._go)

    def wait_ready(self):
        line = self._line()
        os.close(self._report)
        if line != "ready":
            raise OSError(0, line or f"station {self.name} ended while it was made")

    def _line(self):
        line = b""
        while not line.endswith(b"\n"):
            byte = os.read(self._report, 1)
            if not byte:
                break
            line += byte
        return line.decode(errors="replace").strip()
