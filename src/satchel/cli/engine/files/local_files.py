"""Find the files behind the names that were typed, and say why anything is left out."""

import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

# The server takes no control characters, and reads a backslash as the end of a folder.
_UNSENDABLE = re.compile(r"[\x00-\x1f\x7f-\x9f\\]")


@dataclass(frozen=True, slots=True)
class Source:
    """A file or folder of this machine and its place on the shelf; a file is the same while size and time stay."""

    path: str
    place: str
    size_bytes: int
    modified_ns: int
    executable: bool = False
    is_folder: bool = False

    @property
    def version(self) -> str:
        return f"{self.size_bytes}-{self.modified_ns}"

    def as_it_is_now(self) -> "Source":
        found = Path(self.path).stat()
        return _source(self.path, self.place, found)


@dataclass(slots=True)
class Gathered:
    """Files to send, their folders, names that have to be changed, what is left out, and what could not be read."""

    sources: list[Source] = field(default_factory=list[Source])
    folders: list[Source] = field(default_factory=list[Source])
    # The folders that were named.
    tops: list[Source] = field(default_factory=list[Source])
    renamed: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    left_out: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    failed: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    skip_hidden: bool = False
    # The places that what is left out would have.
    unsent: set[str] = field(default_factory=set[str])

    @property
    def size_bytes(self) -> int:
        return sum(source.size_bytes for source in self.sources)


def gather(names: Sequence[str], folder: str, *, skip_hidden: bool = False) -> Gathered:
    """Everything that was named, folders with all that is in them. Links are followed only where they were named.

    What is hidden is left out without a word if `skip_hidden`, unless it was named.
    """
    found = Gathered(skip_hidden=skip_hidden)
    for name in dict.fromkeys(map(os.path.abspath, names)):
        place = "/".join(filter(None, [folder.strip("/"), _placed(found, name, Path(name).name)]))
        try:
            _add(found, name, place, Path(name).stat())
        except OSError as error:
            found.failed.append((name, _reason(error)))
    return found


def sendable(name: str) -> str:
    """A name as the server can take it: what is not UTF-8 becomes `�`, what cannot stand in a name `_`."""
    return _UNSENDABLE.sub("_", os.fsencode(name).decode(errors="replace"))


def utf8_name(name: str) -> str:
    """A name as it is. Of one that is not UTF-8, each wrong byte becomes `�` and its number."""
    return "".join(f"\ufffd{ord(letter) - 0xDC00:02x}" if "\udc80" <= letter <= "\udcff" else letter for letter in name)


def near(path: str) -> str:
    """A path as somebody who works here would write it."""
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative


def _add(found: Gathered, path: str, place: str, about: os.stat_result) -> None:
    if stat.S_ISDIR(about.st_mode):
        found.tops.append(Source(path, f"{place}/", 0, about.st_mtime_ns, is_folder=True))
        _add_folder(found, path, place)
    elif stat.S_ISREG(about.st_mode):
        found.sources.append(_source(path, place, about))
    else:
        found.left_out.append((path, _kind(about.st_mode)))
        found.unsent.add(place)


def _source(path: str, place: str, about: os.stat_result) -> Source:
    is_executable = bool(about.st_mode & stat.S_IXUSR)
    return Source(path, place, about.st_size, about.st_mtime_ns, executable=is_executable)


def _placed(found: Gathered, path: str, name: str) -> str:
    placed = utf8_name(name)
    if placed != name:
        found.renamed.append((path, placed))
    return placed


def _add_folder(found: Gathered, path: str, place: str) -> None:
    # No recursion: folders can be nested deeper than calls can.
    waiting = [(path, place)]
    while waiting:
        folder, there = waiting.pop()
        try:
            entries = _sorted_entries(folder)
            if found.skip_hidden:
                entries = [entry for entry in entries if not entry.name.startswith(".")]
            modified_ns = Path(folder).stat().st_mtime_ns
            found.folders.append(Source(folder, f"{there}/", 0, modified_ns, is_folder=True))
            for entry in entries:
                about = entry.stat(follow_symlinks=False)
                below = f"{there}/{_placed(found, entry.path, entry.name)}"
                if stat.S_ISDIR(about.st_mode):
                    waiting.append((entry.path, below))
                else:
                    _add(found, entry.path, below, about)
        except OSError as error:
            found.failed.append((folder, _reason(error)))


def _sorted_entries(folder: str) -> "list[os.DirEntry[str]]":
    with os.scandir(folder) as entries:
        return sorted(entries, key=lambda entry: entry.name)


def _kind(mode: int) -> str:
    if stat.S_ISLNK(mode):
        return "a symbolic link"
    return "neither a file nor a folder"


def _reason(error: OSError) -> str:
    return error.strerror or str(error)
