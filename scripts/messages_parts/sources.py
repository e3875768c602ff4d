"""Which files can print, and all that they can say."""
import os

from . import c, python, shell

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))
FOLDERS = ("coll_topo", "src", "scripts")
LEFT_OUT = ("coll_topo/fallback", "scripts/messages_parts")


def _reader(path):
    if path.endswith((".c", ".cpp", ".h", ".inc")):
        return c.messages
    if path.endswith(".py"):
        return python.messages
    if "." in os.path.basename(path):
        return None
    with open(path, encoding="utf-8", errors="replace") as file:
        first = file.readline()
    return python.messages if "python" in first else shell.messages if first.startswith("#!") else None


def all_messages(top=TOP):
    """[(file, line, message)], in the order of files and lines."""
    found = []
    for folder in FOLDERS:
        for at, folders, names in os.walk(os.path.join(top, folder)):
            folders.sort()
            for name in sorted(names):
                path = os.path.join(at, name)
                short = os.path.relpath(path, top)
                if short.startswith(LEFT_OUT) or "__pycache__" in short:
                    continue
                reader = _reader(path)
                if reader is None:
                    continue
                with open(path, encoding="utf-8") as file:
                    found += [(short, line, words) for line, words in sorted(reader(file.read(), short))]
    return found
