"""docs/troubleshooting.txt: parts, entries, causes and remedies."""
from dataclasses import dataclass, field


@dataclass
class Entry:
    part: str
    title: str
    line: int
    cause: str = ""
    remedy: str = ""
    messages: list = field(default_factory=list)  # (line, message)


def entries_in(path):
    """Entries, and what is wrong with the file: lines "path:line: what"."""
    entries, faults, part = [], [], ""
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file.read().splitlines(), 1):
            if line.startswith("# "):
                part = line[2:]
            elif line.startswith("## "):
                entries.append(Entry(part, line[3:], number))
            elif line.startswith(("cause: ", "remedy: ", "- ")) and entries:
                kind, _, text = line.partition(" ")
                if kind == "-":
                    entries[-1].messages.append((number, text))
                else:
                    setattr(entries[-1], kind[:-1], text)
            elif line and part:
                faults.append(f"{path}:{number}: not a part, an entry, a cause, a remedy or a message")
    known = {}
    for entry in entries:
        for name in ("cause", "remedy", "messages"):
            if not getattr(entry, name):
                faults.append(f"{path}:{entry.line}: '{entry.title}' has no {name}")
        for number, text in entry.messages:
            if text in known:
                faults.append(f"{path}:{number}: the message is on line {known[text]} already")
            known[text] = number
    return entries, faults
