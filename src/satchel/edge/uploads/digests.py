"""A cache of running SHA-256 digests, so that an upload that stays on one server is not read again at its end."""

import hashlib
from collections import OrderedDict

from satchel.stores.ports.objects import Part

# Each takes a few hundred bytes, and some more per part. Dropping one costs a reading of the object at the end.
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
    """The digests by upload. A writer removes one, and puts it back after success: none is ahead of its upload."""

    def __init__(self) -> None:
        self._by_upload: OrderedDict[str, RunningDigest] = OrderedDict()

    def take(self, upload_id: str, offset_bytes: int) -> RunningDigest | None:
        """Remove and return the digest of exactly so many bytes, if it is here."""
        found = self._by_upload.pop(upload_id, None)
        if found is None and offset_bytes == 0:
            return RunningDigest()
        return found if found is not None and found.offset_bytes == offset_bytes else None

    def put_back(self, upload_id: str, digest: RunningDigest) -> None:
        self._by_upload[upload_id] = digest
        if len(self._by_upload) > REMEMBERED:
            self._by_upload.popitem(last=False)
