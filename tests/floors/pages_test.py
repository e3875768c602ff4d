#!/usr/bin/env python3
"""Pages: every page of docs is in its index docs/README.md, every relative link of a page leads somewhere, with its heading.

  pages_test.py SOURCE_FOLDER
"""
import pathlib
import re
import shutil
import subprocess
import sys

LINK = re.compile(r"!?\[[^\]]*\]\(([^()\s]+)\)")


def text_of(page):
    """Without blocks of code, in which brackets are no links."""
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)


def anchors(page):
    """As hosts of sources make them of headings: the second of one name has -1."""
    found = {}
    for heading in re.findall(r"^#+ (.*)$", text_of(page), re.M):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        name = re.sub(r"[^\w -]", "", plain).replace(" ", "-")
        found[name] = found.get(name, -1) + 1
        yield name if found[name] == 0 else f"{name}-{found[name]}"


def dead_links(page):
    plain = re.sub(r"`[^`\n]*`", "", text_of(page))
    for link in LINK.findall(plain) + re.findall(r'<img src="([^"]*)"', plain):
        if re.match(r"[a-z]+:", link):
            continue
        path, _, heading = link.partition("#")
        target = (page.parent / path) if path else page
        if not target.exists():
            yield f"{link}: there is no such file"
        elif heading and heading not in set(anchors(target)):
            yield f"{link}: that page has no such heading"


def main(top):
    tracked = []
    if shutil.which("git"):
        tracked = subprocess.run(["git", "-C", str(top), "ls-files", "*.md"], capture_output=True, text=True, check=False).stdout.split()
    pages = [top / name for name in tracked] or [page for page in sorted(top.glob("**/*.md")) if "build" not in page.relative_to(top).parts]
    pages = [page for page in pages if page.exists()]
    faults = [f"{page.relative_to(top)}: {fault}" for page in pages for fault in dead_links(page)]
    index = (top / "docs" / "README.md").read_text(encoding="utf-8")
    listed = {link.partition("#")[0] for link in LINK.findall(index)}
    for page in sorted((top / "docs").glob("*.md")):
        if page.name not in listed | {"README.md"}:
            faults.append(f"docs/README.md: {page.name} is not in the index")
    print("\n".join(faults) or f"{len(pages)} pages, every link leads somewhere")
    return 1 if faults or len(pages) < 20 else 0


sys.exit(main(pathlib.Path(sys.argv[1]).resolve()))
