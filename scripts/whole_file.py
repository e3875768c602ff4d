"""Files that scripts write: whoever reads one, now or after a crash, finds the old file or the new one (src/base/replace_file.h)."""
import contextlib
import os
import secrets
import stat


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
