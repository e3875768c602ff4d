"""Messages in Python: what is raised as a fault, given to sys.exit, or printed on standard error."""
import ast
import re


def _words(node):
    """The text of a string expression with … for what is filled in; None for what is no text."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "…" for part in node.values)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        parts = [_words(node.left), _words(node.right)]
        return None if parts == [None, None] else "".join(part or "…" for part in parts)
    return None


def _is_message(call):
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name == "print":
        return any(word.arg == "file" and "stderr" in ast.dump(word.value) for word in call.keywords)
    return name in ("Fault", "exit", "fail", "error")


def messages(source, _path=""):
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call) or not _is_message(node):
            continue
        for argument in node.args:
            for text in [argument.body, argument.orelse] if isinstance(argument, ast.IfExp) else [argument]:
                words = re.sub(r"\s+", " ", _words(text) or "").strip()
                if len(re.findall(r"[A-Za-z]{2,}", words)) >= 2:
                    yield node.lineno, words
