"""documentation_test.py COLLTOPO PAGE [--files FOLDER] [--update]: every example of a page prints what the page says.

Examples are ```console blocks; a line that begins with "$ " is a command, the lines after it are its output. All run in
one new folder, in order. Lines that say how long something took or how much memory are not compared, nor is any output in
blocks ```console unchecked, whose commands must only know what they are asked. --update writes what the commands print
into the page. --files: what the folder has is in the new folder from the beginning.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

VOLATILE = re.compile(r"^(seconds|peak memory) ")


def steady(lines):
    return [line for line in lines if not VOLATILE.match(line)]


def run(command, colltopo, folder):
    environment = dict(os.environ, PATH=os.path.dirname(colltopo) + ":" + os.environ["PATH"])
    done = subprocess.run(command, shell=True, cwd=folder, env=environment, text=True, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
    return [line.rstrip() for line in done.stdout.splitlines()]


def main():
    colltopo, page = os.path.abspath(sys.argv[1]), sys.argv[2]
    update = "--update" in sys.argv
    lines = open(page, encoding="utf-8").read().splitlines()
    result, wrong, commands = [], 0, 0
    with tempfile.TemporaryDirectory() as folder:
        if "--files" in sys.argv:
            shutil.copytree(sys.argv[sys.argv.index("--files") + 1], folder, dirs_exist_ok=True)
        place = 0
        inside = compared = False
        while place < len(lines):
            line = lines[place]
            place += 1
            result.append(line)
            if line.startswith("```"):
                inside = line.startswith("```console")
                compared = line == "```console"
            if not inside or not line.startswith("$ "):
                continue
            stated = []
            while lines[place] != "```" and not lines[place].startswith("$ "):
                stated.append(lines[place])
                place += 1
            printed = run(line[2:], colltopo, folder)
            commands += 1
            result += printed
            same = steady(stated) == steady(printed) if compared else printed and "--help" not in printed[-1]
            if not update and not same:
                wrong += 1
                print(f"{page}:{place}: {line[2:]}\n  the page says:\n" + "\n".join(stated) +
                      "\n  the command prints:\n" + "\n".join(printed))
    if update:
        open(page, "w", encoding="utf-8").write("\n".join(result) + "\n")
    print(f"{commands} commands, {wrong} differ from the page")
    return 1 if wrong or commands == 0 else 0


sys.exit(main())
