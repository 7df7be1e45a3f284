"""Where a ledger may lie: on a file system of this host, readable by its owner alone.

SQLite's write-ahead log needs memory that all writers share; across a network two hosts would each spend the whole
budget. Where /proc/mounts does not exist (macOS, Windows) the file system is not checked.
"""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from dpsql.errors import LedgerError

APPLICATION = 0x64707371  # "dpsq", in the file's header
MOUNTS = Path("/proc/mounts")

NETWORK = frozenset(
    {"9p", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "gfs2", "glusterfs", "gpfs", "lustre", "ncpfs"}
    | {"nfs", "nfs4", "ocfs2", "orangefs", "pvfs2", "smb3", "smbfs"}
)
NETWORK_FUSE = re.compile(r"fuse\.(sshfs|ceph|glusterfs|s3fs|gcsfuse|goofys|rclone|davfs2?|smbnetfs|moosefs|juicefs).*")


def file_system(path: Path, mounts: str) -> str | None:
    """The type of the file system a path lies on, given the text of /proc/mounts; None if that does not say."""
    best, kind = -1, None
    for line in mounts.splitlines():
        parts = line.split(" ")
        if len(parts) < 3:
            continue
        point = Path(_unescaped(parts[1]))
        # The last of several mounts on one point covers the earlier ones, hence >=.
        if path.is_relative_to(point) and len(point.parts) >= best:
            best, kind = len(point.parts), parts[2]
    return kind


def _unescaped(text: str) -> str:
    """Mount points are written with \\040 for a space, and so on."""
    return re.sub(r"\\([0-7]{3})", lambda match: chr(int(match[1], 8)), text)


def refuse_network(path: Path) -> None:
    try:
        mounts = MOUNTS.read_text(encoding="utf-8", errors="surrogateescape")
    except OSError:
        return
    kind = file_system(path, mounts)
    if kind is not None and (kind in NETWORK or NETWORK_FUSE.fullmatch(kind)):
        raise LedgerError(
            f"the ledger cannot be on a network file system ({kind}): {path}",
            code=422,
            why="Two hosts that write to one ledger could each spend the whole budget.",
            fix="Put it on a local disk, with `ledger:` in the metadata.",
        )


_SQLITE, _APPLICATION_AT = b"SQLite format 3\x00", 68


def is_ledger(path: Path) -> bool:
    """Whether a file begins as a ledger does: SQLite's header with our application id, or with a head file beside it (the
    id of a ledger that is written to may still be in its log)."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return False
        with path.open("rb") as file:
            header = file.read(_APPLICATION_AT + 4)
    except (OSError, ValueError):
        return False
    ours = header[_APPLICATION_AT:] == APPLICATION.to_bytes(4, "big")
    return header.startswith(_SQLITE) and (ours or head_path(path).exists())


def head_path(path: Path) -> Path:
    """Where a ledger's head is kept."""
    return path.with_name(path.name + ".head")


def create_private(path: Path) -> bool:
    """Create an empty file that only its owner can read; False if it was there. Its directory entry is durable."""
    try:
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    except FileExistsError:
        return False
    _sync_directory(path.parent)
    return True


def keep_private(path: Path) -> None:
    """Take every right from group and others; what the owner of the file may do stays."""
    mode = path.stat().st_mode
    if mode & 0o077:
        path.chmod(mode & 0o700)


def replace_private(path: Path, text: str) -> int:
    """Write a whole file so that a crash leaves the old text or the new one, durably. One writer at a time.

    Answers the new file, still open: whatever replaces it later, this is the one that was written here.
    """
    temporary = path.with_name(path.name + ".tmp")
    temporary.unlink(missing_ok=True)  # of a writer that was killed
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.write(descriptor, text.encode())
        os.fsync(descriptor)
        temporary.replace(path)
        _sync_directory(path.parent)
    except BaseException:  # whatever it is: nobody else could close it; raised again
        os.close(descriptor)
        raise
    return descriptor


def _sync_directory(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
