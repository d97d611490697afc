"""`satchel photos send`: copies photos onto the shelf, as others get them, and hands them to a person or a room."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from satchel.cli.engine.api_types.account_types import PersonView
from satchel.cli.engine.api_types.photo_types import CopyList, PhotoColumns
from satchel.cli.engine.api_types.room_types import FileList
from satchel.cli.engine.api_types.transfer_types import TransferView
from satchel.cli.engine.files.upload_journal import Journal
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.resources.album_find import find_album
from satchel.cli.engine.resources.media_find import media_id_of
from satchel.cli.engine.resources.room_join import enter, person_in
from satchel.cli.engine.resources.shelf_paths import SENT, TOP, folder_in
from satchel.cli.engine.resources.transfer_create import hand_over, refuse_if_too_many
from satchel.cli.engine.terminal.output import CommandFailed, note

_PAGE = 1000
# As many as the server copies at once, and as go into a room one by one.
_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class PhotoReceiver:
    """Who gets the photos: somebody with an account, a room, or one person in it."""

    name: str
    to: Mapping[str, str]

    @property
    def room_id(self) -> str | None:
        return self.to.get("room_id")


def somebody(client: Client, email: str) -> PhotoReceiver:
    """Asked before anything is copied: a wrong address would show only then."""
    client.call("POST", "/transfers/receiver", object, {"email": email})
    return PhotoReceiver(email, {"kind": "email", "email": email})


def in_room(client: Client, code: str, person: str | None) -> PhotoReceiver:
    room = enter(client, code, None)
    if person is None:
        return PhotoReceiver(room.name or room.code, {"kind": "room", "room_id": room.room_id})
    return PhotoReceiver(person, {"kind": "person", "room_id": room.room_id, "person_id": person_in(room, person)})


def find_photos_to_send(client: Client, typed: Sequence[str], album: str | None) -> list[str]:
    """The ids of one's own photos, each once. What others have put into the album is theirs to pass on."""
    found = [media_id_of(client, each) for each in typed]
    if album is not None:
        own, others = _photos_of(client, find_album(client, album).album_id)
        found += own
        if others:
            note(f"Not sent: {others:,} photos of this album are others'. They can send them.")
    if not found:
        raise CommandFailed("There is no photo of yours to send.")
    return list(dict.fromkeys(found))


def send_photos(client: Client, media_ids: Sequence[str], receiver: PhotoReceiver, words: str) -> TransferView:
    """The same command resumes what is left, and makes nothing twice."""
    refuse_if_too_many(len(media_ids))
    job = [client.server, _user_id(client), "photos", *receiver.to.values(), words, *sorted(media_ids)]
    journal = Journal(client.credentials.path.parent / "uploads", job)
    finished = False
    try:
        folder = folder_in(client, folder_in(client, TOP, SENT).id, journal.name)
        files: list[str] = []
        for start in range(0, len(media_ids), _AT_ONCE):
            body = {"medias": media_ids[start : start + _AT_ONCE], "folder": folder.id}
            files += client.call("POST", "/photos/copies", CopyList, body).files
        entries = files if len(files) <= _AT_ONCE else [folder.id]
        if receiver.room_id is not None:
            entries = _bring(client, receiver, entries, journal)
        transfer = hand_over(client, receiver.to, entries, words, journal.key_for("transfer", *sorted(entries)))
        finished = True
    finally:
        journal.close(finished=finished)
    return transfer


def _photos_of(client: Client, album_id: str) -> tuple[list[str], int]:
    """Ids of one's own photos in an album, and how many there are of others."""
    me, own, others, cursor = _user_id(client), list[str](), 0, ""
    while True:
        page = client.call("GET", f"/albums/{album_id}/medias?limit={_PAGE}{cursor}", PhotoColumns)
        mine = [each for owner, each in zip(page.owners, page.ids, strict=True) if owner == me]
        own += mine
        others += len(page.ids) - len(mine)
        if page.cursor is None:
            return own, others
        cursor = f"&cursor={quote(page.cursor, safe='')}"


def _user_id(client: Client) -> str:
    return client.call("GET", "/accounts/me", PersonView).user_id


def _bring(client: Client, receiver: PhotoReceiver, entries: Sequence[str], journal: Journal) -> list[str]:
    body: dict[str, object] = {"shelf": list(entries)}
    if person_id := receiver.to.get("person_id"):
        body["to"] = person_id
    key = journal.key_for("room", *entries)
    brought = client.make(f"/rooms/{receiver.room_id}/files", FileList, body, key=key)
    return [file.file_id for file in brought.files]
