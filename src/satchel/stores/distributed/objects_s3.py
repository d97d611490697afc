"""The store of bytes in a bucket of S3, or of anything that speaks its protocol.

Two clients share the work and one set of credentials. obstore puts, gets and heads whole objects: `s3_objects` says
what that gains and what it cannot do. aiobotocore does the rest: ranges, parts, copies, lists, deletions, signatures.
Neither adds checksums, on which some servers choke: what goes in was verified as it came, and TLS guards the way.
"""

import asyncio
import hashlib
import re
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, aclosing, asynccontextmanager, suppress
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from aiobotocore.config import AioConfig
from aiobotocore.session import AioSession

from satchel.kernel.errors import Unavailable
from satchel.stores.distributed.answer_time import time_of
from satchel.stores.distributed.s3_errors import failed_deletion, no_bucket, s3_errors
from satchel.stores.distributed.s3_links import S3Links, name_of
from satchel.stores.distributed.s3_objects import CHUNK_BYTES, WholeObjects, can_carry
from satchel.stores.distributed.s3_parts import BufferedBody, in_parts
from satchel.stores.distributed.s3_uploads import S3Uploads, Upload
from satchel.stores.object_rules import (
    Declared,
    attachment,
    check_content_type,
    check_listing,
    check_part_number,
    check_parts,
    check_small_objects,
    check_small_size,
    encode_metadata,
    resolve_range,
)
from satchel.stores.ports.objects import (
    DEFAULT_TYPE,
    MAX_LIST,
    Listed,
    ObjectInfo,
    ObjectMissing,
    Part,
    SmallObject,
    Stored,
)

# S3 copies up to 5 GiB in one request, but a request that takes minutes is cut off on the way.
COPY_BYTES = 1024 * 1024 * 1024
_DELETED_AT_ONCE = 1000
_MD5 = re.compile(r"[0-9a-f]{32}")
_SMALL_AT_ONCE = 32


