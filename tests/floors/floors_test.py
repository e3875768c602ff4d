#!/usr/bin/env python3
"""Floors of the house: the table of CONTRIBUTING.md says what a folder of src may include, and nothing else is included.

Also: a type with linkage has one definition. Two of one name in one namespace compile, link, and end in the wrong
destructor (scripts/sanitizers has the linker look; this test reads, and needs no build).

  floors_test.py SOURCE_FOLDER
"""
import collections
import pathlib
import re
import sys

ROW = re.compile(r"^\| `src/([\w/]+)`[^|]*\|[^|]*\| ([^|]*)\|$")


def floors(contributing):
    """folder -> the folders that its row lets it include, and theirs in turn."""
    allowed = {}
    for line in contributing.splitlines():
        row = ROW.match(line)
        if not row:
            continue
        folder, words = row.groups()
        if words.startswith("everything above"):
            names = list(allowed)
            words = words.removeprefix("everything above")
        else:
            names = []
        names += [name for name in re.findall(r"[a-z]+", words.split("(")[0]) if name not in ("no", "and", "only", "of")]
        allowed[folder] = names
    return allowed


def reachable(allowed, folder):
    seen, waiting = {folder}, [folder]
    while waiting:
        for name in allowed.get(waiting.pop(), []):
            if name not in seen:
                seen.add(name)
                waiting.append(name)
    return seen


def include_faults(root, allowed):
    for path in sorted((root / "src").rglob("*")):
        if path.suffix not in (".h", ".cpp", ".c") or not path.is_file():
            continue
        folder = path.relative_to(root / "src").parts[0]
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = re.match(r'\s*#\s*include "([\w]+)/[\w/]+\.h"', line)
            if not found or found[1] == "colltopo":
                continue
            place = f"{path.relative_to(root)}:{number}"
            if folder not in allowed:
                yield f"{place}: src/{folder} has no row in the table of CONTRIBUTING.md; expected one"
            elif found[1] not in reachable(allowed, folder):
                yield f"{place}: src/{folder} includes {found[1]}; CONTRIBUTING.md lets it include {', '.join(allowed[folder]) or 'nothing'}"


def types_in(text):
    """(namespace, name) of every type that is defined at namespace scope and not in an anonymous namespace."""
    stack = []
    for line in text.splitlines():
        opened = re.match(r"(?:inline )?namespace\s*([\w:]*)\s*\{", line)
        if opened:
            stack.append(opened[1] or "(anonymous)")
        elif re.match(r"\}\s*// namespace", line) and stack:
            stack.pop()
        defined = re.match(r"(?:template <.*> )?(?:struct|class|enum class)\s+(\w+)\b(?!::)[^;(]*(?:\{|:[^:])", line)
        if defined and "(anonymous)" not in stack:
            yield "::".join(stack), defined[1]


def definition_faults(root):
    defined = collections.defaultdict(set)
    for folder in ("src", "include"):
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".cpp"):
                for name in types_in(path.read_text()):
                    if name[0]:  # C's have no namespace, and each program its own
                        defined[name].add(str(path.relative_to(root)))
    for (namespace, name), places in sorted(defined.items()):
        if len(places) > 1:
            yield f"{namespace}::{name} is defined in {' and '.join(sorted(places))}; expected one definition of a name"


def main():
    root = pathlib.Path(sys.argv[1])
    allowed = floors((root / "CONTRIBUTING.md").read_text())
    faults = [*include_faults(root, allowed), *definition_faults(root)]
    faults += [
        f"CONTRIBUTING.md: no row for src/{folder.name}; expected one"
        for folder in sorted((root / "src").iterdir())
        if folder.is_dir() and folder.name not in allowed and any(folder.rglob("*.cpp"))
    ]
    for fault in faults:
        print(fault)
    if not allowed:
        faults.append("")
        print("CONTRIBUTING.md: no table of floors; expected one whose rows begin with `src/")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
