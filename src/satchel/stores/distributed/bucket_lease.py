"""A lease in a bucket: one process at a time, and nobody for ever after a crash.

Not every server that speaks S3 knows conditions of a put. So whoever has put the lease reads it again: of two at the
same moment, the later one has it.
"""

import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from secrets import token_hex
from typing import TYPE_CHECKING

import msgspec
import obstore
from obstore.exceptions import AlreadyExistsError

from satchel.kernel.clock import Clock, from_iso, iso
from satchel.kernel.errors import Conflict, SatchelError
from satchel.stores.distributed.s3_errors import s3_errors
from satchel.stores.ports.objects import ObjectMissing

if TYPE_CHECKING:
    from obstore.store import S3Store

_SECONDS = 300
_RENEWED_EVERY = 60


class _Held(msgspec.Struct, frozen=True):
    holder: str
    until: str


class BucketLease:
    """The object at `path` says who has `what` until when."""

    def __init__(self, store: "S3Store", bucket: str, path: str, what: str, clock: Clock) -> None:
        self._store = store
        self._bucket = bucket
        self._path = path
        self._what = what
        self._clock = clock
        self._me = token_hex(16)

    @contextmanager
    def held(self) -> Generator[None]:
        self._take()
        done = threading.Event()
        renewing = threading.Thread(target=self._renew, args=(done,), name="lease", daemon=True)
        renewing.start()
        try:
            yield
        finally:
            done.set()
            renewing.join()
            with suppress(SatchelError), s3_errors(self._bucket):
                self.check()
                obstore.delete(self._store, self._path)

    def check(self) -> None:
        """Raise `Conflict` if somebody else has it by now."""
        held = self._read()
        if held is None or held.holder != self._me:
            raise self._taken()

    def _take(self) -> None:
        held = self._read()
        if held is not None and from_iso(held.until) > self._clock():
            raise self._taken()
        mine = _Held(self._me, iso(self._clock() + _SECONDS))
        with s3_errors(self._bucket):
            try:
                mode = "create" if held is None else "overwrite"
                obstore.put(self._store, self._path, msgspec.json.encode(mine), mode=mode)
            except AlreadyExistsError as error:
                raise self._taken() from error
        self.check()

    def _renew(self, done: threading.Event) -> None:
        while not done.wait(_RENEWED_EVERY):
            # What cannot be renewed now may be in a minute. Whoever has lost it hears so before anything is published.
            with suppress(SatchelError), s3_errors(self._bucket):
                self.check()
                mine = _Held(self._me, iso(self._clock() + _SECONDS))
                obstore.put(self._store, self._path, msgspec.json.encode(mine))

    def _read(self) -> _Held | None:
        try:
            with s3_errors(self._bucket):
                found = obstore.get(self._store, self._path).bytes()
            return msgspec.json.decode(bytes(found), type=_Held)
        except (ObjectMissing, msgspec.DecodeError):
            return None

    def _taken(self) -> Conflict:
        return Conflict(
            f"Another backup into {self._what} is running. Try again when it is done, or {_SECONDS // 60} minutes"
            " after it was broken off."
        )
