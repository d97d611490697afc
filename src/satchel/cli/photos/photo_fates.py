"""What became of each file, as a line or a JSON object, and the counts at the end."""

import json
import os
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from satchel.cli.engine.files.local_files import near
from satchel.cli.engine.terminal.output import paint, printable
from satchel.cli.engine.terminal.progress import Bars, Lines, Silence
from satchel.cli.engine.terminal.sizes import shown_bytes

Fate = Literal[
    "stored",
    "known",
    "new",
    "twice",
    "binned",
    "sidecar",
    "not-a-photo",
    "left-out",
    "refused",
    "changed",
    "unreadable",
    "verified",
    "missing",
    "damaged",
]
_WORDS: dict[str, str] = {
    "stored": "stored",
    "known": "known already",
    "new": "would be stored",
    "twice": "twice here",
    "binned": "in the bin",
    "sidecar": "read as sidecars",
    "not-a-photo": "not a photo",
    "left-out": "left out",
    "refused": "refused",
    "changed": "changed while being read",
    "unreadable": "unreadable",
    "verified": "verified",
    "missing": "not stored",
    "damaged": "damaged on the server",
}
TROUBLES = ("refused", "changed", "unreadable", "missing", "damaged")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileFate:
    """One file and what became of it. `why` is for people, the rest for both."""

    path: str
    fate: Fate
    size_bytes: int = 0
    sha256: str = ""
    media_id: str | None = None
    album_id: str | None = None
    album: str = ""
    why: str = ""
    more: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass(slots=True)
class FateReport:
    """Tells each fate as it comes, and counts."""

    as_json: bool
    quiet: bool
    # Not again and again while folders are watched.
    tells_known: bool = True
    # In a terminal, thousands of lines about what went well would hide the others.
    sums_up_albums: bool = False
    counts: Counter[str] = field(default_factory=Counter[str])
    size_bytes: Counter[str] = field(default_factory=Counter[str])
    albums: Counter[str] = field(default_factory=Counter[str])

    def tell(self, told: FileFate) -> None:
        self.counts[told.fate] += 1
        self.size_bytes[told.fate] += told.size_bytes
        if told.fate == "stored":
            self.albums[told.album] += 1
        if not self.tells_known and told.fate not in (*TROUBLES, "stored"):
            return
        if self.as_json:
            self._print_object(told)
            return
        name, fate = printable(near(told.path)), told.fate.replace("-", " ")
        where = f" in {printable(told.album)}" if told.album else ""
        why = f": {told.why}" if told.why else ""
        if told.fate in TROUBLES:
            complaint = paint(fate, "bad", sys.stderr)
            print(f"{complaint} {name}{printable(why)}", file=sys.stderr)
        elif not self.quiet and told.fate != "sidecar" and not self._is_summed_up(told):
            print(f"{fate} {name}{where}{printable(why)}")

    def _is_summed_up(self, told: FileFate) -> bool:
        return self.sums_up_albums and told.fate in ("stored", "known")

    def _print_object(self, told: FileFate) -> None:
        # JSON cannot say what is not UTF-8.
        said: dict[str, Any] = {"result": told.fate, "path": os.fsencode(near(told.path)).decode(errors="replace")}
        if told.sha256:
            said |= {"size_bytes": told.size_bytes, "sha256": told.sha256}
        if told.media_id:
            said |= {"id": told.media_id, "album_id": told.album_id, "album": told.album}
        if told.why:
            said["why"] = told.why
        print(json.dumps({**said, **told.more}))
        sys.stdout.flush()

    @property
    def troubles(self) -> int:
        return sum(self.counts[fate] for fate in TROUBLES)

    def sum_up(self) -> str:
        """How many went into each album, if the files themselves were not told; and all counts in one sentence."""
        albums = sorted(self.albums.items()) if self.sums_up_albums else []
        return "\n".join([*(f"{count:,} stored in {printable(name)}" for name, count in albums), self._counted()])

    def _counted(self) -> str:
        parts = [
            f"{self.counts[fate]:,} {word}{self._size(fate)}" for fate, word in _WORDS.items() if self.counts[fate]
        ]
        return f"{', '.join(parts)}." if parts else "There is no photo here."

    def _size(self, fate: str) -> str:
        return f" ({shown_bytes(self.size_bytes[fate])})" if fate in ("stored", "new") else ""


class _Collects(Lines):
    """Collects what went wrong instead of telling it; the report tells it once everything is known."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.failures: dict[str, str] = {}

    def failed(self, name: str, why: str) -> None:
        self.failures[name] = why

    def end(self, files: int, size_bytes: int, seconds: float, before: int) -> None:
        pass


class CollectedBars(_Collects, Bars):
    """With bars, in a terminal."""

    def failed(self, name: str, why: str) -> None:
        self.failures[name] = why
        self._end_bar(name)


class CollectedSilence(_Collects, Silence):
    """Without."""


def step_view(files: int, size_bytes: int, *, silent: bool) -> CollectedBars | CollectedSilence:
    """Shows one step of the work while it lasts."""
    if silent or not files or not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        return CollectedSilence("")
    return CollectedBars("", files, size_bytes)


def batches(things: Sequence[Any], most: int) -> list[Sequence[Any]]:
    return [things[start : start + most] for start in range(0, len(things), most)]
