"""What both object stores accept and refuse, decided once: names, descriptions, ranges, declared lengths and parts."""

import re
from collections.abc import AsyncGenerator, AsyncIterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import quote, unquote

from satchel.kernel.errors import Invalid, TooLarge
from satchel.stores.ports.direct_links import DirectLinks, OffersDirectLinks
from satchel.stores.ports.objects import (
    DEFAULT_TYPE,
    MAX_KEY_BYTES,
    MAX_LIST,
    MAX_METADATA_BYTES,
    MAX_PARTS,
    MAX_PUT_BYTES,
    MAX_SMALL_BYTES,
    MIN_PART_BYTES,
    Corrupted,
    Part,
    RangeUnsatisfiable,
    SmallObject,
)

MAX_LIFETIME = timedelta(days=7)
MAX_TYPE_CHARACTERS = 255

_NAMED_BY_DIGEST = re.compile(r".*/([0-9a-f]{64})\.[0-9a-z]+")
# U+FFFE and U+FFFF are no control characters, but the XML of S3's answers cannot carry them either.
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ufffe\uffff]")
_METADATA_NAME = re.compile(r"[a-z0-9-]+")
_TOKEN = r"[A-Za-z0-9!#$&^_.+-]+"  # noqa: S105 -- a word of RFC 9110, not a secret
_CONTENT_TYPE = re.compile(rf"{_TOKEN}/{_TOKEN}( ?;[ -~]*[!-~])?")
_HEX_SHA256 = re.compile(r"[0-9a-fA-F]{64}")


