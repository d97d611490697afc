"""Keys and messages that the members of a drop session share, and that the server must not be able to read.

    keys = Keys(Secret.new(), session_id)
    asked = keys.ask(file_id, receiver_id, owner_id, have=None)                      # the receiver
    answer = keys.acknowledge(asked.request, length=5, chunk=CHUNK, first=0)         # the owner: answer.stream
    stream = asked.accept(answer.public_key, answer.sealed)                          # the receiver: the same stream

The formats are those of docs/protocols/drop.md. Ids are 32 hexadecimal digits here, and 16 bytes in what is computed.
Randomness is a parameter (`draw`) only so that test vectors can be computed. Never pass it otherwise.
"""

import base64
import binascii
import hashlib
import hmac
import re
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal, Self, TypedDict, TypeVar

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from satchel.cli.engine.terminal.output import CommandFailed, Misused

SUITE = 2
CHUNK = 256 * 1024
MAX_CHUNK = 1024 * 1024

_SECRET_BYTES = 16
_NONCE_BYTES = 12
_PADDED_TO = 256
_ID = re.compile(r"[0-9a-f]{32}")

Draw = Callable[[int], bytes]
Text = TypeVar("Text")
Count = Annotated[int, msgspec.Meta(ge=0)]


class Tampered(CommandFailed):
    """A message is not what a member of the session sent."""


class UnknownSuite(CommandFailed):
    """The other side uses a version of the protocol that this program does not know."""


class Introduction(TypedDict):
    """The name and device of a member."""

    name: str
    device: str


class Description(msgspec.Struct, frozen=True):
    """What is offered. Of a folder, `size` and `files` count everything inside. The size of a pipe is not known."""

    kind: Literal["file", "folder", "text"]
    name: str
    size: Count | None
    files: Count
    modified: str | None
    type: str
    executable: bool | msgspec.UnsetType = msgspec.UNSET

    @property
    def sum(self) -> "Sum":
        return Sum(self.size, self.files)


class Have(msgspec.Struct, frozen=True):
    """How many whole chunks of which size a receiver has already, and their chain digest."""

    chunk: Annotated[int, msgspec.Meta(ge=1, le=MAX_CHUNK)]
    chunks: Annotated[int, msgspec.Meta(ge=1)]
    digest: str

    @classmethod
    def of(cls, chunk: int, chunks: int, digest: bytes) -> Self:
        return cls(chunk=chunk, chunks=chunks, digest=b64(digest))


class _Asking(msgspec.Struct, frozen=True):
    have: Have | None


class Sum(msgspec.Struct, frozen=True):
    """How many bytes in how many files. The bytes of a pipe are not known."""

    size: Count | None
    files: Count


class Answer(msgspec.Struct, frozen=True, omit_defaults=True):
    """The owner's acknowledgement: the length of the content, the size of a chunk, and the first chunk that is sent.

    `sum` is what the owner announces by now. An older program does not say it.
    """

    length: Count | None
    chunk: Annotated[int, msgspec.Meta(ge=1, le=MAX_CHUNK)]
    first: Count
    commit: str
    sum: Sum | None = None


@dataclass(frozen=True)
class Secret:
    """The secret of a session. Whoever has it can join."""

    value: bytes = field(repr=False)

    @classmethod
    def new(cls) -> Self:
        return cls(secrets.token_bytes(_SECRET_BYTES))

    @classmethod
    def of_fragment(cls, fragment: str) -> Self:
        """The secret from the fragment of a link, which is the part after its `#`."""
        return cls.of_packed(from_b64(fragment) or b"")

    @classmethod
    def of_packed(cls, packed: bytes) -> Self:
        if packed and packed[0] != SUITE:
            age = "a newer" if packed[0] > SUITE else "an older"
            raise UnknownSuite(
                f"The other side speaks {age} version of drop; update satchel at both ends and try again."
            )
        if len(packed) != 1 + _SECRET_BYTES:
            raise Misused("The secret is not whole; of a link, copy everything behind its # too.")
        return cls(packed[1:])

    @property
    def packed(self) -> bytes:
        """The secret after one byte, which is the version of the protocol."""
        return bytes([SUITE]) + self.value

    @property
    def fragment(self) -> str:
        return b64(self.packed)


