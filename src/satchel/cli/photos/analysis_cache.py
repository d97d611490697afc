"""Remember what was read of local photos, so that an unchanged file is not read again."""

import hashlib
import os
import threading
from contextlib import suppress
from pathlib import Path

import msgspec


class Analysis(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a file is. `version` is its size and time, and those of its sidecars. `local_time` is empty if unknown."""

    path: str
    version: str
    kind: str
    sha256: str = ""
    local_time: str = ""
    guessed: bool = False


class AnalysisCache:
    """Analyses of the files below some folders, in a file of lines that only grows, until half of it is out of date."""

    def __init__(self, folder: Path, roots: list[str], *, is_used: bool = True) -> None:
        name = hashlib.blake2b("\0".join(sorted(roots)).encode(errors="surrogateescape"), digest_size=12).hexdigest()
        self._path = folder / f"{name}.jsonl"
        self._known: dict[str, Analysis] = {}
        self._writing = threading.Lock()
        self._lines = 0
        if is_used:
            self._load()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)

    def find(self, path: str, version: str) -> Analysis | None:
        known = self._known.get(_key(path))
        return known if known is not None and known.version == version else None

    def add(self, analysis: Analysis) -> None:
        kept = msgspec.structs.replace(analysis, path=_key(analysis.path))
        with self._writing:
            self._known[kept.path] = kept
            # One write per line: two commands that run at once do not mix theirs.
            os.write(self._file, msgspec.json.encode(kept) + b"\n")
            self._lines += 1

    def close(self) -> None:
        os.close(self._file)
        if self._lines > 2 * len(self._known) + 100:
            fresh = self._path.with_suffix(f".{os.getpid()}")
            fresh.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in self._known.values()))
            fresh.replace(self._path)

    def _load(self) -> None:
        with suppress(FileNotFoundError):
            for line in self._path.read_bytes().splitlines():
                with suppress(msgspec.DecodeError):  # the last line of a machine that lost power
                    known = msgspec.json.decode(line, type=Analysis)
                    self._known[known.path] = known
                    self._lines += 1


def _key(path: str) -> str:
    """JSON cannot say what is not UTF-8."""
    return os.fsencode(path).decode(errors="backslashreplace")
