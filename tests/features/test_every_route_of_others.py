"""Every route that names something, asked for what somebody else really has: nobody gets it, and nothing changes."""

import re
import secrets
from collections.abc import AsyncGenerator, Callable
from typing import Any

from tests.application import Caller, Satchel
from tests.features.belongings import FRIEND, Belongings, belongings
from tests.features.drop.given import b64, new_id, sealed
from tests.features.rooms.given import guest
from tests.features.test_every_route import ACCESS, ADMIN, CLOCK, FORMER, GUEST, MEMBER, STRANGER
from tests.uploads.given import TUS, pairs

# These name no one thing: a day, a month.
NO_IDS = {"day", "month"}
# Open to whoever knows the name, or stands at the door: what is behind it is sealed.
OPEN = {
    ("GET", "/drop/names/{name}"),
    ("POST", "/drop/sessions/{session_id}/knocks"),
    ("POST", "/drop/sessions/{session_id}/knocks/{knock_id}/tag"),
}
Request = Callable[[Belongings], dict[str, Any]]
# In place of what is sent to see whether the door opens: nothing but whose it is may be wrong with it.
REQUESTS: dict[tuple[str, str], Request] = {
    ("DELETE", "/uploads/{upload_id}"): lambda _: {"headers": TUS},
    ("POST", "/rooms/{room_id}/files"): lambda found: {"json": {"shelf": [found.ids["/shelf", "file_id"]]}},
    ("POST", "/drop/sessions/{session_id}/members"): lambda _: {
        "json": {"member_id": new_id(), "admission": b64(secrets.token_bytes(32)), "sealed": sealed()}
    },
}


def shelf_id(found: Belongings, name: str) -> str:
    return found.ids["/shelf", name]


def upload_to(**where: str) -> dict[str, Any]:
    return {"headers": {**TUS, "upload-length": "1", "upload-metadata": pairs(filename="x", **where)}}


# Ids that are not in the path.
INSIDE: list[tuple[str, str, Request]] = [
    ("GET", "/shelf/entries", lambda found: {"params": {"folder": shelf_id(found, "folder_id")}}),
    ("GET", "/shelf/archive", lambda found: {"params": {"file": shelf_id(found, "file_id")}}),
    ("GET", "/shelf/archive", lambda found: {"params": {"folder": shelf_id(found, "folder_id")}}),
    ("POST", "/shelf/selections", lambda found: {"json": {"files": [shelf_id(found, "file_id")]}}),
    ("POST", "/links", lambda found: {"json": {"thing": {"kind": "selection", "id": shelf_id(found, "selection_id")}}}),
    ("POST", "/shelf/folders", lambda found: {"json": {"name": "New", "folder_id": shelf_id(found, "folder_id")}}),
    ("POST", "/links", lambda found: {"json": {"thing": {"kind": "file", "id": shelf_id(found, "file_id")}}}),
    ("POST", "/links", lambda found: {"json": {"thing": {"kind": "folder", "id": shelf_id(found, "folder_id")}}}),
    (
        "POST",
        "/transfers",
        lambda found: {"json": {"to": {"kind": "email", "email": FRIEND}, "files": [shelf_id(found, "file_id")]}},
    ),
    (
        "POST",
        "/transfers",
        lambda found: {
            "json": {
                "to": {"kind": "room", "room_id": found.ids["/rooms", "room_id"]},
                "files": [found.ids["/rooms", "file_id"]],
            }
        },
    ),
    (
        "POST",
        "/albums/plan",
        lambda found: {"json": {"change": {"kind": "delete", "album_id": found.ids["/albums", "album_id"]}}},
    ),
    (
        "POST",
        "/albums/plan",
        lambda found: {"json": {"change": {"kind": "undo", "act_id": found.ids["/albums", "act_id"]}}},
    ),
    ("GET", "/photos/search", lambda found: {"params": {"album": found.ids["/albums", "album_id"]}}),
    ("GET", "/photos/cameras", lambda found: {"params": {"album": found.ids["/albums", "album_id"]}}),
    *(
        ("POST", path, lambda found: {"json": {**CLOCK, "album_id": found.ids["/albums", "album_id"]}})
        for path in ("/photos/clock/plan", "/photos/clock")
    ),
    ("POST", "/photos/choices", lambda found: {"json": {"medias": [found.ids["/photos", "media_id"]]}}),
    (
        "POST",
        "/photos/copies",
        lambda found: {"json": {"medias": [found.ids["/photos", "media_id"]], "folder": "root"}},
    ),
    (
        "POST",
        "/links",
        lambda found: {"json": {"thing": {"kind": "photos", "id": found.ids["/photos", "choice_id"]}}},
    ),
    ("GET", "/photos/archive", lambda found: {"params": {"media": found.ids["/photos", "media_id"]}}),
    ("GET", "/albums/by-folder", lambda found: {"params": {"folder": found.ids["/albums", "folder"]}}),
    ("POST", "/uploads", lambda found: upload_to(destination="shelf", folder=shelf_id(found, "folder_id"))),
    (
        "POST",
        "/uploads",
        lambda found: upload_to(destination="photos", album=found.ids["/albums", "album_id"]),
    ),
    (
        "POST",
        "/set-lists",
        lambda found: {"json": {"name": "x", "entries": [{"score_id": found.ids["/scores", "score_id"]}]}},
    ),
    ("POST", "/uploads", lambda found: upload_to(destination="score", score=found.ids["/scores", "score_id"])),
    ("POST", "/uploads", lambda found: upload_to(destination="room", room=found.ids["/rooms", "room_id"])),
]


def names_something(path: str) -> bool:
    return bool(set(re.findall(r"\{(\w+)\}", path)) - NO_IDS)


async def caller_of(kind: str, satchel: Satchel, ann: Caller, found: Belongings) -> Caller:
    if kind == MEMBER:
        member = satchel.caller("192.0.2.1")
        assert (await member.sign_up("carl@example.org")).status_code == 201
        return member
    others = {STRANGER: satchel.caller, GUEST: lambda: guest(satchel), FORMER: lambda: found.former, ADMIN: lambda: ann}
    caller = others[kind]()
    return caller if isinstance(caller, Caller) else await caller


async def test_what_belongs_to_somebody_else_is_not_there(satchel: Satchel, ann: Caller, bob: Caller) -> None:
    found = await belongings(satchel, ann, bob)
    before = await found.seen()
    for kind in (STRANGER, GUEST, MEMBER, FORMER, ADMIN):
        caller = await caller_of(kind, satchel, ann, found)
        assert not [answer async for answer in let_in(caller, kind, found)], kind
        assert await found.seen() == before, kind


async def let_in(caller: Caller, kind: str, found: Belongings) -> AsyncGenerator[tuple[Any, ...]]:
    """What it gets that it should not."""
    asked = [
        (method, path, REQUESTS.get((method, path), lambda _, sent=sent: dict(sent)))
        for (method, path), (welcome, sent) in ACCESS.items()
        if names_something(path) and (method, path) not in OPEN and not (kind == ADMIN and welcome == {ADMIN})
    ]
    for method, path, request in [*asked, *INSIDE]:
        sent = request(found)
        if kind == FORMER and path.startswith("/drop"):
            sent["headers"] = {**sent.get("headers", {}), "authorization": f"Bearer {found.put_out.token}"}
        answer = await caller(method, found.filled(path), **sent)
        # Whoever has a link that was withdrawn is told so.
        refused = (401, 403, 404, 410) if path.startswith("/open") else (401, 403, 404)
        if answer.status_code not in refused:
            yield method, path, sent, answer.status_code, answer.text
