"""Read and write the headers of tus 1.0. A refusal names the header that is wrong."""

import base64
import binascii
import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from email.utils import formatdate
from typing import TYPE_CHECKING

from satchel.edge.http.problems import WrongMediaType, bad_header
from satchel.edge.uploads.refusals import ChecksumMismatch, WrongProtocol
from satchel.stores.object_rules import known_content_type

if TYPE_CHECKING:
    from starlette.requests import Request

VERSION = "1.0.0"
EXTENSIONS = "creation,creation-with-upload,checksum,expiration,termination"
CHECKSUMS = ("sha1", "sha256", "md5")
BODY_TYPE = "application/offset+octet-stream"
MAX_METADATA_BYTES = 8 * 1024
_NUMBER = re.compile(r"[0-9]{1,18}")
_METADATA_KEY = re.compile(r"[!-+\--~]{1,255}")


@dataclass(frozen=True, slots=True)
class Metadata:
    """The metadata of an upload, as text."""

    destination: str
    name: str
    content_type: str
    details: dict[str, str]


@dataclass(frozen=True, slots=True)
class Checksum:
    """The checksum that the bytes of one request must have."""

    algorithm: str
    wanted: bytes

    def begin(self) -> "Check":
        return Check(self)


class Check:
    """A running checksum of the bytes of one request."""

    def __init__(self, checksum: Checksum) -> None:
        self._checksum = checksum
        self._digest = _hash(checksum.algorithm)

    def update(self, chunks: Sequence[bytes]) -> None:
        for chunk in chunks:
            self._digest.update(chunk)

    def verify(self) -> None:
        if self._digest.digest() != self._checksum.wanted:
            algorithm = self._checksum.algorithm
            raise ChecksumMismatch(f"The {algorithm} of the received bytes does not match. Send these bytes again.")


def check_version(request: "Request") -> None:
    if request.headers.get("tus-resumable") != VERSION:
        raise WrongProtocol(f"Send the header `Tus-Resumable: {VERSION}`.")


def check_body_type(request: "Request") -> None:
    if request.headers.get("content-type", "").lower() != BODY_TYPE:
        raise WrongMediaType(f"Send the bytes with the header `Content-Type: {BODY_TYPE}`.")


def whole_number(request: "Request", name: str) -> int:
    given = request.headers.getlist(name)
    if len(given) != 1 or not _NUMBER.fullmatch(given[0]):
        raise bad_header(name, "one whole number of bytes")
    return int(given[0])


def checksum(request: "Request") -> Checksum | None:
    value = request.headers.get("upload-checksum")
    if value is None:
        return None
    algorithm, _, encoded = value.partition(" ")
    if algorithm not in CHECKSUMS:
        raise bad_header("Upload-Checksum", f"one of {', '.join(CHECKSUMS)} and its digest", supported=CHECKSUMS)
    found = Checksum(algorithm, _decoded("Upload-Checksum", encoded))
    if len(found.wanted) != _hash(algorithm).digest_size:
        raise bad_header("Upload-Checksum", f"the whole {algorithm} digest as base64")
    return found


def metadata(request: "Request") -> Metadata:
    values = _pairs(request.headers.get("upload-metadata", ""))
    name = values.pop("filename", "")
    if has_zero_character(name):
        raise bad_header("Upload-Metadata", "without zero characters in the filename")
    return Metadata(
        destination=values.pop("destination", ""),
        name=name,
        # Browsers send an empty type for files that they do not know.
        content_type=known_content_type(values.pop("filetype", "")),
        details=values,
    )


def has_zero_character(name: str) -> bool:
    """Every other character can stand in the name of a file on some system."""
    return "\0" in name


def written(given: Metadata) -> str:
    """Metadata as a header again, for clients that ask for it."""
    values = {"destination": given.destination, "filename": given.name, "filetype": given.content_type, **given.details}
    return ",".join(f"{key} {base64.b64encode(value.encode()).decode('ascii')}" for key, value in values.items())


def http_date(moment: float) -> str:
    return formatdate(moment, usegmt=True)


def _pairs(header: str) -> dict[str, str]:
    if len(header) > MAX_METADATA_BYTES:
        raise bad_header("Upload-Metadata", f"at most {MAX_METADATA_BYTES} bytes long")
    found: dict[str, str] = {}
    for pair in header.split(",") if header.strip() else ():
        key, _, encoded = pair.strip().partition(" ")
        if not _METADATA_KEY.fullmatch(key) or key in found:
            raise bad_header("Upload-Metadata", "pairs of a name, given once, and a value in base64")
        try:
            found[key] = _decoded("Upload-Metadata", encoded.strip()).decode()
        except UnicodeDecodeError:
            raise bad_header("Upload-Metadata", "UTF-8 once decoded from base64", key=key) from None
    return found


def _decoded(name: str, encoded: str) -> bytes:
    try:
        return base64.b64decode(encoded.encode("latin-1"), validate=True)
    except binascii.Error:
        raise bad_header(name, "valid base64") from None


def _hash(algorithm: str) -> "hashlib._Hash":
    return hashlib.new(algorithm, usedforsecurity=False)
