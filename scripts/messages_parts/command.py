"""What scripts/messages does: compare, write, list."""
import os
import sys

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


def main(arguments, top=sources.TOP):
    if arguments not in ([], ["--write"], ["--list"]):
        print("usage: scripts/messages [--write|--list]", file=sys.stderr)
        return 2
    found = sources.all_messages(top)
    if arguments == ["--list"]:
        for file, line, text in found:
            print(f"{file}:{line}: {text}")
        return 0
    entries, faults = explanations.entries_in(os.path.join(top, "docs", "troubleshooting.txt"))
    faults += unexplained(found, entries)
    written, path = page.text_of(entries), os.path.join(top, "docs", "troubleshooting.md")
    if arguments:
        with open(path, "w", encoding="utf-8") as file:
            file.write(written)
    else:
        with open(path, encoding="utf-8") as file:
            if file.read() != written:
                faults.append("docs/troubleshooting.md is not what docs/troubleshooting.txt makes; run scripts/messages --write")
    for fault in faults:
        print(fault)
    print(f"messages: {len({text for _, _, text in found})}, entries: {len(entries)}, faults: {len(faults)}")
    return 1 if faults else 0
