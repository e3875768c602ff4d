"""Messages in C and C++: texts in statements that throw, warn or say why not.

Not a parser: literals that stand next to each other are one text, and the words before it, back to the beginning of the
statement, tell whether it is a message. Texts of one word are names.
"""
import re

_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|R"(?P<d>[^(\s]*)\((?P<raw>.*?)\)(?P=d)"|"(?P<text>(?:[^"\\\n]|\\.)*)"|'(?:[^'\\\n]|\\.)+'|^\#[^\n]*""",
    re.S | re.M | re.X,
)
# What such a statement calls or fills. Statements without are tables, reports and help.
_SAYS = re.compile(
    r"\bthrow\b|Error\(|fail|fault|complain|violat|refus|unfit|warn|\bsay|opal_output|stderr|cerr|remark|wrong|defect|note\b|\bstuck\b|error_at|_at\(|"
    r"\blines\(|\bwords\(|source_\.|document_|set_error|last_error|problem|disagree|said"
)
# Texts that give a reason, wherever they stand.
_REASON = re.compile(r"; (?:expected|using|must|the |it |none|nothing|at most|not used|passing)|\bexpected\b|\bmust be\b|\bcannot be\b|\bis not known\b")
# Texts that say what is not as it should be; in folders whose texts are mostly such.
_STATES = re.compile(
    r"\b(?:is|are|has|have|not|no|none|cannot|needs?|made|only|hears|reaches|reach|carries|lists|different|sum|another)\b|out of range|out of memory|^built for"
)
_SUCH_FOLDERS = ("coll_topo/", "src/algorithms", "src/choice", "src/comm", "src/execution", "src/forest/tree_packing", "src/routing/routing",
    "src/schedule", "src/shell", "src/shim", "src/synthesis/methods", "src/team", "src/transport", "src/analysis/verify")  # fmt: skip
_ABOUT = ("src/comm/settings.cpp", "src/comm/counters.cpp")  # what parameters and counters are for
_ESCAPES = {"n": "\n", "t": "\t", '"': '"', "\\": "\\", "'": "'"}


def _texts(source):
    """(offset, end, text) of literals, those next to each other as one; and the source with comments and literals blanked."""
    blank, found = list(source), []
    for match in _TOKEN.finditer(source):
        for place in range(match.start(), match.end()):
            if blank[place] != "\n":
                blank[place] = " "
        if match["raw"] is not None or match["text"] is not None:
            text = match["raw"] if match["raw"] is not None else re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), match["text"])
            between = "".join(blank[found[-1][1] : match.start()]) if found else "x"
            if found and not re.sub(r"\bPRI\w+", "", between).strip(" \n\t\\"):
                found[-1] = (found[-1][0], match.end(), found[-1][2] + ("…" if "PRI" in between else "") + text)
            else:
                found.append((match.start(), match.end(), text))
    return found, "".join(blank)


def _statement(blank, offset):
    """What stands before the text in its statement; braces of initialisers belong to it."""
    begin = offset
    while begin > 0 and blank[begin - 1] != ";" and not (blank[begin - 1] in "{}" and blank[begin:offset].lstrip()[:1] not in ("", '"')):
        begin -= 1
        if offset - begin > 600:
            break
    return blank[begin:offset]


def normal(text):
    text = re.sub(r"\{\{|\}\}", lambda m: m[0][0], re.sub(r"(?<!\{)\{[^{}]*\}(?!\})", "…", text))
    text = re.sub(r"%(?:[-+ #0-9.*]*(?:hh|ll|[hlzjt])?[diouxXeEfgGcsp])", "…", text)
    return re.sub(r"\s+", " ", text).strip()


def messages(source, path=""):
    """(line, message)"""
    found, blank = _texts(source)
    states = path.startswith(_SUCH_FOLDERS) and not path.startswith(_ABOUT)
    for offset, _, text in found:
        words = normal(text)
        least = 1 if "expected" in words and "…" in words else 2
        if len(re.findall(r"[A-Za-z]{2,}", words)) < least or " " not in words:
            continue
        before = _statement(blank, offset)
        if "tatic_assert" in before:
            continue
        if _SAYS.search(before) or _REASON.search(words) or (states and _STATES.search(words)):
            yield source.count("\n", 0, offset) + 1, words
