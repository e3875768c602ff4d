"""What scripts/messages does: compare, write, list."""
import os
import sys

from whole_file import replaced

from . import explanations, page, sources


def unexplained(found, entries):
    """Messages of the sources without an entry, once each, and messages of entries that no source has: lines."""
    explained = {text: (entry, number) for entry in entries for number, text in entry.messages}
    there = {}
    for file, line, text in found:
        there.setdefault(text, f"{file}:{line}")
    missing = [f"{place}: no entry explains\n- {text}" for text, place in there.items() if text not in explained]
    stale = [f"docs/troubleshooting.txt:{number}: nothing prints this any more\n- {text}" for text, (_, number) in explained.items() if text not in there]
    return missing + stale


def add(found, path, title, files):
    """Puts what is missing (of these files) below the entry, and takes out what nothing prints any more."""
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    if f"## {title}" not in lines:
        return f"{path}: there is no entry '{title}'; expected the words after ## of one"
    there = [text for _, _, text in found]
    lines = [line for line in lines if not line.startswith("- ") or line[2:] in there]
    known = {line[2:] for line in lines if line.startswith("- ")}
    new = [text for file, _, text in found if text not in known and (not files or file in files)]
    place = next(n for n in range(lines.index(f"## {title}"), len(lines)) if lines[n].startswith("remedy: ")) + 1
    lines[place:place] = [f"- {text}" for text in dict.fromkeys(new)]
    with replaced(path, encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    return ""


def main(arguments, top=sources.TOP):
    adding = arguments[:1] == ["--add"] and len(arguments) > 1
    if not adding and arguments not in ([], ["--write"], ["--list"]):
        print("usage: scripts/messages [--write|--list|--add TITLE [FILE...]]", file=sys.stderr)
        return 2
    found = sources.all_messages(top)
    if arguments == ["--list"]:
        for file, line, text in found:
            print(f"{file}:{line}: {text}")
        return 0
    explained = os.path.join(top, "docs", "troubleshooting.txt")
    if adding:
        fault = add(found, explained, arguments[1], arguments[2:])
        if fault:
            print(fault, file=sys.stderr)
            return 2
    entries, faults = explanations.entries_in(explained)
    faults += unexplained(found, entries)
    written, path = page.text_of(entries), os.path.join(top, "docs", "troubleshooting.md")
    if arguments:
        with replaced(path, encoding="utf-8") as file:
            file.write(written)
    else:
        with open(path, encoding="utf-8") as file:
            if file.read() != written:
                faults.append("docs/troubleshooting.md is not what docs/troubleshooting.txt makes; run scripts/messages --write")
    for fault in faults:
        print(fault)
    print(f"messages: {len({text for _, _, text in found})}, entries: {len(entries)}, faults: {len(faults)}")
    return 1 if faults else 0
