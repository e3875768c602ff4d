#!/usr/bin/env python3
"""Floors of the house: the table of CONTRIBUTING.md says what a folder of src may include, and nothing else is included.

Also: a type with linkage has one definition. Two of one name in one namespace compile, link, and end in the wrong
destructor (scripts/sanitizers has the linker look; this test reads, and needs no build). And a name in an anonymous
namespace is in one file of its folder alone, because scripts/demo compiles many files as one.

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


def private_names(text):
    """(name, the line that defines it) of what the file has for itself, at the left margin of an anonymous namespace."""
    stack = []
    for whole in text.splitlines():
        line = whole.split("  //")[0]
        opened = re.match(r"(?:inline )?namespace\s*([\w:]*)\s*\{$", line)
        if opened:
            stack.append(opened[1])
        elif whole.startswith("}  // namespace"):
            stack.pop()
        elif line.startswith("static ") or (stack and not stack[-1] and re.match(r"\w", line)):
            yield from ((name, line) for name in names_in(line))


def names_in(line):
    if re.match(r"(?:static |inline )?constexpr ", line):
        constants = re.findall(r"\b(k_\w+)(?= = |\[|\{|;)", re.sub(r" = [^,]*", " = ", line))
        if constants:
            return constants
    kind = re.match(r"(?:template <.*> )?(struct|class|enum class|enum|union|using) (\w+)", line)
    if kind:
        return [] if line.endswith(";") and kind[1] != "using" and "{" not in line else [kind[2]]
    line = re.sub(r"__attribute__\(\(.*?\)\) ", "", line)
    function_or_variable = re.match(r"[^=({]*?(?<!::)\b(\w+)(?:\(|\[|\{|;| = )", line)  # no member of a class
    return [function_or_variable[1]] if function_or_variable else []


def constants_of_headers(root):
    """Header by constant: files that are compiled as one would take one for the other."""
    return {
        name: path.relative_to(root)
        for path in sorted([*(root / "include").rglob("*.h"), *(root / "src").rglob("*.h")])
        for name in re.findall(r"^(?:inline )?constexpr [\w:<> ]+? (k_\w+)(?= = |\[|\{)", path.read_text(), re.MULTILINE)
    }


def private_faults(root):
    shared = constants_of_headers(root)
    folders = [folder for folder in sorted((root / "src").iterdir()) if folder.name != "shim"]  # not compiled as one
    for folder in [*folders, root / "coll_topo", root / "benchmarks/collectives", root / "benchmarks/fft3d"]:
        places, lines = collections.defaultdict(set), collections.defaultdict(set)
        for path in sorted([*folder.rglob("*.cpp"), *folder.rglob("*.c")]):
            for name, line in private_names(path.read_text()):
                places[name].add(str(path.relative_to(root)))
                lines[name].add(line)
        for name, files in sorted(places.items()):
            alias = len(lines[name]) == 1 and min(lines[name]).startswith("using ")  # may be said twice
            if len(files) > 1 and not alias:
                yield f"{name} is private to {' and to '.join(sorted(files))}; expected another name, or one definition in a header"
            if name in shared:
                yield f"{name} is private to {min(files)} and another one's in {shared[name]}; expected another name"


def main():
    root = pathlib.Path(sys.argv[1])
    allowed = floors((root / "CONTRIBUTING.md").read_text())
    faults = [*include_faults(root, allowed), *definition_faults(root), *private_faults(root)]
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
