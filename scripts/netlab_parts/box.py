"""`netlab box`: a network and a command in namespaces that no one else sees, so that no root is needed and nothing can stay.

The command is run again under `unshare`, for others than root as root of a user namespace, with an empty /run. When the outer
process dies, by whatever signal, the kernel ends everything inside.
"""
import os
import subprocess
import sys

from . import features, kernel
from .fault import CANNOT, Fault

INSIDE = "NETLAB_BOX"


def inside():
    return os.environ.get(INSIDE) == "1"


def reenter():
    """Replaces this process by itself in a box; returns only inside."""
    if inside():
        kernel.private_mounts()
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
        return
    command = features.box_command()
    if command is None:
        raise Fault(
            "this machine does not permit user namespaces (unshare --user --net fails; see kernel.unprivileged_userns_clone, "
            "user.max_user_namespaces and AppArmor's restrictions); expected them, or root and `netlab up`",
            CANNOT,
        )
    os.environ[INSIDE] = "1"
    os.execvp(command[0], [*command, sys.executable, *sys.argv])
