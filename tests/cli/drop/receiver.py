"""A receiver who takes every step of the protocol by hand, so that a test can stop, lie or ask for odd things."""

import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from satchel.cli.drop.crypto.codes import read_invitation
from satchel.cli.drop.crypto.sealed_records import Digest, Opener
from satchel.cli.drop.crypto.session_keys import Asked, Have, Secret, Stream, b64, from_b64
from satchel.cli.drop.session.drop_session import Announced, DropSession, find_session
from satchel.cli.drop.session.session_join import join, secret_for_code
from satchel.cli.drop.session.stream_connection import StreamConnection
from satchel.cli.drop.stream_wait import Wait
from satchel.cli.engine.api_types.drop_types import AcknowledgementView, SessionView
from satchel.cli.engine.api_types.event_types import Declined, FilesAnnounced, Requested
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.http.credentials import CredentialsFile

T = TypeVar("T")

# A response without a length waits until the room it is given is full.
_READ_BYTES = 64 * 1024
_PATIENCE_SECONDS = 60.0


class Receiver:
    """A member of the session. Use it in a `with` block."""

    def __init__(self, client: Client, link: str, name: str) -> None:
        self.client = client
        self.session: DropSession = join(client, read_invitation(link), name)
        self._events = self.session.live(lambda _: None)
        self.hears(SessionView)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._events.close()
        self.client.__exit__(kind, error, trace)

    @property
    def files(self) -> dict[str, Announced]:
        """By their names."""
        return {file.description.name: file for file in self.session.state.files.values()}

    def hears(self, kind: type[T] | tuple[type[T], ...], so_that: Callable[[T], bool] = lambda _: True) -> T:
        """The next thing of this kind; fails if it does not come."""
        until = time.monotonic() + _PATIENCE_SECONDS
        for told in self._events:
            if isinstance(told, kind) and so_that(told):
                return told
            assert time.monotonic() < until, (kind, told, self.session.state.requests)
        raise AssertionError("what happens never ends")

    def hears_that_the_server_is_back(self) -> None:
        self.hears(SessionView)

    def hears_of_size(self, name: str, size: int) -> None:
        """Perhaps it was told already."""
        if self.files[name].description.size != size:
            self.hears(FilesAnnounced, lambda _: self.files[name].description.size == size)

    def empty_digest(self, name: str) -> Digest:
        return Digest(self.session.keys.digest_key(self.files[name].file_id))

    def asks(self, name: str, have: Have | None = None, *, sealed: bytes | None = None) -> "Taking":
        """`sealed` is what is said of what we have, if it is not to be what we say."""
        file = self.files[name]
        asked = self.session.keys.ask(file.file_id, self.session.member_id, file.owner_id, have)
        body = {"request_id": asked.request_id, "file_id": file.file_id}
        keys = {"public_key": b64(asked.public_key), "sealed": b64(sealed or asked.sealed)}
        self.session.call("POST", "/requests", object, {**body, **keys})
        self.hears(Requested, lambda told: told.request.request_id == asked.request_id)
        return Taking(self, asked, self.empty_digest(name))

    def takes(self, name: str, have: Have | None = None) -> bytes:
        """All of a file, with a receipt for it."""
        taking = self.asks(name, have)
        content = b"".join(taking.chunks())
        taking.confirms()
        return content


class Taking:
    """One request, on its way."""

    def __init__(self, receiver: Receiver, asked: Asked, empty: Digest) -> None:
        self._receiver = receiver
        self._asked = asked
        self.digest = self._empty = empty
        self.stream: Stream | None = None

    def accepted(self, digest: Digest | None = None) -> Stream:
        """What the owner says yes with. `digest` is that of what we have."""
        answer = self._answer()
        self.stream = self._asked.accept(from_b64(answer.public_key) or b"", from_b64(answer.sealed) or b"")
        self.digest = digest if digest and self.stream.first else self._empty.copy()
        return self.stream

    def declined(self) -> str:
        return self._receiver.hears(Declined, lambda told: told.request_id == self._asked.request_id).reason

    def chunks(self, digest: Digest | None = None) -> Generator[bytes]:
        stream = self.stream or self.accepted(digest)
        with closing(StreamConnection(self._receiver.session, Wait())) as pipe:
            pipe.begin("GET", f"{self._path}/bytes")
            response = pipe.response()
            for chunk in Opener(stream, self.digest).records(lambda room: response.readinto(room[:_READ_BYTES])):
                yield bytes(chunk)

    def tells(self, chunks: int) -> None:
        self._receiver.session.call("POST", f"{self._path}/progress", object, {"chunks": chunks})

    def confirms(self, receipt: bytes | None = None) -> None:
        assert self.stream is not None
        body = {"receipt": b64(receipt or self.stream.receipt(self.digest.value))}
        self._receiver.session.call("POST", f"{self._path}/done", object, body)

    @property
    def _path(self) -> str:
        return f"/requests/{self._asked.request_id}"

    def _answer(self) -> AcknowledgementView:
        """Perhaps it was given while we listened for something else."""
        state = self._receiver.session.state
        while (answer := state.requests[self._asked.request_id].acknowledged) is None:
            self._receiver.hears((Requested, SessionView))
        return answer


@contextmanager
def receiving(home: Path, opened: dict[str, str], name: str = "Bob") -> Generator[Receiver]:
    """Somebody who came by the link of `satchel send --json`."""
    server = opened["link"].partition("/drop/")[0]
    with Receiver(Client(server, CredentialsFile(home / "credentials.json")), opened["link"], name) as receiver:
        yield receiver


def knock(client: Client, spoken: str, code: str | None = None) -> Secret:
    """The secret, for whoever knows the code; `code` is what they say instead of the right one."""
    invitation = read_invitation(spoken)
    session_id = find_session(client, invitation.name)
    return secret_for_code(client, session_id, replace(invitation, code=code or invitation.code))
