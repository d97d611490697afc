"""A client as a member of a drop session: joining, the state of the session, and its live events.

`open_session` and `enter_session` answer a `DropSession`. Its `live()` updates `state` and then yields the event. At
the beginning and after every lost connection it yields the whole `SessionView`. It yields None when nothing happens for
a while.
"""

import platform
import re
import secrets
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from msgspec.structs import replace

from satchel.cli.drop.crypto.codes import link
from satchel.cli.drop.crypto.session_keys import Description, Introduction, Keys, Secret, Tampered, b64, from_b64
from satchel.cli.engine.api_types.drop_types import (
    FileView,
    MemberView,
    NameView,
    RequestView,
    SessionJoined,
    SessionOpened,
    SessionView,
)
from satchel.cli.engine.api_types.event_types import (
    DROP_EVENTS,
    Came,
    Declined,
    Done,
    DoorChanged,
    DropEvent,
    Ended,
    FilesAnnounced,
    FilesWithdrawn,
    Hello,
    Left,
    Progressed,
    Requested,
    Resync,
)
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.http.failures import Refused, Unreachable
from satchel.cli.engine.http.live_events import listening
from satchel.cli.engine.http.retry import is_transient

if TYPE_CHECKING:
    from websockets.sync.client import ClientConnection

T = TypeVar("T")

SUBPROTOCOL = "satchel.drop.1"
_NAME = re.compile(r"[a-z0-9-]{1,100}")


@dataclass(frozen=True, slots=True)
class Somebody:
    """A member, as they introduced themselves."""

    member_id: str
    name: str
    device: str
    here: bool


@dataclass(frozen=True, slots=True)
class Announced:
    """A file that a member offers."""

    file_id: str
    owner_id: str
    description: Description


@dataclass(slots=True)
class State:
    """The state of a session. `forged` are files whose announcement does not decrypt, so that no member made it."""

    host_id: str = ""
    door_id: str | None = None
    members: dict[str, Somebody] = field(default_factory=dict[str, Somebody])
    files: dict[str, Announced] = field(default_factory=dict[str, Announced])
    forged: set[str] = field(default_factory=set[str])
    requests: dict[str, RequestView] = field(default_factory=dict[str, RequestView])


