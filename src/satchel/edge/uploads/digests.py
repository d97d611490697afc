"""The SHA-256 of uploads that are still arriving, so that what stays on one server is not read again at the end."""

import hashlib
from collections import OrderedDict

from satchel.stores.ports.objects import Part

# Each is a few hundred bytes, and some more for every part; one that is dropped costs a reading at the end.
REMEMBERED = 1000


class RunningDigest:
    """The digest of an upload's first bytes, and the parts that are known to hold exactly these."""

    def __init__(self) -> None:
        self._sha256 = hashlib.sha256()
        self.offset_bytes = 0
        self.parts: list[Part] = []

    def update(self, chunks: list[bytes]) -> None:
        for chunk in chunks:
            self._sha256.update(chunk)
            self.offset_bytes += len(chunk)

    def hexdigest(self) -> str:
        return self._sha256.hexdigest()


class Digests:
    """Taken out while somebody writes and put back when that went well, so that none is ever ahead of its upload."""

    def __init__(self) -> None:
        self._by_upload: OrderedDict[str, RunningDigest] = OrderedDict()

    def take(self, upload_id: str, offset_bytes: int) -> RunningDigest | None:
        """The digest of exactly so many bytes, if it is known here."""
        found = self._by_upload.pop(upload_id, None)
        if found is None and offset_bytes == 0:
            return RunningDigest()
        return found if found is not None and found.offset_bytes == offset_bytes else None

    def put_back(self, upload_id: str, digest: RunningDigest) -> None:
        self._by_upload[upload_id] = digest
        if len(self._by_upload) > REMEMBERED:
            self._by_upload.popitem(last=False)
