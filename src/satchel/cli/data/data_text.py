"""What `satchel data` prints."""

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Self

from satchel.cli.engine.terminal.numbers import shown_files
from satchel.cli.engine.terminal.output import paint, printable
from satchel.cli.engine.terminal.sizes import shown_bytes, shown_moment

if TYPE_CHECKING:
    from satchel.data_copy import CopyDone
    from satchel.stores.backups import Backup, TakenBackup, Verified

_SECONDS_BETWEEN = 0.2


class Progress:
    """A line that says how far it is, where somebody watches."""

    def __init__(self, verb: str, *, quiet: bool) -> None:
        self._verb = verb
        self._shown = not quiet and sys.stderr.isatty()
        self._said_at = 0.0
        self._files = self._bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown and self._said_at:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    def __call__(self, files: int, size_bytes: int) -> None:
        now = time.monotonic()
        if self._shown and now - self._said_at >= _SECONDS_BETWEEN:
            self._said_at = now
            line = f"{self._verb} {shown_files(files)}, {shown_bytes(size_bytes)}"
            print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)

    def more(self, files: int, size_bytes: int) -> None:
        """So much was done since the last call."""
        self._files += files
        self._bytes += size_bytes
        self(self._files, self._bytes)


def copied_lines(done: "CopyDone") -> Iterator[str]:
    mark = paint("✗", "bad") if done.different else paint("✓", "good")
    yield (
        f"{mark} {done.items} items and {done.keys} keys copied; {shown_files(done.objects)} there,"
        f" {shown_bytes(done.size_bytes)}"
    )
    for each in done.different:
        yield f"  {paint('✗', 'bad')} {printable(each)} differs"
    if done.different:
        yield "  Something changed meanwhile. Run it again; the last time after the servers have stopped."
    elif done.finished:
        yield "  The copy is finished. Start its servers with the same secret, and the old ones no more."
    else:
        yield "  The copy is equal. Stop the servers and run it once more with --finish."


def taken_lines(taken: "TakenBackup", folder: str) -> Iterator[str]:
    backup = taken.backup
    yield f"{paint('✓', 'good')} backup {backup.name}: {shown_files(backup.files)}, {shown_bytes(backup.size_bytes)}"
    yield f"  new in {printable(folder)}: {shown_files(taken.new_files)}, {shown_bytes(taken.new_bytes)}"
    if taken.pruned:
        yield f"  deleted older backups: {len(taken.pruned)}"
    yield from _damage_lines(taken.damages)
    if taken.damages:
        yield "  An older backup may have good ones: `satchel data verify --repair-from PLACE`."


def backup_lines(found: Sequence["Backup"]) -> Iterator[str]:
    for each in found:
        yield f"{each.name}  {shown_moment(each.made_at)}  {shown_files(each.files)}, {shown_bytes(each.size_bytes)}"


def restored_lines(backup: "Backup", data: Path) -> Iterator[str]:
    yield (
        f"{paint('✓', 'good')} restored {backup.name} into {printable(str(data))}:"
        f" {shown_files(backup.files)}, {shown_bytes(backup.size_bytes)}, each as it was copied"
    )
    yield f"  Start it with: satchel serve --data {printable(str(data))}"


def verified_lines(found: "Verified") -> Iterator[str]:
    good = found.files - len(found.damages) - found.unproved
    mark = paint("✗", "bad") if found.damages or found.missing else paint("✓", "good")
    yield f"{mark} {shown_files(good)} of {found.files} are as they were written, {shown_bytes(found.size_bytes)} read"
    if found.unproved:
        yield f"  {shown_files(found.unproved)} from before have no digest of their own; backups prove them"
    for path in found.repaired:
        yield f"  {paint('✓', 'good')} {path} was repaired"
    yield from _damage_lines([*found.damages, *found.missing])


def _damage_lines(damages: Sequence[object]) -> Iterator[str]:
    for damage in damages:
        yield f"  {paint('✗', 'bad')} {printable(str(damage))}"
