#!/usr/bin/env python3
"""Files that scripts write: whoever reads one, now or after a crash, finds the old file or the new one (src/base/replace_file.h).

    scripts/whole_file.py PATH COMMAND...     what COMMAND prints becomes the file, if it ends well
"""
import contextlib
import os
import re
import secrets
import stat
import subprocess
import sys
import time

_LEFT_BEHIND_S = 3600  # nobody writes to a draft of this age any more


def _remove_left_behind(folder, name):
    for found in os.listdir(folder):
        if re.fullmatch(rf"\.{re.escape(name)}\.[0-9a-z]{{12}}\.draft", found):
            with contextlib.suppress(OSError):
                about = os.lstat(os.path.join(folder, found))
                if stat.S_ISREG(about.st_mode) and about.st_uid == os.geteuid() and time.time() - about.st_mtime > _LEFT_BEHIND_S:
                    os.unlink(os.path.join(folder, found))


@contextlib.contextmanager
def replaced(path, **options):
    """`with replaced(path, encoding="utf-8") as file:` in place of open(path, "w", ...): the new file takes the old one's place, with
    its mode, when the block ends well. A symbolic link stays one; what is no regular file is written straight through."""
    path = os.path.realpath(path)
    old = os.stat(path).st_mode if os.path.exists(path) else None
    if old is not None and not stat.S_ISREG(old):
        with open(path, "w", **options) as file:
            yield file
        return
    folder, name = os.path.split(path)
    _remove_left_behind(folder, name)
    draft = os.path.join(folder, f".{name}.{secrets.token_hex(6)}.draft")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666 if old is None else 0o600)
    try:
        with open(descriptor, "w", **options) as file:
            if old is not None:
                os.fchmod(descriptor, stat.S_IMODE(old))
            yield file
            file.flush()
            os.fsync(descriptor)
        os.rename(draft, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(draft)
        raise
    opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with contextlib.suppress(OSError):  # some file systems have none for folders; the file is in place
            os.fsync(opened)
    finally:
        os.close(opened)


def written_by(command, path, **options):
    """What the command prints becomes the file at `path`. Options are those of subprocess.run."""
    with replaced(path) as file:
        subprocess.run(command, stdout=file, check=True, **options)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    try:
        written_by(sys.argv[2:], sys.argv[1])
    except subprocess.CalledProcessError as error:  # which has said why
        sys.exit(error.returncode if error.returncode > 0 else 1)
    except OSError as error:
        sys.exit(f"whole_file: {sys.argv[1]}: {error.strerror or error}; the old file is as it was")


if __name__ == "__main__":
    main()
