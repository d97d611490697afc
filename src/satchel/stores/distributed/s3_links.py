"""Links that S3 signs, so that clients send and fetch bytes without this process."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from satchel.kernel.errors import Invalid
from satchel.stores.distributed.s3_errors import s3_errors
from satchel.stores.distributed.s3_uploads import Upload
from satchel.stores.object_rules import check_content_type, check_key, check_lifetime, check_part_number
from satchel.stores.ports.objects import MAX_KEY_BYTES

_PROBE = "doctor/cors"
_SHORT = timedelta(minutes=1)
_PREFLIGHT = aiohttp.ClientTimeout(total=10)


class S3Links:
    """See `satchel.stores.ports.direct_links`. Signing is arithmetic: nothing is asked of S3 for it."""

    def __init__(self, client: Any, bucket: str, prefix: str) -> None:
        self._client = client
        self._bucket = bucket
        self._prefix = prefix
        self.origin = ""

    @classmethod
    async def open(cls, client: Any, bucket: str, prefix: str) -> "S3Links":
        """Whether the bucket is a part of the host or of the path is seen from a link."""
        links = cls(client, bucket, prefix)
        where = urlsplit(await links.sign("get_object", _PROBE, _SHORT, {}))
        links.origin = f"{where.scheme}://{where.netloc}"
        return links

    async def sign(self, method: str, key: str, lifetime: timedelta, extra: Mapping[str, Any]) -> str:
        named = {"Bucket": self._bucket, "Key": name_of(self._prefix, key), **extra}
        with s3_errors(self._bucket):
            return await self._client.generate_presigned_url(method, Params=named, ExpiresIn=check_lifetime(lifetime))

    async def to_part(self, key: str, upload: str, number: int, size_bytes: int, lifetime: timedelta) -> str:
        target = Upload(key, upload)
        part = {"UploadId": target.id, "PartNumber": check_part_number(number), "ContentLength": size_bytes}
        return await self.sign("upload_part", key, lifetime, part)

    async def to_read(self, key: str, lifetime: timedelta, *, disposition: str, content_type: str, cache: str) -> str:
        shown = {
            "ResponseContentDisposition": disposition,
            "ResponseContentType": check_content_type(content_type),
            "ResponseCacheControl": cache,
        }
        return await self.sign("get_object", key, lifetime, shown)

    async def lets_send(self, page_origin: str) -> bool:
        """Ask what a browser asks before it sends a part."""
        link = await self.to_part(_PROBE, "probe", 1, 1, _SHORT)
        headers = {"origin": page_origin, "access-control-request-method": "PUT"}
        try:
            async with (
                aiohttp.ClientSession(timeout=_PREFLIGHT) as session,
                session.options(link, headers=headers) as answer,
            ):
                allowed = answer.headers.get("access-control-allow-origin", "")
                methods = answer.headers.get("access-control-allow-methods", "")
                return answer.ok and allowed in ("*", page_origin) and "PUT" in methods.upper()
        except (aiohttp.ClientError, TimeoutError):
            return False


def name_of(prefix: str, key: str) -> str:
    """The full name of an object in the bucket."""
    name = prefix + check_key(key)
    if len(name.encode()) > MAX_KEY_BYTES:
        raise Invalid(f"With the prefix {prefix!r} this key is longer than {MAX_KEY_BYTES} bytes.")
    return name
