#!/usr/bin/env python3
"""binaries_test.py FOLDER...: every program and library below the folders loads nothing from the current folder, and is hardened.

Words of RUNPATH and RPATH are absolute paths or begin with $ORIGIN: an empty word, or a relative one, is the current folder for the
loader. Libraries that are needed have plain names. Programs are PIE; all are bound at start (now) behind relro, without a stack that
runs; what has arrays on its stack looks for overruns, and those of ours that format text do so by the checked functions.

  --any-flags: of a build with sanitizers or without optimization, which has other checks: paths alone
"""
import os
import re
import subprocess
import sys

# Compiled by others, or of nothing: the compiler's own probes and objects.
PASSED_OVER = {"CMakeFiles", "_deps", "test_files"}
# With arrays and formatted text for certain, so that a flag that is gone shows.
FORTIFIED = {"colltopo", "mca_coll_topo.so", "libcolltopo_mpi.so"}


def binaries(folder):
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(set(folders) - PASSED_OVER)
        for name in sorted(names):
            path = os.path.join(place, name)
            if os.path.islink(path) or name.endswith((".o", ".a", ".gch")):
                continue
            with open(path, "rb") as file:
                if file.read(4) == b"\x7fELF":
                    yield path


def read_elf(path):
    said = subprocess.run(["readelf", "-W", "-h", "-d", "-l", "--dyn-syms", path], capture_output=True, text=True, check=True,
                          env=dict(os.environ, LC_ALL="C"))
    return said.stdout


def path_faults(text):
    for kind, words in re.findall(r"\((RUNPATH|RPATH)\)\s+Library r\w*path: \[(.*)\]", text):
        for word in words.split(":"):
            if not word.startswith(("/", "$ORIGIN", "${ORIGIN}")):
                yield f"{kind} [{words}] has the word '{word}', which is the current folder's"
            elif "/../.." in word and word.startswith("/"):
                yield f"{kind} [{words}] has the word '{word}', which is no plain path"
    for name in re.findall(r"\(NEEDED\)\s+Shared library: \[(.*)\]", text):
        if "/" in name:
            yield f"needs '{name}', a path; expected a name"


def flag_faults(path, text):
    name = os.path.basename(path)
    is_program = "(DEBUG)" in text or re.search(r"^\s+INTERP\s", text, re.M)
    if not re.search(r"Type:\s+DYN", text):
        yield "is not position-independent"
    if is_program and not re.search(r"\(FLAGS_1\).*\bPIE\b", text):
        yield "is no PIE"
    if not re.search(r"\(FLAGS_1\).*\bNOW\b|\(FLAGS\).*\bBIND_NOW\b|\(BIND_NOW\)", text):
        yield "is not bound at start (-z now)"
    if not re.search(r"^\s+GNU_RELRO\s", text, re.M):
        yield "has no relro"
    stack = re.search(r"^\s+GNU_STACK\s+(?:\S+\s+){5}([RWE ]+?)\s+0x", text, re.M)
    if not stack or "E" in stack[1]:
        yield "has a stack that runs"
    if re.search(r"\(TEXTREL\)", text):
        yield "has relocations in its text"
    if name in FORTIFIED:
        if "__stack_chk_fail" not in text:
            yield "has no stack protector"
        if not re.search(r"\b__\w+_chk@|\b__\w+_chk\b", text.replace("__stack_chk_fail", "")):
            yield "has none of the checked functions (_FORTIFY_SOURCE)"


def main(arguments):
    any_flags = "--any-flags" in arguments
    faults = count = 0
    for folder in arguments:
        for path in binaries(folder) if folder != "--any-flags" else []:
            text = read_elf(path)
            count += 1
            # Tests that stand for users' programs are compiled as users do.
            is_users = f"{os.sep}tests{os.sep}" in os.sep + os.path.relpath(path, folder)
            for fault in [*path_faults(text), *([] if any_flags or is_users else flag_faults(path, text))]:
                print(f"{path}: {fault}")
                faults += 1
    print(f"{count} programs and libraries, {faults} faults")
    return faults > 0 or count == 0


sys.exit(main(sys.argv[1:]))