class S3Objects:
    """See `satchel.stores.ports.objects`. Everything is kept under `prefix`, so that a bucket can be shared."""

    def __init__(
        self,
        bucket: str,
        prefix: str,
        copy_bytes: int,
        client: Any,
        whole: WholeObjects,
        links: S3Links,
        resources: AsyncExitStack,
        *,
        is_direct: bool,
    ) -> None:
        self._bucket = bucket
        self._prefix = prefix
        self._copy_bytes = copy_bytes
        self._client = client
        self._whole = whole
        self._uploads = S3Uploads(client, bucket)
        self._links = links
        # See `satchel.stores.ports.direct_links`.
        self.direct = links if is_direct else None
        self._resources = resources

    @classmethod
    async def open(
        cls,
        bucket: str,
        *,
        region: str,
        endpoint: str | None = None,
        public: str | None = None,
        is_direct: bool = True,
        prefix: str = "",
        copy_bytes: int = COPY_BYTES,
    ) -> "S3Objects":
        """Credentials come from where the AWS tools look for them: the environment, files, or the machine's role.

        Objects of more than `copy_bytes` are copied in parts of that size. `public` is the endpoint that signed links
        lead to, where clients reach the server at another address. If not `is_direct`, clients get none.
        """
        for address in (endpoint, public):
            if address is not None and not urlsplit(address).hostname:
                raise Unavailable(f"{address!r} is not the address of an S3 server. It looks like 'https://host:port'.")
        session: Any = AioSession()
        async with AsyncExitStack() as resources:
            with s3_errors(bucket):
                context = session.create_client(
                    "s3", region_name=region, endpoint_url=endpoint, config=_config(bucket, endpoint)
                )
                client = await resources.enter_async_context(context)
                credentials = await session.get_credentials()
                if credentials is None:
                    raise Unavailable("No keys to S3 were found. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.")
                try:
                    with s3_errors(bucket):
                        await client.head_bucket(Bucket=bucket)
                except ObjectMissing as error:
                    raise no_bucket(bucket) from error
            whole = WholeObjects(bucket, region=region, endpoint=endpoint, credentials=credentials)
            signing = client
            if public is not None and public != endpoint:
                signer = session.create_client(
                    "s3", region_name=region, endpoint_url=public, config=_config(bucket, public)
                )
                signing = await resources.enter_async_context(signer)
            links = await S3Links.open(signing, bucket, prefix)
            return cls(bucket, prefix, copy_bytes, client, whole, links, resources.pop_all(), is_direct=is_direct)

    async def put(
        self,
        key: str,
        body: AsyncIterable[bytes],
        *,
        length: int | None = None,
        sha256: str | None = None,
        content_type: str = DEFAULT_TYPE,
        metadata: Mapping[str, str] | None = None,
    ) -> Stored:
        name = self._name(key)
        described = _described(content_type, encode_metadata(metadata))
        declared = Declared(length, sha256)
        async with aclosing(in_parts(declared.bounded(body))) as parts:
            first = await anext(parts, b"")
            second = await anext(parts, None)
            if second is not None:
                return await self._uploads.put_stream(name, described, _chained(first, second, parts), declared)
        digest = (await asyncio.to_thread(hashlib.sha256, first)).hexdigest()
        declared.check(len(first), digest)
        return Stored(len(first), digest, await self._put_whole(name, first, described))

    async def put_many(self, objects: Sequence[SmallObject]) -> None:
        check_small_objects(objects)
        waiting = iter(objects)

        async def put_some() -> None:
            for each in waiting:
                described = _described(each.content_type, encode_metadata(each.metadata))
                await self._put_whole(self._name(each.key), each.data, described)

        done = await asyncio.gather(*(put_some() for _ in range(_SMALL_AT_ONCE)), return_exceptions=True)
        for failure in done:
            if failure is not None:
                raise failure

    @asynccontextmanager
    async def read(self, key: str, *, start: int = 0, length: int | None = None) -> AsyncGenerator["S3Reading"]:
        name = self._name(key)
        if start == 0 and length is None:
            info, chunks = await self._whole.get(name, key)
            async with aclosing(chunks):
                yield S3Reading(info, 0, info.size_bytes, chunks)
            return
        info = await self._whole.head(name, key)
        first, count = resolve_range(info.size_bytes, start, length)
        if count == 0:
            yield S3Reading(info, first, 0, _nothing())
            return
        wanted = {"Range": f"bytes={first}-{first + count - 1}", "IfMatch": f'"{info.etag}"'}
        with s3_errors(self._bucket):
            answer = await self._client.get_object(Bucket=self._bucket, Key=name, **wanted)
        async with answer["Body"] as content, aclosing(self._chunks(content)) as chunks:
            yield S3Reading(info, first, count, chunks)

    async def read_many(self, keys: Sequence[str]) -> list[bytes | None]:
        found: list[bytes | None] = [None] * len(keys)
        waiting = iter(enumerate(keys))

        async def read_some() -> None:
            for place, key in waiting:
                with suppress(ObjectMissing):
                    async with self.read(key) as reading:
                        check_small_size(reading.length)
                        found[place] = b"".join([piece async for piece in reading])

        done = await asyncio.gather(*(read_some() for _ in range(_SMALL_AT_ONCE)), return_exceptions=True)
        for failure in done:
            if failure is not None:
                raise failure
        return found

    async def head(self, key: str) -> ObjectInfo:
        return await self._whole.head(self._name(key), key)

    async def list(self, prefix: str = "", *, after: str = "", limit: int = MAX_LIST) -> Listed:
        check_listing(prefix, after, limit)
        found: list[ObjectInfo] = []
        where = {"StartAfter": self._prefix + after} if after else {}
        while True:
            with s3_errors(self._bucket):
                answer = await self._client.list_objects_v2(
                    Bucket=self._bucket, Prefix=self._prefix + prefix, MaxKeys=limit - len(found), **where
                )
            found += [self._listed(entry) for entry in answer.get("Contents", [])]
            if not answer["IsTruncated"]:
                return Listed(found, None)
            if len(found) == limit:
                return Listed(found, found[-1].key)
            where = {"ContinuationToken": answer["NextContinuationToken"]}

    async def delete(self, *keys: str) -> None:
        names = [{"Key": self._name(key)} for key in keys]
        for offset in range(0, len(names), _DELETED_AT_ONCE):
            batch = {"Objects": names[offset : offset + _DELETED_AT_ONCE], "Quiet": True}
            with s3_errors(self._bucket):
                answer = await self._client.delete_objects(Bucket=self._bucket, Delete=batch)
                for refused in answer.get("Errors", []):
                    raise failed_deletion(refused)

    async def copy(
        self,
        source: str,
        target: str,
        *,
        metadata: Mapping[str, str] | None = None,
        content_type: str | None = None,
        size_bytes: int | None = None,
    ) -> None:
        origin_name, name = self._name(source), self._name(target)
        origin: dict[str, Any] = {"CopySource": {"Bucket": self._bucket, "Key": origin_name}}
        encoded = encode_metadata(metadata)
        if metadata is None or content_type is None or size_bytes is None or size_bytes > self._copy_bytes:
            info = await self._whole.head(origin_name, source)
            origin["CopySourceIfMatch"] = f'"{info.etag}"'
            encoded = encode_metadata(info.metadata) if metadata is None else encoded
            content_type, size_bytes = content_type or info.content_type, info.size_bytes
        described = _described(content_type, encoded)
        if size_bytes > self._copy_bytes:
            await self._uploads.copy(name, described, origin, size_bytes, self._copy_bytes)
            return
        # Only with a description of its own can an object be copied onto itself.
        directive = {"MetadataDirective": "REPLACE"}
        with s3_errors(self._bucket):
            await self._client.copy_object(Bucket=self._bucket, Key=name, **origin, **described, **directive)

    async def begin(
        self, key: str, *, content_type: str = DEFAULT_TYPE, metadata: Mapping[str, str] | None = None
    ) -> str:
        described = _described(content_type, encode_metadata(metadata))
        return (await self._uploads.begin(self._name(key), described)).id

    async def put_part(
        self,
        key: str,
        upload: str,
        number: int,
        body: AsyncIterable[bytes],
        *,
        length: int,
        durable: bool = True,  # noqa: ARG002 -- S3 answers when it is
    ) -> Part:
        target = Upload(self._name(key), upload)
        return await self._uploads.put_part(target, check_part_number(number), body, length)

    async def flush_parts(self, key: str, upload: str, parts: Sequence[Part]) -> None:
        """See `put_part`."""

    async def parts(self, key: str, upload: str) -> Sequence[Part]:
        return await self._uploads.parts(Upload(self._name(key), upload))

    async def complete(
        self,
        key: str,
        upload: str,
        parts: Sequence[Part],
        *,
        sha256: str | None = None,  # noqa: ARG002 -- S3 has digests of its own
    ) -> ObjectInfo:
        target = Upload(self._name(key), upload)
        await self._uploads.complete(target, check_parts(parts, await self._uploads.parts(target)))
        return await self._whole.head(target.name, key)

    async def abort(self, key: str, upload: str) -> None:
        if upload:
            await self._uploads.abort(Upload(self._name(key), upload))

    async def sign_get(self, key: str, lifetime: timedelta, *, download_name: str | None = None) -> str:
        extra = {} if download_name is None else {"ResponseContentDisposition": attachment(download_name)}
        return await self._links.sign("get_object", key, lifetime, extra)

    async def sign_put(self, key: str, lifetime: timedelta, *, content_type: str = DEFAULT_TYPE) -> str:
        return await self._links.sign("put_object", key, lifetime, {"ContentType": check_content_type(content_type)})

    async def clean(self, older_than: timedelta) -> int:
        return await self._uploads.clean(self._prefix, older_than)

    async def time(self) -> float | None:
        with s3_errors(self._bucket):
            return time_of(await self._client.head_bucket(Bucket=self._bucket))

    async def md5(self, key: str) -> str | None:
        """See `satchel.stores.ports.whole_stores`. Etags of parts, and of what a key service encrypts, are none."""
        with s3_errors(self._bucket):
            found = await self._client.head_object(Bucket=self._bucket, Key=self._name(key))
        etag = found["ETag"].strip('"')
        is_plain = found.get("ServerSideEncryption", "AES256") == "AES256" and "SSECustomerAlgorithm" not in found
        return etag if is_plain and _MD5.fullmatch(etag) else None

    async def close(self) -> None:
        await self._resources.aclose()

    def _name(self, key: str) -> str:
        return name_of(self._prefix, key)

    def _listed(self, entry: Mapping[str, Any]) -> ObjectInfo:
        key = entry["Key"].removeprefix(self._prefix)
        return ObjectInfo(key, entry["Size"], entry["ETag"].strip('"'), entry["LastModified"])

    async def _put_whole(self, name: str, data: bytes, described: Mapping[str, Any]) -> str:
        if can_carry(described["Metadata"]):
            return await self._whole.put(name, data, described["ContentType"], described["Metadata"])
        with s3_errors(self._bucket):
            answer = await self._client.put_object(
                Bucket=self._bucket, Key=name, Body=BufferedBody(data), ContentLength=len(data), **described
            )
        return answer["ETag"].strip('"')

    async def _chunks(self, content: Any) -> AsyncGenerator[bytes]:
        with s3_errors(self._bucket):
            async for chunk in content.iter_chunks(CHUNK_BYTES):
                yield chunk


