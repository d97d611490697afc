"""Upload large files in parts by signed links, past the server: straight to the bucket, where it has one."""

from collections.abc import Callable, Iterator
from threading import Lock

from satchel.cli.engine.api_types.shelf_types import PartsView, SignedPart
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.http.failures import Unreachable

# After so many failures in a row, the bucket cannot be reached from here.
_FAILURES_BELIEVED = 3
# Smaller files are not worth the question whether the server signs links.
_LARGE_BYTES = 8 * 1024**2
_HEADER = "satchel-signed-parts"

# The bytes of a file from one offset to another.
Content = Callable[[int, int], Iterator[bytes]]


class PartSender:
    """Sends parts for all files of a job, as long as that works; many threads use it at once."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._lock = Lock()
        self._failures = 0
        # Only larger files go in parts; 0 if none do. None as long as the server has not been asked.
        self._smallest: int | None = None
        # What has been sent and could not be reported.
        self._unreported: dict[str, list[int]] = {}

    def send(
        self, upload_id: str, offset: int, size_bytes: int, content: Content, progressed: Callable[[], None]
    ) -> int:
        """How far the upload is afterwards; what is missing then is to be sent to the server."""
        while offset < size_bytes and self._takes(size_bytes) and self._failures < _FAILURES_BELIEVED:
            sent = self._unreported.get(upload_id, [])
            answer = self._client.call("POST", f"/uploads/{upload_id}/parts", PartsView, {"sent": sent})
            self._unreported.pop(upload_id, None)
            offset = answer.offset_bytes
            if not answer.parts:
                break
            for part in answer.parts:
                self._put(part, content)
                self._unreported.setdefault(upload_id, []).append(part.number)
                progressed()
        return offset

    def _takes(self, size_bytes: int) -> bool:
        if size_bytes <= _LARGE_BYTES:
            return False
        with self._lock:
            if self._smallest is None:
                described = self._client.send_bytes("OPTIONS", "/uploads", {}, bytes)
                self._smallest = int(described.get(_HEADER, "0"))
            return 0 < self._smallest < size_bytes

    def _put(self, part: SignedPart, content: Content) -> None:
        try:
            self._client.put_elsewhere(part.url, part.size_bytes, content(part.start, part.start + part.size_bytes))
        except Unreachable:
            with self._lock:
                self._failures += 1
            raise
        with self._lock:
            self._failures = 0
