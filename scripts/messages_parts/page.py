"""docs/troubleshooting.md."""
import re

_TOP = """# Messages, and what to do

<!-- Made by scripts/messages --write from docs/troubleshooting.txt and the sources; changes here are lost. -->

Every warning and error that the component, the shim, the command and the scripts can print. Search this page for words of the
message that are no names or numbers; … stands for what is filled in. Lines of the component begin with `coll/topo:`, those of the
shim with `colltopo:`, those of scripts with their name.

First of all: `colltopo doctor` looks at Open MPI, the component, settings, files and limits, and names what is wrong;
`--mca coll_topo_verbose 1` says who serves which call and why.

Not here: options that are missing, unknown or given twice (the line says so, `--help` lists them), what Open MPI, UCX and the kernel
say of themselves, and how a test failed.

"""


def _anchor(title):
    return re.sub(r"[^a-z0-9 _-]", "", title.lower()).replace(" ", "-")


def _code(text):
    fence = "``" if "`" in text else "`"
    space = " " if "`" in text else ""
    return f"{fence}{space}{text}{space}{fence}"


def text_of(entries):
    parts = list(dict.fromkeys(entry.part for entry in entries))
    lines = [_TOP]
    for part in parts:
        lines.append(f"* [{part}](#{_anchor(part)}): " + ", ".join(f"[{e.title}](#{_anchor(e.title)})" for e in entries if e.part == part) + "\n")
    for part in parts:
        lines.append(f"\n## {part}\n")
        for entry in (entry for entry in entries if entry.part == part):
            lines.append(f"\n### {entry.title}\n\n{entry.cause}\n\n**What to do.** {entry.remedy}\n\n")
            lines += [f"- {_code(text)}\n" for _, text in sorted(entry.messages, key=lambda message: message[1])]
    return "".join(lines)