@dataclass(frozen=True)
class Request:
    """A request as everybody in the session sees it. Nothing in it can be trusted before it is decrypted."""

    request_id: str
    file_id: str
    receiver_id: str
    owner_id: str
    public_key: bytes
    sealed: bytes

    def named(self) -> bytes:
        """The ids of file, request, receiver and owner, and the receiver's key, as bytes."""
        return id_bytes(self.file_id, self.request_id, self.receiver_id, self.owner_id) + self.public_key


@dataclass(frozen=True)
class Stream:
    """The parameters of one stream, which its two ends have agreed on and the server does not know."""

    key: bytes = field(repr=False)
    receipt_key: bytes = field(repr=False)
    chunk: int
    first: int
    length: int | None
    sum: Sum | None = None

    def receipt(self, digest: bytes) -> bytes:
        return hmac.digest(self.receipt_key, b"drop/1 received" + digest, "sha256")

    @property
    def refusal(self) -> bytes:
        """What the receiver sends instead of a receipt when something was changed on its way."""
        return hmac.digest(self.receipt_key, b"drop/1 refused", "sha256")

    def is_refusal(self, receipt: bytes) -> bool:
        return hmac.compare_digest(receipt, self.refusal)

    def check_receipt(self, receipt: bytes, digest: bytes) -> None:
        if not hmac.compare_digest(receipt, self.receipt(digest)):
            raise Tampered("The receipt is not the receiver's: what arrived is not known to be what was sent.")


@dataclass(frozen=True)
class Acknowledged:
    """The owner's acknowledgement, and the stream that follows it."""

    public_key: bytes
    sealed: bytes
    stream: Stream


class Keys:
    """Seals and opens the messages of members, with keys that are derived from the session's secret."""

    def __init__(self, secret: Secret, session_id: str, draw: Draw = secrets.token_bytes) -> None:
        self.session = id_bytes(session_id)
        self.admission = hkdf(secret.value, self.session, b"drop/1 admission", 32)
        self.meta = hkdf(secret.value, self.session, b"drop/1 meta", 32)
        self.auth = hkdf(secret.value, self.session, b"drop/1 auth", 32)
        self.psk = hkdf(secret.value, self.session, b"drop/1 psk", 32)
        self.draw = draw

    @property
    def admission_digest(self) -> bytes:
        """The hash of the admission. The server has no more of it until somebody presents the admission itself."""
        return hashlib.sha256(self.admission).digest()

    def digest_key(self, file_id: str) -> bytes:
        """The key of a file's digest. Another session, or another file in it, has another one."""
        return hkdf(self.psk, self.session, b"drop/1 digest" + id_bytes(file_id), 32)

    def introduce(self, member_id: str, introduction: Introduction) -> bytes:
        return seal(self.meta, self._member(member_id), introduction, self.draw)

    def open_introduction(self, member_id: str, sealed: bytes) -> Introduction:
        return unseal(self.meta, self._member(member_id), sealed, Introduction)

    def announce(self, file_id: str, owner_id: str, description: Description) -> bytes:
        return seal(self.meta, self._file(file_id, owner_id), description, self.draw)

    def open_announcement(self, file_id: str, owner_id: str, sealed: bytes) -> Description:
        return unseal(self.meta, self._file(file_id, owner_id), sealed, Description)

    def ask(self, file_id: str, receiver_id: str, owner_id: str, have: Have | None) -> "Asked":
        request_id = self.draw(16).hex()
        private_key = X25519PrivateKey.from_private_bytes(self.draw(32))
        unsealed = Request(request_id, file_id, receiver_id, owner_id, private_key.public_key().public_bytes_raw(), b"")
        sealed = seal(self.auth, self._request(unsealed), _Asking(have), self.draw)
        return Asked(self, private_key, have, replace(unsealed, sealed=sealed))

    def open_request(self, request: Request) -> Have | None:
        return unseal(self.auth, self._request(request), request.sealed, _Asking).have

    def acknowledge(
        self, request: Request, *, length: int | None, chunk: int, first: int, announced: Sum | None = None
    ) -> Acknowledged:
        """Acknowledge a request, after a check that a member of the session made it."""
        self.open_request(request)
        private_key = X25519PrivateKey.from_private_bytes(self.draw(32))
        public_key = private_key.public_key().public_bytes_raw()
        key, commit, receipt_key = self.stream_keys(request, public_key, _shared(private_key, request.public_key))
        answer = Answer(length=length, chunk=chunk, first=first, commit=b64(commit), sum=announced)
        sealed = seal(self.auth, self._acknowledgement(request, public_key), answer, self.draw)
        return Acknowledged(public_key, sealed, Stream(key, receipt_key, chunk, first, length, announced))

    def open_acknowledgement(self, request: Request, public_key: bytes, sealed: bytes) -> Answer:
        return unseal(self.auth, self._acknowledgement(request, public_key), sealed, Answer)

    def stream_keys(self, request: Request, owner_key: bytes, shared: bytes) -> tuple[bytes, bytes, bytes]:
        """The key of a stream, the commitment to it, and the key of its receipt."""
        request_digest = hashlib.sha256(request.sealed).digest()
        transcript = b"drop/1" + self.session + request.named() + owner_key + request_digest
        made = hkdf(shared, self.psk, b"drop/1 stream" + hashlib.sha256(transcript).digest(), 96)
        return made[:32], made[32:64], made[64:]

    def _member(self, member_id: str) -> bytes:
        return b"drop/1 member" + self.session + id_bytes(member_id)

    def _file(self, file_id: str, owner_id: str) -> bytes:
        return b"drop/1 file" + self.session + id_bytes(file_id, owner_id)

    def _request(self, request: Request) -> bytes:
        return b"drop/1 request" + self.session + request.named()

    def _acknowledgement(self, request: Request, owner_key: bytes) -> bytes:
        return b"drop/1 acknowledge" + self.session + request.named() + owner_key


