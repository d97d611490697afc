"""What S3 and the two clients of it can say, in the contract's words."""

import logging
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, cast

import aiohttp
import obstore.exceptions
from botocore.exceptions import BotoCoreError, ClientError

from satchel.kernel.errors import OutOfSpace, SatchelError, StoreRefused, TooLarge, Unavailable
from satchel.stores.ports.objects import ObjectMissing, RangeUnsatisfiable

_log = logging.getLogger("satchel.stores")
# FileNotFoundError is obstore's word for a missing object.
VENDOR_ERRORS = (BotoCoreError, ClientError, aiohttp.ClientError, obstore.exceptions.BaseError, FileNotFoundError)

_NOT_THERE = {"NoSuchKey", "NoSuchUpload", "NotFound", "404"}
_OUT_OF_RANGE = {"InvalidRange", "416"}
# What the rules of objects keep from being sent, and parts that are not as S3 has them.
_REFUSED = {"InvalidArgument", "KeyTooLongError", "MalformedXML", "MetadataTooLarge"} | {
    "EntityTooSmall",
    "InvalidPart",
    "InvalidPartOrder",
}
_NOT_ALLOWED = {
    "401",
    "403",
    "AccessDenied",
    "AllAccessDisabled",
    "ExpiredToken",
    "Forbidden",
    "InvalidAccessKeyId",
    "InvalidToken",
    "RequestTimeTooSkewed",
    "SignatureDoesNotMatch",
}
_FULL = {
    "507",
    "InsufficientStorage",
    "QuotaExceeded",
    "ServiceQuotaExceededException",
    "StorageFull",
    "XMinioAdminBucketQuotaExceeded",
    "XMinioStorageFull",
}
_CHANGED = {"PreconditionFailed", "412"}
_IN_OBSTORES_WORDS = re.compile(r"<Code>(\w+)</Code>|non-2xx status code: (\d+)")


@contextmanager
def s3_errors(bucket: str) -> Generator[None]:
    try:
        yield
    except VENDOR_ERRORS as error:
        raise translate(error, bucket) from error


def translate(error: Exception, bucket: str) -> SatchelError:
    codes = _codes(error)
    if "NoSuchBucket" in codes:
        return no_bucket(bucket)
    if codes & _NOT_THERE:
        return ObjectMissing("This object or open upload does not exist.")
    if codes & _OUT_OF_RANGE:
        return RangeUnsatisfiable("The range starts at or after the end of the object.")
    if codes & _FULL:
        return OutOfSpace(f"The bucket {bucket} is full. Free some space or raise its quota, then try again.")
    if codes & _NOT_ALLOWED:
        return Unavailable(
            f"S3 does not let Satchel use the bucket {bucket}. Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, "
            "what they allow, and this machine's clock."
        )
    if codes & _CHANGED:
        return Unavailable("The object was replaced at the same time. Try again.")
    if codes & _REFUSED:
        _log.warning("S3 refused what the rules of objects let pass: %s", error)
        return StoreRefused("The object store refused a request. The server's log has the details.")
    if "EntityTooLarge" in codes:
        return TooLarge("This is larger than the object store takes in one piece.")
    return Unavailable(f"The bucket {bucket} cannot be reached ({_name(error)}). Check the endpoint and try again.")


def failed_deletion(refused: Mapping[str, str]) -> ClientError:
    """One entry of what DeleteObjects could not do, in the form in which a failed request comes."""
    return ClientError({"Error": {"Code": refused.get("Code", "")}}, "DeleteObjects")


def no_bucket(bucket: str) -> Unavailable:
    return Unavailable(f"There is no bucket {bucket}. Create it, or name another.")


def _codes(error: Exception) -> set[str]:
    """S3's own words for what is wrong, and the HTTP status.

    botocore has them as data; obstore only inside its message, where the body of the answer stands as it came.
    """
    if isinstance(error, ClientError):
        answer = cast("dict[str, Any]", error.response)  # pyright: ignore[reportUnknownMemberType]
        return {str(answer["Error"].get("Code")), str(answer.get("ResponseMetadata", {}).get("HTTPStatusCode"))}
    if not isinstance(error, (obstore.exceptions.BaseError, FileNotFoundError)):
        return set()
    named = {word for pair in _IN_OBSTORES_WORDS.findall(str(error)) for word in pair if word}
    if isinstance(error, (obstore.exceptions.PermissionDeniedError, obstore.exceptions.UnauthenticatedError)):
        named.add("403")
    if isinstance(error, obstore.exceptions.PreconditionError):
        named.add("412")
    if isinstance(error, FileNotFoundError):
        named.add("404")
    return named


def _name(error: Exception) -> str:
    """A word for the log and the person who looks after the server; messages of clients are too long and too open."""
    return max(_codes(error) - {"None"}, default=type(error).__name__)
