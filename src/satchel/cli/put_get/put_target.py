"""Where `satchel put` uploads to: the shelf, a person by e-mail, a room, or a link for files."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from satchel.cli.engine.api_types.account_types import PersonView
from satchel.cli.engine.api_types.room_types import RoomView
from satchel.cli.engine.api_types.transfer_types import TransferView
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.resources.link_enter import visit
from satchel.cli.engine.resources.room_join import enter, person_in
from satchel.cli.engine.resources.shelf_paths import SENT
from satchel.cli.engine.resources.transfer_find import find
from satchel.cli.engine.terminal.output import CommandFailed, Misused

SHELF = {"destination": "shelf"}


@dataclass(frozen=True, slots=True)
class PutTarget:
    """Where files are uploaded to, and to whom they are handed over then; `job` tells one target from another."""

    folder: str
    job: list[str]
    destination: Mapping[str, str] = field(default_factory=lambda: SHELF)
    receiver: Mapping[str, str] | None = None
    receiver_name: str = ""
    # What a transfer says besides: that it asks for answers, or which one it answers.
    said: Mapping[str, str | bool] = field(default_factory=dict[str, str | bool])

    @property
    def is_shelf_alone(self) -> bool:
        """Whether files only go to one's own shelf."""
        return self.destination is SHELF and self.receiver is None

    def folder_for(self, job_name: str) -> str:
        """Where the files go: from a shelf they are handed over as the only ones of a folder of their own."""
        is_handed_from_shelf = self.receiver is not None and self.destination is SHELF
        return f"{self.folder.strip('/')}/{job_name}" if is_handed_from_shelf else self.folder


def put_target(
    client: Client,
    *,
    folder: str,
    email: str | None,
    code: str | None,
    person: str | None,
    name: str | None,
    hand_out: bool = False,
    answers: str | None = None,
) -> PutTarget:
    if email and code:
        raise Misused("Use --to or --room, not both.")
    if (hand_out or answers) and (not code or person):
        raise Misused("--hand-out and --answers need --room, without --for.")
    if code:
        room = enter(client, code, name)
        if answers:
            return _answering(room, folder, find(client, answers))
        target = _at_room(room, folder, person)
        return replace(target, said={"wants_answers": True}) if hand_out else target
    if person or name:
        raise Misused("--for needs --room, and --name needs --room or --link.")
    user_id = client.call("GET", "/accounts/me", PersonView).user_id
    if not email:
        return PutTarget(folder, [user_id, folder.strip("/")])
    # Before the first byte: a wrong address would otherwise show only when everything is uploaded.
    client.call("POST", "/transfers/receiver", object, {"email": email})
    # Not whom it is for: with an address corrected, what is on the shelf already is not sent again.
    folder = folder or SENT
    return PutTarget(folder, [user_id, "to", folder.strip("/")], SHELF, {"kind": "email", "email": email}, email)


def at_link(client: Client, token: str, uploader: str) -> PutTarget:
    """The folder of whoever asks for files by this link; a few words of who they are from become a folder in it."""
    entered = visit(client, token, "request")
    destination = {"destination": "link", "link": token, "pass": entered.shown}
    return PutTarget("", ["link", token, uploader], {**destination, "uploader": uploader} if uploader else destination)


def _answering(room: RoomView, folder: str, asked: TransferView) -> PutTarget:
    """For whoever handed it out and nobody else."""
    if not asked.wants_answers:
        raise CommandFailed("This transfer does not ask for answers. See `satchel transfers`.")
    person_id, said = asked.sender.person_id, {"answers": asked.transfer_id}
    receiver = {"kind": "person", "room_id": room.room_id, "person_id": person_id}
    destination = {"destination": "room", "room": room.room_id, "to": person_id}
    job = [room.you, room.room_id, person_id, asked.transfer_id, folder]
    return PutTarget(folder, job, destination, receiver, asked.sender.name, said)


def _at_room(room: RoomView, folder: str, wanted: str | None) -> PutTarget:
    destination = {"destination": "room", "room": room.room_id}
    if wanted is None:
        receiver = {"kind": "room", "room_id": room.room_id}
        return PutTarget(folder, [room.you, room.room_id, folder], destination, receiver, room.name or room.code)
    person_id = person_in(room, wanted)
    receiver = {"kind": "person", "room_id": room.room_id, "person_id": person_id}
    return PutTarget(
        folder, [room.you, room.room_id, person_id, folder], {**destination, "to": person_id}, receiver, wanted
    )
