"""Multipart uploads to S3: those that callers drive themselves, and those behind large puts and copies."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from satchel.kernel.clock import system_clock
from satchel.kernel.errors import Unavailable
from satchel.stores.distributed.s3_errors import s3_errors
from satchel.stores.distributed.s3_parts import PART_BYTES, BufferedBody, StreamedBody
from satchel.stores.object_rules import Declared
from satchel.stores.ports.objects import MAX_PART_BYTES, ObjectMissing, Part, Stored


@dataclass(frozen=True, slots=True)
class Upload:
    """An open upload: the full name of the object in the bucket, and S3's id."""

    name: str
    id: str

    def __post_init__(self) -> None:
        # Without an id, some of these requests mean the object itself: aborting would delete it.
        if not self.id:
            raise ObjectMissing("This upload is not open.")


class S3Uploads:
    """The requests of multipart uploads. `described` is the content type and metadata as botocore names them."""

    def __init__(self, client: Any, bucket: str) -> None:
        self._client = client
        self._bucket = bucket

    async def begin(self, name: str, described: Mapping[str, Any]) -> Upload:
        with s3_errors(self._bucket):
            answer = await self._client.create_multipart_upload(Bucket=self._bucket, Key=name, **described)
        return Upload(name, answer["UploadId"])

    async def put_part(self, upload: Upload, number: int, body: AsyncIterable[bytes], length: int) -> Part:
        """Up to 8 MiB are checked before anything is sent; more is checked as it goes."""
        declared = Declared(length, largest=MAX_PART_BYTES)
        if length > PART_BYTES:
            streamed = StreamedBody(body, declared)
            try:
                return await self._send(upload, number, streamed, length)
            except Unavailable as error:
                raise streamed.error or error from error
        async with aclosing(declared.bounded(body)) as chunks:
            data = b"".join([chunk async for chunk in chunks])
        declared.check_size(len(data))
        return await self._send(upload, number, BufferedBody(data), length)

    async def parts(self, upload: Upload) -> Sequence[Part]:
        found: list[Part] = []
        marker = 0
        while True:
            with s3_errors(self._bucket):
                answer = await self._client.list_parts(**self._target(upload), PartNumberMarker=marker)
            for entry in answer.get("Parts", []):
                found.append(Part(entry["PartNumber"], entry["Size"], entry["ETag"].strip('"')))
            if not answer.get("IsTruncated"):
                return found
            marker = found[-1].number

    async def complete(self, upload: Upload, parts: Sequence[Part]) -> str:
        """Join the parts, which are in order, and answer the etag of the object."""
        named = [{"PartNumber": part.number, "ETag": f'"{part.etag}"'} for part in parts]
        with s3_errors(self._bucket):
            answer = await self._client.complete_multipart_upload(
                **self._target(upload), MultipartUpload={"Parts": named}
            )
        return answer["ETag"].strip('"')

    async def abort(self, upload: Upload) -> None:
        try:
            with s3_errors(self._bucket):
                await self._client.abort_multipart_upload(**self._target(upload))
        except ObjectMissing:
            return

    async def put_stream(
        self, name: str, described: Mapping[str, Any], parts: AsyncIterator[bytes], declared: Declared
    ) -> Stored:
        """Send one part while the next arrives, and complete only what was declared."""
        digest = hashlib.sha256()
        sent: list[Part] = []

        async def send(number: int, data: bytes) -> None:
            await asyncio.to_thread(digest.update, data)
            sent.append(await self._send(upload, number, BufferedBody(data), len(data)))

        async with self._aborted_on_error(name, described) as upload:
            sending: asyncio.Task[None] | None = None
            try:
                async for data in parts:
                    if sending is not None:
                        await sending
                    sending = asyncio.create_task(send(len(sent) + 1, data))
                if sending is not None:
                    await sending
            finally:
                if sending is not None:
                    sending.cancel()
                    await asyncio.gather(sending, return_exceptions=True)
            size_bytes = sum(part.size_bytes for part in sent)
            declared.check(size_bytes, digest.hexdigest())
            return Stored(size_bytes, digest.hexdigest(), await self.complete(upload, sent))

    async def copy(
        self, name: str, described: Mapping[str, Any], origin: Mapping[str, Any], size_bytes: int, part_bytes: int
    ) -> None:
        """Let S3 copy an object that is too large for one request."""
        copied: list[Part] = []
        async with self._aborted_on_error(name, described) as upload:
            for first in range(0, size_bytes, part_bytes):
                number, last = len(copied) + 1, min(first + part_bytes, size_bytes) - 1
                with s3_errors(self._bucket):
                    answer = await self._client.upload_part_copy(
                        **self._target(upload), **origin, PartNumber=number, CopySourceRange=f"bytes={first}-{last}"
                    )
                copied.append(Part(number, last - first + 1, answer["CopyPartResult"]["ETag"].strip('"')))
            await self.complete(upload, copied)

    async def clean(self, prefix: str, older_than: timedelta) -> int:
        newest = datetime.fromtimestamp(system_clock(), UTC) - older_than
        cleaned = 0
        with s3_errors(self._bucket):
            pages = self._client.get_paginator("list_multipart_uploads")
            async for page in pages.paginate(Bucket=self._bucket, Prefix=prefix):
                for entry in page.get("Uploads", []):
                    if entry["Initiated"] <= newest:
                        await self.abort(Upload(entry["Key"], entry["UploadId"]))
                        cleaned += 1
        return cleaned

    def _target(self, upload: Upload) -> dict[str, str]:
        return {"Bucket": self._bucket, "Key": upload.name, "UploadId": upload.id}

    async def _send(self, upload: Upload, number: int, body: BufferedBody | StreamedBody, length: int) -> Part:
        with s3_errors(self._bucket):
            answer = await self._client.upload_part(
                **self._target(upload), PartNumber=number, Body=body, ContentLength=length
            )
        return Part(number, length, answer["ETag"].strip('"'))

    @asynccontextmanager
    async def _aborted_on_error(self, name: str, described: Mapping[str, Any]) -> AsyncGenerator[Upload]:
        """An upload that ends with the block; what cannot be aborted now is left to `clean`."""
        upload = await self.begin(name, described)
        try:
            yield upload
        except BaseException:
            with suppress(Unavailable):
                await self.abort(upload)
            raise
