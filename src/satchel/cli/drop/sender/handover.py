"""Serve one request: agree on where to begin, acknowledge, and send records until the receiver has all of them.

A broken stream is never resumed. The receiver makes a new request, with new keys, from the chunk that it needs next.
"""

import threading
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field

from satchel.cli.drop.crypto.sealed_records import Digest, Sealer
from satchel.cli.drop.crypto.session_keys import CHUNK, Description, Have, Request, Stream, Tampered, b64, from_b64
from satchel.cli.drop.sender.outflow import Outflow, Records, sealed_length
from satchel.cli.drop.sender.send_content import Content, Source
from satchel.cli.drop.session.drop_session import DropSession, Somebody
from satchel.cli.drop.stream_wait import Wait
from satchel.cli.engine.http.failures import Refused, Unreachable
from satchel.cli.engine.http.retry import Retry


class Chain:
    """The digests of all prefixes of one content, as far as it was read."""

    def __init__(self, key: bytes) -> None:
        self._empty = Digest(key)
        self._values = [self._empty.value]
        self._growing = threading.Lock()

    def note(self, digest: Digest) -> None:
        with self._growing:
            if digest.chunks == len(self._values):
                self._values.append(digest.value)

    def agreed(self, have: Have | None, content: Content) -> Digest:
        """The digest of what a receiver has already, or an empty one if that is another content."""
        if have is None or have.chunk != CHUNK:
            return self._empty.copy()
        if content.length is not None and have.chunks * CHUNK > content.length:
            return self._empty.copy()
        value = self._value_at(have.chunks, content)
        if value is None or value != from_b64(have.digest):
            return self._empty.copy()
        return self._empty.at(value, have.chunks)

    def _value_at(self, chunks: int, content: Content) -> bytes | None:
        known = min(chunks, len(self._values) - 1)
        digest = self._empty.at(self._values[known], known)
        content.seek(known * CHUNK)
        buffer = memoryview(bytearray(CHUNK))
        while digest.chunks < chunks:
            if content.read_into(buffer) < CHUNK:
                return None
            digest.add(buffer)
            self.note(digest)
        return digest.value


@dataclass(frozen=True, slots=True)
class Offer:
    """Something that is announced, as it was at that time."""

    file_id: str
    source: Source
    description: Description
    chain: Chain


@dataclass(slots=True)
class Handover:
    """One request for one offer, and how far its stream has come."""

    request: Request
    offer: Offer
    receiver: Somebody
    length: int | None = None
    stream: Stream | None = None
    digest: Digest | None = None
    is_broken: bool = False
    is_sent: bool = False
    # Whether something that is no receipt was said to be one. The receiver's own may still come.
    is_disputed: bool = False
    # For the source, and for the receiver, until their receipt comes.
    reading: Wait = field(default_factory=Wait)
    passing: Wait = field(default_factory=Wait)
    said: str = ""

    @property
    def request_id(self) -> str:
        return self.request.request_id

    @property
    def name(self) -> str:
        return self.offer.description.name

    @property
    def from_bytes(self) -> int:
        """How many bytes the receiver had before."""
        return self.stream.first * CHUNK if self.stream else 0

    def written_bytes(self, chunks: int) -> int:
        """How many bytes the receiver has, if it reports this many chunks."""
        written = chunks * CHUNK
        return written if self.length is None else min(written, self.length)

    @property
    def silence(self) -> str:
        """A sentence, if nothing has moved for five seconds."""
        if self.reading.is_silent:
            return f"Too little of {self.name} could be read in 5 s to send any of it. Waiting for more."
        if self.passing.is_silent:
            return (
                f"Nothing has been heard of {self.receiver.name} and {self.name} for 5 s. Their program, their disk or "
                "a connection may have stopped. Waiting for them."
            )
        return ""

    def is_refused(self, receipt: str) -> bool:
        """Whether the receiver says, in the place of a receipt, that what came was changed on its way."""
        return self.stream is not None and self.stream.is_refusal(from_b64(receipt) or b"")

    def confirm(self, receipt: str) -> bool:
        """Whether the receiver has proved to have everything, unchanged."""
        if self.stream is None or self.digest is None:
            return False
        try:
            self.stream.check_receipt(from_b64(receipt) or b"", self.digest.value)
        except Tampered:
            return False
        return True


class HandoverStreams:
    """The data plane of one sender, for several threads at once."""

    def __init__(self, session: DropSession, say: Callable[[str], None]) -> None:
        self._session = session
        self._outflow = Outflow(session)
        self._say = say

    def serve(self, handover: Handover, begun: Callable[[], None]) -> None:
        """Send until the server has taken everything. `begun` is called once the first chunk is agreed on.

        Raises `Changed` and `Stalled`, OSError if the source cannot be read, `Tampered` if the request is not a
        member's, and what the server refuses.
        """
        offer = handover.offer
        with closing(offer.source.begin()) as content:
            have = self._session.keys.open_request(handover.request)
            digest = handover.digest = offer.chain.agreed(have, content)
            length = handover.length = content.length
            stream = self._acknowledge(handover, digest.chunks)
            begun()
            content.seek(stream.first * CHUNK)
            records = Records(content, Sealer(stream, digest), offer.chain.note, handover.reading)
            total_bytes = sealed_length(length, stream.first)
            self._outflow.send(handover.request_id, records, total_bytes, handover.passing)
        handover.is_sent = True
        handover.passing.begin()

    def _acknowledge(self, handover: Handover, first: int) -> Stream:
        length = handover.length
        answer = self._session.keys.acknowledge(
            handover.request, length=length, chunk=CHUNK, first=first, announced=handover.offer.description.sum
        )
        handover.stream = answer.stream
        body = {
            "public_key": b64(answer.public_key),
            "sealed": b64(answer.sealed),
            "chunks": None if length is None else -(-length // CHUNK) - first,
            "bytes": sealed_length(length, first),
        }
        retry = Retry(threading.Event(), self._say)
        while True:
            try:
                self._session.call("POST", f"/requests/{handover.request_id}/acknowledge", type(None), body)
            except (Refused, Unreachable) as error:
                retry.wait_after(error)
            else:
                return answer.stream
