"""The last bytes of the disk: closed to strangers first, then to members, who can still delete and sign in."""

import os
from collections.abc import Callable
from pathlib import Path

from satchel.edge.http.callers import Caller, Member
from satchel.kernel.errors import OutOfSpace
from satchel.stores.disk_room import reserve_of

# Strangers and guests leave so many times as much as members.
_SHARE_OF_STRANGERS = 2
_READS = ("GET", "HEAD", "OPTIONS")


class DiskReserve:
    """Whether callers may still write to the disk that has this folder."""

    def __init__(self, folder: Path, room: Callable[[Path], tuple[int, int]] | None = None) -> None:
        """`room` answers how many bytes are free there, and how many there are."""
        self._folder = folder
        self._room = room or _room_of

    def check(self, caller: Caller) -> None:
        """Raise `OutOfSpace` if the bytes that are left are not for this caller."""
        free, total = self._room(self._folder)
        if free < reserve_of(total) * (1 if isinstance(caller, Member) else _SHARE_OF_STRANGERS):
            raise OutOfSpace(
                "The disk of this server is nearly full. What is there can be read and deleted. Ask its administrator "
                "to make room."
            )


def writes(method: str) -> bool:
    """Whether requests with this method may need more of the disk than there was."""
    return method not in (*_READS, "DELETE")


def _room_of(folder: Path) -> tuple[int, int]:
    disk = os.statvfs(folder)
    return disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize
