#!/usr/bin/env python3
"""whole_file_test.py SOURCE_FOLDER: what scripts write is there whole, or the old file is (scripts/whole_file.py)."""
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time

SOURCE = os.path.realpath(sys.argv[1])
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(SOURCE, "scripts"))
from whole_file import replaced  # noqa: E402

OLD = "what was here before\n"
WRITER = f"""
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, {os.path.join(SOURCE, 'scripts')!r})
from whole_file import replaced
while True:
    for letter in "abc":
        with replaced("out", encoding="ascii") as file:
            file.write(letter * 300000)
"""


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read()


def put(text):
    with replaced("out", encoding="ascii") as file:
        file.write(text)


def main():
    put("one")
    assert os.listdir() == ["out"] and read("out") == "one"
    os.chmod("out", 0o640)
    put(OLD)
    assert os.stat("out").st_mode & 0o777 == 0o640 and read("out") == OLD
    try:
        with replaced("out", encoding="ascii") as file:
            file.write("half")
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    assert os.listdir() == ["out"] and read("out") == OLD
    os.symlink("out", "link")
    with replaced("link", encoding="ascii") as file:
        file.write("through")
    assert os.path.islink("link") and read("out") == "through"
    os.unlink("link")
    with replaced("/dev/null", encoding="ascii") as file:
        file.write("gone")
    put(OLD)
    if os.fork() == 0:  # a full disk
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
        try:
            put("x" * 5000)
        except OSError:
            os._exit(0)
        os._exit(1)
    assert os.wait()[1] == 0 and read("out") == OLD and os.listdir() == ["out"]
    chance = random.Random(1)
    for _ in range(10):
        process = subprocess.Popen([sys.executable, "-c", WRITER])
        time.sleep(chance.uniform(0.03, 0.3))
        process.kill()
        process.wait()
        found = read("out")
        assert found == OLD or found == found[:1] * 300000, found[:50]


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    main()
    os.chdir("/")