class DropSession:
    """One member of one session. `call` may be used by several threads, `live` by one."""

    def __init__(self, client: Client, known: SessionOpened | SessionJoined, secret: Secret, member_id: str) -> None:
        self.client = client
        self.session_id = known.session_id
        self.name = known.name
        self.token = known.token
        self.member_id = member_id
        self.secret = secret
        self.keys = Keys(secret, known.session_id)
        self.state = State()
        # What the server calls itself, if that is not what we call it.
        self.other_address = ""

    @property
    def path(self) -> str:
        return f"/drop/sessions/{self.session_id}"

    def call(self, method: str, path: str, answer: type[T], body: Mapping[str, object] | None = None) -> T:
        """Call the API below this session's path, as this member."""
        headers = {"authorization": f"Bearer {self.token}"}
        return self.client.call(method, self.path + path, answer, body, headers=headers, as_self=False)

    def listen(self, path: str) -> "ClientConnection":
        """A websocket below this session, as this member."""
        return self.client.listen(self.path + path, (SUBPROTOCOL, self.token))

    def live(self, say: Callable[[str], None], every_seconds: float = 1.0) -> Generator[SessionView | DropEvent | None]:
        """Yield events without end. Raises `Refused` with status 404 when the session or our membership has ended.

        `say` is called when the connection is lost and restored.
        """
        is_behind = False
        with closing(listening(lambda: self.listen("/live"), DROP_EVENTS, say, every_seconds)) as heard:
            for told in heard:
                if is_behind or isinstance(told, Hello | Resync):
                    session = self._read()
                    if session is None and not is_behind:
                        say("The server does not tell what is in the session. Asking until it does.")
                    is_behind = session is None
                    yield session
                if told is not None and not isinstance(told, Hello | Resync):
                    self._apply(told)
                    yield told
                elif told is None and not is_behind:
                    yield None

    def leave(self) -> None:
        self.call("DELETE", f"/members/{self.member_id}", type(None))

    def _read(self) -> SessionView | None:
        """None if the server is unreachable again. The next attempt will tell."""
        try:
            session = self.call("GET", "", SessionView)
        except (Refused, Unreachable) as error:
            if not is_transient(error):
                raise
            return None
        self.state.host_id, self.state.door_id = session.host_id, session.door_id
        self.state.members = {each.member_id: self._somebody(each) for each in session.members}
        self.state.files = dict(self._opened(session.files))
        self.state.requests = {each.request_id: each for each in session.requests}
        return session

    def _apply(self, told: DropEvent) -> None:
        state = self.state
        match told:
            case Came(member):
                state.members[member.member_id] = self._somebody(member)
            case Left(member_id, host_id):
                state.members.pop(member_id, None)
                state.host_id = host_id
            case FilesAnnounced(files):
                state.files.update(self._opened(files))
            case FilesWithdrawn(file_ids):
                for file_id in file_ids:
                    state.files.pop(file_id, None)
            case DoorChanged(door_id):
                state.door_id = door_id
            case Requested(request):
                state.requests[request.request_id] = request
            case Progressed(request_id, chunks):
                if request := state.requests.get(request_id):
                    state.requests[request_id] = replace(request, chunks=chunks)
            case Declined() | Done() | Ended():
                state.requests.pop(told.request_id, None)
            case _:
                pass

    def _somebody(self, member: MemberView) -> Somebody:
        try:
            about = self.keys.open_introduction(member.member_id, from_b64(member.sealed) or b"")
        except Tampered:
            about = Introduction(name="Somebody unknown", device="")
        return Somebody(member.member_id, about["name"], about["device"], member.here)

    def _opened(self, files: list[FileView]) -> Generator[tuple[str, Announced]]:
        for file in files:
            try:
                description = self.keys.open_announcement(file.file_id, file.owner_id, from_b64(file.sealed) or b"")
            except Tampered:
                self.state.forged.add(file.file_id)
                continue
            yield file.file_id, Announced(file.file_id, file.owner_id, description)


def open_session(client: Client, name: str) -> tuple[DropSession, str]:
    """Open a session as its host, with the name `name`. Returns the link for others, too.

    The link leads to the server that was asked, whatever address it gives itself: the secret stands behind it.
    """
    secret, session_id, member_id = Secret.new(), new_id(), new_id()
    keys = Keys(secret, session_id)
    body = {
        "session_id": session_id,
        "admission": b64(keys.admission_digest),
        "member_id": member_id,
        "sealed": b64(keys.introduce(member_id, introduction(name))),
    }
    opened = client.call("POST", "/drop/sessions", SessionOpened, body, as_self=False)
    if opened.session_id != session_id or not _NAME.fullmatch(opened.name):
        raise Tampered("The server answered with another session than the one that was opened.")
    session = DropSession(client, opened, secret, member_id)
    calls_itself = opened.link_base.removesuffix(f"/drop/{opened.name}")
    session.other_address = calls_itself if calls_itself != client.server else ""
    return session, link(f"{client.server}/drop/{opened.name}", secret)


def find_session(client: Client, name: str) -> str:
    """The id of the session with this spoken name."""
    return client.call("GET", f"/drop/names/{name}", NameView, as_self=False).session_id


def enter_session(client: Client, session_id: str, secret: Secret, name: str) -> DropSession:
    """Join a session whose secret we know, as `name`."""
    keys, member_id = Keys(secret, session_id), new_id()
    body = {
        "member_id": member_id,
        "admission": b64(keys.admission),
        "sealed": b64(keys.introduce(member_id, introduction(name))),
    }
    joined = client.call("POST", f"/drop/sessions/{session_id}/members", SessionJoined, body, as_self=False)
    if joined.session_id != session_id:
        raise Tampered("The server answered with another session than the one that was asked for.")
    return DropSession(client, joined, secret, member_id)


def introduction(name: str) -> Introduction:
    return {"name": name, "device": f"Terminal on {platform.system() or 'an unknown machine'}"}


def new_id() -> str:
    return secrets.token_hex(16)
