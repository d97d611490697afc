"""How much of a disk is kept free, so that people can still delete, and sign in to do so, when the rest is taken."""

import errno
import os

RESERVED_BYTES = 64 * 1024 * 1024


def reserve_of(total_bytes: int) -> int:
    """Of a small disk it is a twentieth."""
    return min(RESERVED_BYTES, total_bytes // 20)


def leave_room(file: int, count: int) -> None:
    """Refuse bytes before the disk is completely full: deleting, and signing in to do so, need some space as well."""
    disk = os.fstatvfs(file)
    if disk.f_bavail * disk.f_frsize - count < reserve_of(disk.f_blocks * disk.f_frsize):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
