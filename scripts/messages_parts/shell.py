"""Messages in shell scripts: what echo and printf write to standard error, and the arguments of functions called fail."""
import re

_SAYS = re.compile(r"""(?:echo|fail|printf) (?:'%s\\n' )?("(?:[^"\\]|\\.|\$\([^)]*\))*"|'[^']*'|[^"'|&;]*)""")


def normal(words):
    words = words.strip("\"'")
    words = re.sub(r"\$\([^)]*\)|\$\{[^}]*\}|\$[A-Za-z0-9_@*#]+", "…", words)
    words = re.sub(r"%[0-9]*[ds]", "…", words).replace("\\n", " ").replace('\\"', '"').replace("\\`", "`")
    return re.sub(r"\s+", " ", words).strip()


def messages(source, _path=""):
    joined = source.replace("\\\n", "  ")  # lines are counted before
    lines = joined.splitlines()
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("#"):
            continue
        for match in _SAYS.finditer(line):
            to_errors = ">&2" in line[match.start() :] or (number < len(lines) and re.match(r"\s*\} >&2|\s*exit [1-9]", lines[number]) and ">&2" in "".join(lines[number : number + 3]))
            if not to_errors and not match[0].startswith("fail"):
                continue
            words = normal(match[1])
            if len(re.findall(r"[A-Za-z]{2,}", words)) >= 2:
                yield number, words
