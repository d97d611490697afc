"""Upload files by tus: many small ones in one request, a large one in pieces that can be resumed."""

import os
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Semaphore

import msgspec

from satchel.cli.engine.api_types.shelf_types import Kept, UploadState
from satchel.cli.engine.files.local_files import Source
from satchel.cli.engine.files.part_upload import PartSender
from satchel.cli.engine.files.upload_journal import Journal
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.http.failures import Refused, Unreachable
from satchel.cli.engine.http.retry import Retry, Stopped, is_transient
from satchel.cli.engine.terminal.output import CommandFailed
from satchel.kernel.file_time import file_time

# A file up to this size costs one request; were it cut off, nothing of it would be left.
SMALL_BYTES = 1024**2
# What a server that dies can cost, and large enough for the price of a request not to matter.
REQUEST_BYTES = 32 * 1024**2
# More of them would only make each slower.
LARGE_AT_ONCE = 4
# What a bundle may hold, as the server has it; its first line takes some room as well.
BUNDLE_FILES = 256
BUNDLE_BYTES = 3 * 1024**2
# One that the server works on, one on its way to the disk, one that is read here.
BUNDLES_AT_ONCE = 3
_READ_BYTES = 256 * 1024
_TUS = {"tus-resumable": "1.0.0"}
_BODY = {**_TUS, "content-type": "application/offset+octet-stream"}
_BUNDLE = "application/vnd.satchel.bundle"
_TRIES_OF_A_CHANGING_FILE = 3

# Told how many bytes of a file the server has, as far as we know.
Moved = Callable[[int], None]
# What the metadata of an upload say of one file, besides its name and place.
About = Callable[[Source], Mapping[str, str]]


class Changed(Exception):
    """The file is not the one any more that was begun to be sent."""


def say_nothing_more(_: Source) -> Mapping[str, str]:
    """For destinations that want to know the same of every file."""
    return {}


def bundled(sources: Iterable[Source], about: About = say_nothing_more) -> Iterator[Sequence[Source]]:
    """Small files in bundles, as they come, and each large one for itself."""
    bundle: list[Source] = []
    size_bytes = 0
    for source in sources:
        if source.size_bytes > SMALL_BYTES:
            yield [source]
            continue
        here_bytes = source.size_bytes + sum(len(value.encode()) for value in about(source).values())
        if len(bundle) == BUNDLE_FILES or size_bytes + here_bytes > BUNDLE_BYTES:
            yield bundle
            bundle, size_bytes = [], 0
        bundle.append(source)
        size_bytes += here_bytes
    if bundle:
        yield bundle


