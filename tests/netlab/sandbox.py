"""The place where a case runs, the program under test, and a picture of everything that could be left behind."""
import os
import pwd
import shutil
import subprocess
import sys
import time

CANNOT = 77
LATE = 76
PAUSES_S = (0, 10, 60)  # before each try
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
NETLAB = os.path.join(TOP, "scripts", "netlab")


class Skip(Exception):
    """Why this machine cannot run the case."""


class Late(AssertionError):
    """A figure of time that is wrong, though perhaps only for want of processors."""


def in_time(fact, said):
    """For figures that a machine taken up with something else may spoil: a case fails when they are wrong in every of its tries."""
    if not fact:
        raise Late(said)


def enter_sandbox(build):
    """Comes back in the sandbox only; outside of it the tries are counted."""
    if os.environ.get("NETLAB_TEST") != "inside":
        for program in ("setpriv", "unshare", "ip", "tc", "bridge", "mpirun.openmpi"):
            if shutil.which(program) is None:
                print(f"skipped: no program {program}; scripts/packages installs it")
                sys.exit(CANNOT)
        command = ["setpriv", "--pdeathsig", "KILL", "unshare", "--mount", "--pid", "--net", "--fork", "--kill-child", "--mount-proc"]
        tried = subprocess.run([*command, "true"], capture_output=True, text=True, check=False)
        if tried.returncode != 0:
            print(f"skipped: namespaces are not permitted here ({tried.stderr.strip()}); expected root")
            sys.exit(CANNOT)
        os.environ["NETLAB_TEST"] = "inside"
        os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
        for pause_s in PAUSES_S:  # what takes the machine up may be over then
            time.sleep(pause_s)
            status = subprocess.run([*command, sys.executable, *sys.argv], check=False).returncode
            if status != LATE:
                break
        sys.exit(status)
    _reap()
    for folder in ("/run", "/dev/shm"):
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", folder], check=True)
    if not any(os.path.realpath(path).startswith("/tmp/") for path in (build, TOP)):
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/tmp"], check=True)
    os.makedirs("/run/scratch")
    os.chdir("/run/scratch")
    os.environ["NETLAB_TEST_BUILD"] = build
    programs = os.path.join(build, "bin")
    os.environ["PATH"] = f"{programs}:{os.environ['PATH']}"
    os.environ["OMPI_MCA_mca_base_component_path"] = f"SYSTEM_DEFAULT:{build}/lib/openmpi"
    os.environ["PMIX_MCA_mca_base_component_path"] = f"{build}/lib/no-components"  # PMIx, since 5.0, would look there too
    if not os.access(os.path.join(TOP, "build", "release", "bin", "colltopo"), os.X_OK) and not shutil.which("colltopo"):
        print("skipped: colltopo is not built")
        sys.exit(CANNOT)


def _reap():
    """Process 1 stays behind and buries orphans, as every system's does; the case goes on in a child."""
    case = os.fork()
    if case == 0:
        return
    while True:
        pid, status = os.wait()
        if pid == case:
            os._exit(os.waitstatus_to_exitcode(status) & 255)


def netlab(*arguments, timeout=180, status=0, **options):
    """Runs netlab; fails unless it ends with this status. Returns the finished process, its output as text."""
    command = [NETLAB, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, check=False, **options)
    if done.returncode == CANNOT and status != CANNOT:
        raise Skip(done.stderr.strip())
    said = f"{' '.join(command)}: status {done.returncode}, expected {status}: {done.stdout}{done.stderr}"
    assert done.returncode == status, said
    return done


def as_nobody():
    """Before a program that is to run without root: somebody who can read nothing of /run's."""
    user = pwd.getpwnam("nobody")
    os.setgroups([])
    os.setgid(user.pw_gid)
    os.setuid(user.pw_uid)


def need_a_nobody(program):
    """Skips where nobody may not run it, as in a clone that only its owner can read."""
    try:
        readable = subprocess.run([program, "--help"], preexec_fn=as_nobody, capture_output=True, check=False, cwd="/").returncode == 0
    except PermissionError:
        readable = False
    if not readable:
        raise Skip("nobody cannot read the source tree")


def start(*arguments, **options):
    """netlab in the background, in a process group of its own."""
    return subprocess.Popen(
        [NETLAB, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True, **options
    )


def _processes():
    found = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                with open(f"/proc/{entry}/cmdline", "rb") as file:
                    command = file.read().replace(b"\0", b" ").decode(errors="replace")
                with open(f"/proc/{entry}/stat", encoding="ascii", errors="replace") as file:
                    zombie = file.read().rpartition(")")[2].split()[0] == "Z"
            except (FileNotFoundError, ProcessLookupError):
                continue
            if command and not zombie:  # one that ends has none
                found[int(entry)] = command
    return found


def processes(part):
    """Those whose command line has this in it."""
    return [command for command in _processes().values() if part in command]


def _files(folder):
    return sorted(os.path.join(at, name) for at, folders, files in os.walk(folder) for name in folders + files)


def picture():
    """All that netlab could leave: processes, devices, mounts, namespaces, files."""
    devices = sorted(os.listdir("/sys/class/net"))
    links = subprocess.run(["ip", "-br", "link"], capture_output=True, text=True, check=True).stdout.split("\n")
    with open("/proc/self/mounts", encoding="utf-8") as file:
        mounts = sorted(file.readlines())
    namespaces = set()
    for pid in _processes():
        for kind in ("net", "mnt", "uts", "ipc", "pid"):
            try:
                namespaces.add(os.readlink(f"/proc/{pid}/ns/{kind}"))
            except OSError:
                pass
    temporary = _files("/tmp") if os.path.ismount("/tmp") else [f"/tmp/{name}" for name in os.listdir("/tmp") if "netlab" in name]
    return {
        "processes": sorted(_processes().values()),
        "devices": devices + [line.split()[0] for line in links if line],
        "mounts": mounts,
        "namespaces": sorted(namespaces),
        "files": _files("/run") + _files("/dev/shm") + temporary,
    }


def assert_same(before, after):
    for what, there in before.items():
        new = [one for one in after[what] if one not in there]
        assert not new, f"left behind: {what}: {new}"