class S3Reading:
    """An answer of S3 that is read as it arrives."""

    file = None

    def __init__(self, info: ObjectInfo, start: int, length: int, chunks: AsyncIterator[bytes]) -> None:
        self.info = info
        self.start = start
        self.length = length
        self._chunks = chunks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        came = 0
        async for chunk in self._chunks:
            came += len(chunk)
            yield chunk
        if came != self.length:
            raise Unavailable("The connection to S3 broke before the end of the object. Read it again.")


def _config(bucket: str, endpoint: str | None) -> AioConfig:
    # With "auto", signed links would lead to the one host of all regions, which many regions refuse or redirect. A
    # name with a dot fits no certificate as a host.
    style = "virtual" if endpoint is None and "." not in bucket else "path"
    return AioConfig(
        signature_version="s3v4",
        s3={"addressing_style": style, "payload_signing_enabled": False},
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
        connect_timeout=5,
        read_timeout=60,
        max_pool_connections=50,
        retries={"mode": "standard", "total_max_attempts": 3},
        parameter_validation=False,  # what is sent has been checked by our own rules
    )


def _described(content_type: str, encoded: Mapping[str, str]) -> dict[str, Any]:
    return {"ContentType": check_content_type(content_type), "Metadata": dict(encoded)}


async def _chained(first: bytes, second: bytes, rest: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
    yield first
    yield second
    async for part in rest:
        yield part


async def _nothing() -> AsyncIterator[bytes]:
    return
    yield b""