def utf8(text: str, what: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise Invalid(f"{what} holds half a character; it cannot be written as UTF-8.") from error


def check_key(key: str) -> str:
    """See *named* in the contract."""
    if not 1 <= len(utf8(key, "The key")) <= MAX_KEY_BYTES:
        raise Invalid(f"A key has 1 to {MAX_KEY_BYTES} bytes.")
    if _CONTROL.search(key):
        raise Invalid("A key has no control characters.")
    if any(segment in ("", ".", "..") for segment in key.split("/")):
        raise Invalid("No part of a key between slashes may be empty, '.' or '..'.")
    return key


def check_listing(prefix: str, after: str, limit: int) -> None:
    for text, what in ((prefix, "The prefix"), (after, "The key to go on after")):
        if len(utf8(text, what)) > MAX_KEY_BYTES:
            raise Invalid(f"{what} has at most {MAX_KEY_BYTES} bytes.")
    if not 1 <= limit <= MAX_LIST:
        raise Invalid(f"A listing has room for 1 to {MAX_LIST} objects.")


def check_content_type(content_type: str) -> str:
    if len(content_type) > MAX_TYPE_CHARACTERS or not _CONTENT_TYPE.fullmatch(content_type):
        raise Invalid("A content type looks like 'image/png' or 'text/plain; charset=utf-8'.")
    return content_type


def known_content_type(content_type: str) -> str:
    """The content type if it is valid, else the one for unknown bytes."""
    try:
        return check_content_type(content_type)
    except Invalid:
        return DEFAULT_TYPE


def encode_metadata(metadata: Mapping[str, str] | None) -> dict[str, str]:
    """Metadata as headers can carry it: ASCII, and no spaces, which proxies and signatures trim.

    The limit is on this form, so that what one store accepts the other does too.
    """
    encoded: dict[str, str] = {}
    for name, value in (metadata or {}).items():
        if not _METADATA_NAME.fullmatch(name):
            raise Invalid("A metadata name is made of a-z, 0-9 and '-'.")
        encoded[name] = quote(utf8(value, f"The metadata {name}"), safe="/:@,+")
    if sum(len(name) + len(value) for name, value in encoded.items()) > MAX_METADATA_BYTES:
        raise Invalid(f"Metadata has at most {MAX_METADATA_BYTES} bytes, names included, once percent-encoded.")
    return encoded


def decode_metadata(encoded: Mapping[str, str]) -> dict[str, str]:
    """The inverse of `encode_metadata`. Names are in lower case, because some servers capitalise them."""
    return {name.lower(): unquote(value) for name, value in encoded.items()}


def check_small_objects(objects: Sequence[SmallObject]) -> None:
    """Check all of them before the first is stored."""
    for each in objects:
        check_key(each.key)
        check_content_type(each.content_type)
        encode_metadata(each.metadata)
        check_small_size(len(each.data))
    if len({each.key for each in objects}) != len(objects):
        raise Invalid("Objects that are stored together have different keys.")


def check_small_size(size_bytes: int) -> None:
    """Check one of many that go or come together."""
    if size_bytes > MAX_SMALL_BYTES:
        raise TooLarge(f"An object among others may have at most {MAX_SMALL_BYTES} bytes.")


def check_lifetime(lifetime: timedelta) -> int:
    """The whole seconds that a signed link lives."""
    if not timedelta(seconds=1) <= lifetime <= MAX_LIFETIME:
        raise Invalid("A signed link lives for one second to 7 days.")
    return int(lifetime.total_seconds())


def attachment(download_name: str) -> str:
    """The Content-Disposition that makes browsers save under this name (RFC 6266), in ASCII whatever the name."""
    if not download_name:
        raise Invalid("A download name is not empty.")
    # A file may be called by nothing but control characters, and is downloaded all the same.
    encoded = quote(utf8(_CONTROL.sub("", download_name), "The download name"), safe="") or "download"
    fallback = re.sub(r'[^ -~]|["\\%/]', "_", download_name)
    return f"attachment; filename=\"{fallback}\"; filename*=UTF-8''{encoded}"


def resolve_range(size_bytes: int, start: int, length: int | None) -> tuple[int, int]:
    """Where the bytes asked for begin and how many there are."""
    check_range(length)
    first = max(size_bytes + start, 0) if start < 0 else start
    if first >= size_bytes and first > 0:
        raise RangeUnsatisfiable(f"The object has {size_bytes} bytes; nothing starts at {first}.")
    rest = size_bytes - first
    return first, rest if length is None else min(length, rest)


def check_range(length: int | None) -> None:
    if length is not None and length < 0:
        raise Invalid("A length is not negative.")


@dataclass(frozen=True, slots=True)
class Declared:
    """What a sender says its bytes will be."""

    length: int | None = None
    sha256: str | None = None
    largest: int = MAX_PUT_BYTES

    def __post_init__(self) -> None:
        check_range(self.length)
        self._check_largest(self.length or 0)
        if self.sha256 is not None and not _HEX_SHA256.fullmatch(self.sha256):
            raise Invalid("A SHA-256 is written as 64 hexadecimal digits.")

    async def bounded(self, body: AsyncIterable[bytes]) -> AsyncGenerator[bytes]:
        """The body as it arrives. Raises at the first byte too many."""
        size_bytes = 0
        async for chunk in body:
            size_bytes += len(chunk)
            self._check_largest(size_bytes)
            if self.length is not None and size_bytes > self.length:
                raise Corrupted(f"{self.length} bytes were declared, but more arrived.")
            if chunk:
                yield chunk

    def _check_largest(self, size_bytes: int) -> None:
        if size_bytes > self.largest:
            raise TooLarge(f"At most {self.largest} bytes are stored in one piece. Upload more in parts.")

    def check_size(self, size_bytes: int) -> None:
        if self.length is not None and size_bytes != self.length:
            raise Corrupted(f"{self.length} bytes were declared, but {size_bytes} arrived.")

    def check(self, size_bytes: int, sha256: str) -> None:
        self.check_size(size_bytes)
        if self.sha256 is not None and sha256 != self.sha256.lower():
            raise Corrupted("The bytes that arrived do not have the declared SHA-256.")


def check_part_number(number: int) -> int:
    if not 1 <= number <= MAX_PARTS:
        raise Invalid(f"Parts are numbered from 1 to {MAX_PARTS}.")
    return number


def check_parts(given: Sequence[Part], stored: Sequence[Part]) -> list[Part]:
    """The given parts in the order in which they are joined, or `Invalid` saying which of them cannot be."""
    by_number = {part.number: part for part in stored}
    ordered = sorted(given, key=lambda part: part.number)
    if not ordered:
        raise Invalid("An upload is completed from at least one part.")
    if len({part.number for part in ordered}) < len(ordered):
        raise Invalid("A part is named twice.")
    for part in ordered:
        if by_number.get(part.number) != part:
            raise Invalid(f"Part {part.number} is not stored as given. List the parts, then send it again.")
    for part in ordered[:-1]:
        if part.size_bytes < MIN_PART_BYTES:
            raise Invalid(f"Part {part.number} is not the last and has less than {MIN_PART_BYTES} bytes.")
    return ordered


def is_digest(etag: str) -> bool:
    """Whether it could be the SHA-256 of all bytes."""
    return _HEX_SHA256.fullmatch(etag) is not None


def digest_in(key: str) -> str | None:
    """The SHA-256 of an object's bytes, if its key names it: `…/<sha256>.<id>`."""
    named = _NAMED_BY_DIGEST.fullmatch(key)
    return None if named is None else named[1]


def direct_links(objects: object) -> DirectLinks | None:
    """The links by which clients reach the store themselves, if it offers any."""
    return objects.direct if isinstance(objects, OffersDirectLinks) else None