@dataclass(frozen=True, slots=True)
class Sender:
    """Sends files of one job; many threads use it at once."""

    client: Client
    journal: Journal
    is_stopped: Callable[[], bool]
    # What the metadata of every upload say: its `destination`, and what that one wants to know.
    destination: Mapping[str, str]
    about: About = say_nothing_more
    _large: Semaphore = field(default_factory=lambda: Semaphore(LARGE_AT_ONCE))
    _bundles: Semaphore = field(default_factory=lambda: Semaphore(BUNDLES_AT_ONCE))
    _no_bundles: Event = field(default_factory=Event)
    _parts: PartSender = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_parts", PartSender(self.client))

    def send_bundle(self, sources: Sequence[Source], retry: Retry) -> dict[Source, str]:
        """The ids of those files that the server has now; the others are to be sent alone, to learn why."""
        with self._bundles:
            if self.is_stopped():
                raise Stopped
            if self._no_bundles.is_set():
                return {}
            read = [(source, content) for source in sources if (content := _readable(source)) is not None]
            line = msgspec.json.encode(
                {
                    "destination": self.destination["destination"],
                    "files": [self._bundled(source) for source, _ in read],
                }
            )
            answer = self._post_bundle(b"".join([line, b"\n", *(content for _, content in read)]), retry)
        sent = {source: kept.became for (source, _), kept in zip(read, answer.files, strict=False) if kept.became}
        for source, file_id in sent.items():
            self.journal.note(source, "done", file_id)
        return sent

    def _post_bundle(self, content: bytes, retry: Retry) -> Kept:
        """An answer that is lost costs nothing: the server knows each file by its key."""
        while True:
            try:
                return self.client.post_bytes("/uploads/bundle", _BUNDLE, content, Kept)
            except (Refused, Unreachable) as error:
                if not is_transient(error):
                    # The destination takes none, or the server is older than this command.
                    self._no_bundles.set()
                    return Kept(files=[])
                retry.wait_after(error)

    def _bundled(self, source: Source) -> dict[str, object]:
        values = self._about(source)
        return {
            "size_bytes": source.size_bytes,
            "filename": values.pop("filename"),
            "filetype": values.pop("filetype", ""),
            "key": self.journal.key_of(source),
            "details": {name: value for name, value in values.items() if name != "destination"},
        }

    def send(self, source: Source, retry: Retry, moved: Moved) -> str:
        """The id of the upload once the server has the file; `CommandFailed` says why it could not be."""
        for _ in range(_TRIES_OF_A_CHANGING_FILE):
            try:
                upload_id = self._send_version(source, retry, moved)
            except Changed:
                source = source.as_it_is_now()
                continue
            self.journal.note(source, "done", upload_id)
            return upload_id
        raise CommandFailed("the file keeps changing while it is sent")

    def _send_version(self, source: Source, retry: Retry, moved: Moved) -> str:
        if source.size_bytes <= SMALL_BYTES:
            return self._send_from("", source, _whole(source), retry, moved)
        with self._large:
            if self.is_stopped():
                raise Stopped
            return self._send_from(self._begun_before(source), source, b"", retry, moved)

    def _send_from(self, upload_id: str, source: Source, first: bytes, retry: Retry, moved: Moved) -> str:
        """Go on with an upload, or begin one with its first bytes, until the server has all of it."""
        while True:
            try:
                if upload_id:
                    offset = self._standing(upload_id)
                else:
                    upload_id, offset = self._begin(source, first)
                moved(offset)
                offset = self._send_parts(source, upload_id, offset, retry, moved)
                while offset < source.size_bytes:
                    offset = self._send_piece(source, upload_id, offset, moved)
                    retry.progressed()
                return upload_id
            except Refused as refusal:
                if upload_id and refusal.status in (404, 410):  # it ended while nobody went on with it
                    upload_id = ""
                else:
                    retry.wait_after(refusal)
            except Unreachable as error:
                retry.wait_after(error)
            except Changed:
                self._give_up(upload_id)
                raise

    def _standing(self, upload_id: str) -> int:
        state = self.client.call("GET", f"/uploads/{upload_id}", UploadState)
        if state.offset_bytes == state.size_bytes and state.became is None:
            # All of it is there, and the server has not finished: it does when asked for the offset.
            self.client.send_bytes("HEAD", f"/uploads/{upload_id}", _TUS, bytes)
        return state.offset_bytes

    def _begun_before(self, source: Source) -> str:
        """The upload of this very file that was not finished; one of an earlier version of it is given up."""
        step = self.journal.recall(source)
        if step is None or step.state != "begun":
            return ""
        if step.version != source.version:
            self._give_up(step.upload_id)
            return ""
        return step.upload_id

    def _give_up(self, upload_id: str) -> None:
        with suppress(Refused, Unreachable):  # it will expire
            self.client.send_bytes("DELETE", f"/uploads/{upload_id}", _TUS, bytes)

    def _begin(self, source: Source, first: bytes) -> tuple[str, int]:
        """An answer that is lost costs nothing: asked again with the same key, the server tells how far it has come."""
        headers = {
            **(_BODY if first else _TUS),
            "upload-length": str(source.size_bytes),
            "upload-metadata": _encoded(self._about(source)),
            "idempotency-key": self.journal.key_of(source),
        }
        answered = self.client.send_bytes("POST", "/uploads", headers, lambda: first)
        upload_id, offset = answered["location"].rpartition("/")[2], int(answered["upload-offset"])
        if offset < source.size_bytes:
            self.journal.note(source, "begun", upload_id)
        return upload_id, offset

    def _about(self, source: Source) -> dict[str, str]:
        folder, _, name = source.place.rstrip("/").rpartition("/")
        about = {**self.destination, "modified": file_time(source.modified_ns), "filename": name}
        if source.executable:
            about["executable"] = "true"
        about |= self.about(source)
        if folder or source.is_folder:
            about["relativePath"] = source.place
        if filetype := _type_of(name):
            about["filetype"] = filetype
        return about

    def _send_parts(self, source: Source, upload_id: str, offset: int, retry: Retry, moved: Moved) -> int:
        def content(start: int, end: int) -> Iterator[bytes]:
            return self._read(source, start, end, moved)

        return self._parts.send(upload_id, offset, source.size_bytes, content, retry.progressed)

    def _send_piece(self, source: Source, upload_id: str, offset: int, moved: Moved) -> int:
        length = min(REQUEST_BYTES, source.size_bytes - offset)
        headers = {**_BODY, "upload-offset": str(offset), "content-length": str(length)}

        def content() -> Iterator[bytes]:
            return self._read(source, offset, offset + length, moved)

        return int(self.client.send_bytes("PATCH", f"/uploads/{upload_id}", headers, content)["upload-offset"])

    def _read(self, source: Source, start: int, end: int, moved: Moved) -> Iterator[bytes]:
        """Bytes of a file, as long as it is the one that was begun: a mixture of two versions never becomes whole."""
        with Path(source.path).open("rb", buffering=0) as file:
            file.seek(start)
            while start < end:
                if self.is_stopped():
                    raise Stopped
                chunk = file.read(min(_READ_BYTES, end - start))
                start += len(chunk)
                if not chunk or (start == end and _is_another(source, file.fileno())):
                    raise Changed
                yield chunk
                moved(start)


def _readable(source: Source) -> bytes | None:
    try:
        return _whole(source)
    except (Changed, OSError):
        return None


def _whole(source: Source) -> bytes:
    if source.is_folder:
        return b""
    with Path(source.path).open("rb", buffering=0) as file:
        content = file.read(SMALL_BYTES + 1)
        if len(content) != source.size_bytes or _is_another(source, file.fileno()):
            raise Changed
    return content


def _is_another(source: Source, descriptor: int) -> bool:
    now = os.fstat(descriptor)
    return (now.st_size, now.st_mtime_ns) != (source.size_bytes, source.modified_ns)


def _encoded(metadata: Mapping[str, str]) -> str:
    return ",".join(f"{key} {b64encode(value.encode()).decode()}" for key, value in metadata.items())


def _type_of(name: str) -> str | None:
    from mimetypes import guess_type

    filetype, encoding = guess_type(name, strict=False)
    return None if encoding else filetype