class Asked:
    """A request that waits for its acknowledgement, with its private key."""

    def __init__(self, keys: Keys, private_key: X25519PrivateKey, have: Have | None, request: Request) -> None:
        self.request = request
        self._keys = keys
        self._private_key = private_key
        self._have = have

    @property
    def request_id(self) -> str:
        return self.request.request_id

    @property
    def public_key(self) -> bytes:
        return self.request.public_key

    @property
    def sealed(self) -> bytes:
        return self.request.sealed

    def accept(self, public_key: bytes, sealed: bytes) -> Stream:
        answer = self._keys.open_acknowledgement(self.request, public_key, sealed)
        shared = _shared(self._private_key, public_key)
        key, commit, receipt_key = self._keys.stream_keys(self.request, public_key, shared)
        if not hmac.compare_digest(commit, from_b64(answer.commit) or b"") or not self._fits(answer):
            raise Tampered("The answer to the request is not one that its owner could have given.")
        return Stream(key, receipt_key, answer.chunk, answer.first, answer.length, answer.sum)

    def _fits(self, answer: Answer) -> bool:
        """Whether the stream begins at the first chunk, or at the one that the receiver asked for."""
        if answer.first == 0:
            return True
        have = self._have
        is_where_we_are = have is not None and (answer.chunk, answer.first) == (have.chunk, have.chunks)
        return is_where_we_are and (answer.length is None or answer.first * answer.chunk <= answer.length)


def id_bytes(*ids: str) -> bytes:
    """The ids as bytes. An honest server sends no other form of id."""
    if not all(_ID.fullmatch(an_id) for an_id in ids):
        raise Tampered("The server names something by what is not an id.")
    return bytes.fromhex("".join(ids))


def hkdf(material: bytes, salt: bytes, info: bytes, length: int) -> bytes:
    return HKDF(algorithm=SHA256(), length=length, salt=salt, info=info).derive(material)


def seal(key: bytes, about: bytes, text: object, draw: Draw = secrets.token_bytes) -> bytes:
    """Encrypt the text as JSON, bound to `about` as associated data. It is padded, so that its length tells little."""
    plain = msgspec.json.encode(text)
    padded = plain.ljust(-(-len(plain) // _PADDED_TO) * _PADDED_TO)
    nonce = draw(_NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, padded, about)


def unseal(key: bytes, about: bytes, sealed: bytes, form: type[Text]) -> Text:
    try:
        plain = AESGCM(key).decrypt(sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:], about)
        return msgspec.json.decode(plain, type=form)
    except (InvalidTag, ValueError) as error:  # so are a text that is too short and one of another form
        raise Tampered("What the server passed on was not sealed by a member of this session.") from error


def b64(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def from_b64(text: str) -> bytes | None:
    """The bytes, or None if the text is not their canonical encoding."""
    try:
        data = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    return data if b64(data) == text else None


def _shared(private_key: X25519PrivateKey, public_key: bytes) -> bytes:
    try:
        return private_key.exchange(X25519PublicKey.from_public_bytes(public_key))
    except ValueError as error:  # not 32 bytes, or a point of low order, for which every result is zero
        raise Tampered("The other side's key is not one that an honest program makes.") from error
