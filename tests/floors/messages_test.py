#!/usr/bin/env python3
"""docs/troubleshooting: every message of the sources is explained, none that is gone, the page is what the file makes of it; and
what is printed for real is among the messages that were found.

  messages_test.py SOURCE_FOLDER [COLLTOPO]
"""
import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
TOP = os.path.realpath(sys.argv[1])
sys.path.insert(0, os.path.join(TOP, "scripts"))

from messages_parts import command, sources  # noqa: E402

# What a user gets wrong, one of each part.
ERRORS = (
    "topology nonsense:4",
    "topology torus:4xx4",
    "topology switch:4/rate:5",
    "topology torus:2x2 --without link 0-9",
    "topology nowhere.json",
    "generate nonsense ring:4",
    "generate tra ring:4 -c bcast",
    "generate mcf mesh:1",
    "generate mcf ring:4 --layers none-such",
    "verify broken.sched",
    "verify edges.txt",
    "topology edges.txt",
    "cost good.sched ring:5 --bytes 1K",
    "cost good.sched ring:4 --bytes 1Q",
    "draw ring:4 --step 1",
    "draw torus:64x64 -o x.svg",
    "routes good.sched",
    "explain alltoall --bytes 1K --ranks 0",
    "bound alltoall ring:4 --check-lengths edges.txt",
)


def ask(arguments, top):
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        status = command.main(arguments, top)
    return status, said.getvalue()


def pattern_of(message):
    return re.compile(".*".join(re.escape(part) for part in message.split("…")))


def unfound(colltopo):
    """Lines on standard error that no message of the list is in. Usage errors are CLI11's own."""
    patterns = [pattern_of(text) for text in {text for _, _, text in sources.all_messages(TOP)} if len(re.sub(r"\W", "", text)) >= 8]
    lost = []
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([colltopo, "generate", "tra", "ring:4", "-o", "good.sched"], cwd=folder, check=True, capture_output=True)
        with open(f"{folder}/good.sched", encoding="utf-8") as file:
            lines = file.read().splitlines()
        with open(f"{folder}/broken.sched", "w", encoding="utf-8") as file:
            file.write("\n".join(lines[:5] + ["nonsense"] + lines[6:]) + "\n")
        with open(f"{folder}/edges.txt", "w", encoding="utf-8") as file:
            file.write("a b c d e f g\n")
        for arguments in ERRORS:
            done = subprocess.run([colltopo, *arguments.split()], cwd=folder, capture_output=True, text=True, timeout=60, check=False)
            if done.returncode == 0:
                lost.append(f"colltopo {arguments}: is no error")
            elif not any(pattern.search(done.stderr) for pattern in patterns):
                lost.append(f"colltopo {arguments}: its message was not found in the sources: {done.stderr.strip()}")
    return lost


def copies_that_must_fail():
    """The comparison sees a message that came in, one that went, and a page that was not written."""
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for part in (*sources.FOLDERS, "docs"):
            shutil.copytree(os.path.join(TOP, part), os.path.join(folder, part), ignore=shutil.ignore_patterns("__pycache__"))
        new = os.path.join(folder, "src", "base", "new.cpp")
        with open(new, "w", encoding="utf-8") as file:
            file.write('void f() { throw Error(fmt::format("the new {} is "\n "not explained; expected an entry", 1)); }\n')
        if "- the new … is not explained; expected an entry" not in ask([], folder)[1]:
            wrong.append("a new message is not missed")
        title = "Out of memory"
        ask(["--add", title, "src/base/new.cpp"], folder)
        if ask([], folder)[0] != ask([], TOP)[0]:
            wrong.append(f"a message that was added is still missed: {ask([], folder)[1]}")
        os.unlink(new)
        ask(["--add", title, "src/base/new.cpp"], folder)
        with open(os.path.join(folder, "docs", "troubleshooting.txt"), "a", encoding="utf-8") as file:
            file.write("- nobody prints this line\n")
        status, said = ask([], folder)
        if status == 0 or "nothing prints this any more\n- nobody prints this line" not in said or "run scripts/messages --write" not in said:
            wrong.append(f"a message that is gone is not seen: {said}")
    return wrong


def main():
    status, said = ask([], TOP)
    faults = [said] if status != 0 else []
    faults += copies_that_must_fail()
    if len(sys.argv) > 2:
        faults += unfound(os.path.realpath(sys.argv[2]))
    print("\n".join(faults) or said)
    return 1 if faults else 0


sys.exit(main())
