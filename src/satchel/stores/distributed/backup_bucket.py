"""Backups in a bucket of S3, under a prefix, in the same shape as in a folder.

obstore has calls that wait, and backups are made by threads. It sends large files in parts.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import obstore
from botocore.session import Session
from obstore.exceptions import GenericError
from obstore.store import S3Store

from satchel.kernel.clock import Clock
from satchel.kernel.errors import Unavailable
from satchel.stores.distributed.bucket_lease import BucketLease
from satchel.stores.distributed.s3_errors import s3_errors
from satchel.stores.distributed.s3_objects import CREDENTIALS_KEPT
from satchel.stores.ports.objects import MAX_PARTS, ObjectMissing

if TYPE_CHECKING:
    from obstore import ObjectMeta
    from obstore.store import S3Config, S3Credential

_LAST_LINE_BYTES = 4096
_READ_BYTES = 1024 * 1024
_PART_BYTES = 8 * 1024 * 1024
_DELETED_AT_ONCE = 1000


class BackupBucket:
    """See `satchel.stores.ports.backup_place`. `scratch` is where files are made on this machine."""

    def __init__(
        self, bucket: str, prefix: str, *, region: str, endpoint: str | None, clock: Clock, scratch: Path | None
    ) -> None:
        self.name = f"s3://{bucket}/{prefix}" if prefix else f"s3://{bucket}"
        self._bucket = bucket
        self._prefix = f"{prefix}/" if prefix else ""
        self._scratch = scratch
        self._store = _store(bucket, region, endpoint)
        self._lease = BucketLease(self._store, bucket, f"{self._prefix}lock", self.name, clock)

    @contextmanager
    def writing(self) -> Generator[Path]:
        with self._drafts() as drafts, self._lease.held():
            yield drafts

    def has_file(self, sha256: str) -> bool:
        try:
            with self._errors():
                obstore.head(self._store, self._path(sha256))
        except ObjectMissing:
            return False
        return True

    def keep_file(self, draft: Path, sha256: str) -> None:
        self._put(self._path(sha256), draft)

    @contextmanager
    def file(self, sha256: str) -> Generator[Path]:
        with self._drafts() as drafts:
            path = drafts / sha256
            try:
                with self._errors(), path.open("xb") as file:
                    for chunk in obstore.get(self._store, self._path(sha256)).stream(min_chunk_size=_READ_BYTES):
                        file.write(chunk)
            except ObjectMissing as error:
                raise FileNotFoundError(sha256) from error
            yield path

    def files(self) -> Iterator[str]:
        return self._names(f"{self._prefix}files/")

    def forget_files(self, digests: Iterator[str]) -> None:
        while some := [self._path(sha256) for sha256 in islice(digests, _DELETED_AT_ONCE)]:
            self._forget(some)

    def lists(self) -> list[str]:
        return sorted(self._names(f"{self._prefix}backups/"))

    def keep_list(self, draft: Path, name: str) -> None:
        self._lease.check()
        self._put(self._list(name), draft)

    def list_lines(self, name: str) -> Iterator[bytes]:
        rest = b""
        with self._errors():
            for chunk in obstore.get(self._store, self._list(name)).stream(min_chunk_size=_READ_BYTES):
                *lines, rest = (rest + bytes(chunk)).split(b"\n")
                yield from lines
        if rest:
            yield rest

    def list_end(self, name: str) -> bytes:
        with self._errors():
            size = obstore.head(self._store, self._list(name))["size"]
            start = max(0, size - _LAST_LINE_BYTES)
            try:
                return bytes(obstore.get_range(self._store, self._list(name), start=start, end=size))
            except GenericError:  # some servers answer ranges in a way that obstore refuses
                end = b""
                for chunk in obstore.get(self._store, self._list(name)).stream(min_chunk_size=_READ_BYTES):
                    end = (end + bytes(chunk))[-_LAST_LINE_BYTES:]
                return end

    def forget_lists(self, names: list[str]) -> None:
        self._forget([self._list(name) for name in names])

    def _put(self, path: str, draft: Path) -> None:
        part_bytes = max(_PART_BYTES, -(-draft.stat().st_size // MAX_PARTS))
        with self._errors():
            obstore.put(self._store, path, draft, chunk_size=part_bytes, max_concurrency=4)

    def _forget(self, paths: list[str]) -> None:
        # Whoever has lost the lease does not know what others need.
        self._lease.check()
        with self._errors():
            obstore.delete(self._store, paths)

    def _names(self, prefix: str) -> Iterator[str]:
        with self._errors():
            pages: Iterator[Sequence[ObjectMeta]] = obstore.list(self._store, prefix, chunk_size=1000)  # pyright: ignore[reportUnknownMemberType] -- of arrow
            for page in pages:
                for found in page:
                    yield found["path"].rpartition("/")[2]

    @contextmanager
    def _drafts(self) -> Generator[Path]:
        with TemporaryDirectory(prefix="satchel-backup-", dir=self._scratch) as folder:
            yield Path(folder)

    @contextmanager
    def _errors(self) -> Generator[None]:
        with s3_errors(self._bucket):
            yield

    def _path(self, sha256: str) -> str:
        return f"{self._prefix}files/{sha256[:2]}/{sha256}"

    def _list(self, name: str) -> str:
        return f"{self._prefix}backups/{name}"


def _store(bucket: str, region: str, endpoint: str | None) -> S3Store:
    where: S3Config = {"bucket": bucket, "region": region}
    if endpoint is not None:
        where["endpoint"] = endpoint
    return S3Store(
        config=where,
        credential_provider=_credentials(),
        client_options={
            "allow_http": endpoint is not None and endpoint.startswith("http://"),
            "connect_timeout": "5s",
            "read_timeout": "60s",
            # It covers the whole answer, and a large file may take its time.
            "timeout": "7days",
        },
        retry_config={"max_retries": 5, "retry_timeout": timedelta(minutes=3)},
    )


def _credentials() -> Callable[[], "S3Credential"]:
    """From where the AWS tools look for them: the environment, files, or the machine's role."""
    session: Any = Session()
    found = session.get_credentials()
    if found is None:
        raise Unavailable("No keys to S3 were found. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.")

    def ask() -> "S3Credential":
        frozen = found.get_frozen_credentials()
        return {
            "access_key_id": frozen.access_key,
            "secret_access_key": frozen.secret_key,
            "token": frozen.token,
            "expires_at": datetime.now(UTC) + CREDENTIALS_KEPT,
        }

    return ask
