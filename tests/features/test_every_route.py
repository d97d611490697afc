"""Every route of the API tried by every kind of caller: who gets in is written down here, route by route.

Whether somebody who gets in reaches what belongs to others is asked in `test_every_route_of_others.py`.
"""

import re
from typing import Any

import pytest

from satchel.edge.uploads.bundles import BUNDLE_TYPE
from tests.application import Caller, Satchel
from tests.uploads.given import SENDS, TUS, a_bundle

STRANGER, GUEST, MEMBER, FORMER, ADMIN = "stranger", "guest", "member", "former member", "administrator"
EVERYBODY = {STRANGER, GUEST, MEMBER, ADMIN}
MEMBERS = {MEMBER, ADMIN}
GUESTS_TOO = MEMBERS | {GUEST}
SCOPE = {"granted_to": "c@example.org", "type": "album:visitor", "resource_id": "x"}

# A session that has ended is refused wherever a token is looked at, even where strangers are welcome.
BUNDLE = a_bundle(({}, b"x"), destination="x")
# Drops know nothing of accounts: who is nobody there is told that there is no such session.
DROP = EVERYBODY | {FORMER}
NOON = "2030-01-01T12:00:00Z"
KEY, SEALED, ID = {"public_key": "k" * 43}, {"sealed": "s"}, "0" * 32
REFUSED = {"type": "album:visitor", "resource_id": "x"}
# Guests, too, may do these to themselves; `x` is somebody else.
OF_ONESELF = {("DELETE", "/clicks/people/{user_id}")}
CLOCK = {"album_id": "x", "make": "Canon", "model": "R5", "shift_seconds": 60}
ACCESS: dict[tuple[str, str], tuple[set[str], dict[str, Any]]] = {
    ("POST", "/accounts"): (EVERYBODY | {FORMER}, {"json": {"email": "bad", "name": "n", "password": "12345678"}}),
    ("GET", "/accounts/me"): (MEMBERS, {}),
    ("GET", "/accounts/me/deletion"): (MEMBERS, {}),
    ("POST", "/accounts/me/deletion"): (MEMBERS, {"json": {}}),
    ("PATCH", "/accounts/me"): (MEMBERS, {"json": {"name": "New"}}),
    ("PUT", "/accounts/me/password"): (MEMBERS, {"json": {"current": "correct horse battery", "new": "p"}}),
    ("GET", "/whoami"): (EVERYBODY, {}),
    ("POST", "/sessions"): (EVERYBODY | {FORMER}, {"json": {"email": "bad", "password": "p"}}),
    ("POST", "/sessions/refresh"): (set(), {"json": {}}),
    # It answers with where to go on, whoever asks.
    ("POST", "/sessions/renewal"): (EVERYBODY | {FORMER}, {}),
    ("GET", "/sessions"): (MEMBERS, {}),
    ("DELETE", "/sessions"): (MEMBERS, {}),
    ("DELETE", "/sessions/current"): (MEMBERS, {}),
    ("DELETE", "/sessions/{session_id}"): (MEMBERS, {}),
    ("POST", "/guests"): (EVERYBODY | {FORMER}, {"json": {"name": "Gus"}}),
    ("DELETE", "/guests/current"): (EVERYBODY | {FORMER}, {}),
    ("POST", "/scopes"): (MEMBERS, {"json": SCOPE}),
    ("DELETE", "/scopes"): (MEMBERS, {"params": SCOPE}),
    ("GET", "/scopes"): (MEMBERS, {}),
    ("GET", "/scopes/granted"): (MEMBERS, {}),
    ("DELETE", "/scopes/received"): (
        MEMBERS,
        {"params": {"resource_owner": "x", "type": "album:visitor", "resource_id": "x"}},
    ),
    ("GET", "/contacts/receiving"): (MEMBERS, {}),
    ("PUT", "/contacts/receiving"): (MEMBERS, {"json": {"from_whom": "anybody"}}),
    ("GET", "/contacts/blocked"): (MEMBERS, {}),
    ("PUT", "/contacts/blocked/{user_id}"): (MEMBERS, {}),
    ("DELETE", "/contacts/blocked/{user_id}"): (MEMBERS, {}),
    ("GET", "/sign-up"): (EVERYBODY | {FORMER}, {}),
    ("PUT", "/sign-up"): ({ADMIN}, {"json": {"mode": "open"}}),
    ("POST", "/invitations"): ({ADMIN}, {"json": {}}),
    ("GET", "/invitations"): ({ADMIN}, {}),
    ("DELETE", "/invitations/{invitation_id}"): ({ADMIN}, {}),
    ("OPTIONS", "/uploads"): (EVERYBODY | {FORMER}, {}),
    ("POST", "/uploads"): (GUESTS_TOO, {"headers": {**TUS, "upload-length": "1"}}),
    ("GET", "/uploads"): (GUESTS_TOO, {}),
    ("POST", "/uploads/bundle"): (GUESTS_TOO, {"headers": {"content-type": BUNDLE_TYPE}, "content": BUNDLE}),
    ("POST", "/uploads/{upload_id}"): (GUESTS_TOO, {"headers": {**TUS, "x-http-method-override": "HEAD"}}),
    ("GET", "/uploads/{upload_id}"): (GUESTS_TOO, {}),
    ("POST", "/uploads/{upload_id}/parts"): (GUESTS_TOO, {"json": {}}),
    ("HEAD", "/uploads/{upload_id}"): (GUESTS_TOO, {"headers": TUS}),
    ("PATCH", "/uploads/{upload_id}"): (GUESTS_TOO, {"headers": {**SENDS, "upload-offset": "0"}}),
    ("DELETE", "/uploads/{upload_id}"): (GUESTS_TOO, {"headers": TUS}),
    ("GET", "/search"): (MEMBERS, {"params": {"q": "x"}}),
    ("GET", "/shelf/entries"): (MEMBERS, {}),
    ("GET", "/shelf/search"): (MEMBERS, {"params": {"q": "x"}}),
    ("POST", "/shelf/folders"): (MEMBERS, {"json": {"name": "New"}}),
    ("PATCH", "/shelf/folders/{folder_id}"): (MEMBERS, {"json": {"name": "New"}}),
    ("DELETE", "/shelf/folders/{folder_id}"): (MEMBERS, {}),
    ("GET", "/shelf/files/{file_id}"): (MEMBERS, {}),
    ("GET", "/shelf/files/{file_id}/content"): (MEMBERS, {}),
    ("GET", "/shelf/files/{file_id}/preview"): (MEMBERS, {}),
    ("GET", "/shelf/files/{file_id}/picture/{size}/{version}"): (MEMBERS, {}),
    ("PATCH", "/shelf/files/{file_id}"): (MEMBERS, {"json": {"name": "New"}}),
    ("DELETE", "/shelf/files/{file_id}"): (MEMBERS, {}),
    ("GET", "/shelf/files/{file_id}/versions"): (MEMBERS, {}),
    ("GET", "/shelf/files/{file_id}/versions/{version_id}/content"): (MEMBERS, {}),
    ("POST", "/shelf/files/{file_id}/versions/{version_id}/restore"): (MEMBERS, {}),
    ("DELETE", "/shelf/files/{file_id}/versions/{version_id}"): (MEMBERS, {}),
    ("GET", "/shelf/bin"): (MEMBERS, {}),
    ("DELETE", "/shelf/bin"): (MEMBERS, {}),
    ("POST", "/shelf/bin/{entry_id}/restore"): (MEMBERS, {}),
    ("DELETE", "/shelf/bin/{entry_id}"): (MEMBERS, {}),
    ("GET", "/shelf/archive"): (MEMBERS, {"params": {"file": "x"}}),
    ("GET", "/shelf/usage"): (MEMBERS, {}),
    ("POST", "/shelf/selections"): (MEMBERS, {"json": {"files": ["x"]}}),
    ("POST", "/transfers"): (GUESTS_TOO, {"json": {"to": {"kind": "room", "room_id": "x"}, "files": ["x"]}}),
    ("POST", "/transfers/receiver"): (MEMBERS, {"json": {"email": "nobody@example.org"}}),
    ("GET", "/transfers"): (GUESTS_TOO, {}),
    ("GET", "/transfers/waiting"): (GUESTS_TOO, {}),
    ("GET", "/transfers/{transfer_id}"): (GUESTS_TOO, {}),
    ("GET", "/transfers/{transfer_id}/receipts.csv"): (GUESTS_TOO, {}),
    ("POST", "/transfers/{transfer_id}/opened"): (GUESTS_TOO, {}),
    ("POST", "/transfers/{transfer_id}/decline"): (GUESTS_TOO, {}),
    ("POST", "/transfers/{transfer_id}/save"): (MEMBERS, {"json": {}}),
    ("POST", "/transfers/{transfer_id}/withdraw"): (GUESTS_TOO, {}),
    ("POST", "/transfers/{transfer_id}/resend"): (GUESTS_TOO, {}),
    ("GET", "/transfers/{transfer_id}/files/{place}/content"): (GUESTS_TOO, {}),
    ("GET", "/transfers/{transfer_id}/files/{place}/picture/{size}/{version}"): (GUESTS_TOO, {}),
    ("POST", "/transfers/{transfer_id}/files/{place}/challenge"): (GUESTS_TOO, {}),
    ("POST", "/transfers/{transfer_id}/files/{place}/verified"): (GUESTS_TOO, {"json": {"proof": "0" * 64}}),
    ("GET", "/albums"): (MEMBERS, {}),
    ("POST", "/albums"): (MEMBERS, {"json": {"name": "", "start": "2025-07-01", "end": "2025-07-02"}}),
    ("POST", "/albums/plan"): (MEMBERS, {"json": {"change": {"kind": "delete", "album_id": "x"}}}),
    ("GET", "/albums/acts"): (MEMBERS, {}),
    ("POST", "/albums/acts/{act_id}/undo"): (MEMBERS, {"json": {}}),
    ("GET", "/albums/by-folder"): (MEMBERS, {"params": {"folder": "/x"}}),
    ("POST", "/albums/check"): (MEMBERS, {"json": {}}),
    ("GET", "/albums/{album_id}"): (MEMBERS, {}),
    ("PATCH", "/albums/{album_id}"): (MEMBERS, {"json": {"name": "New"}}),
    ("DELETE", "/albums/{album_id}"): (MEMBERS, {}),
    ("GET", "/albums/{album_id}/medias"): (MEMBERS, {}),
    ("GET", "/albums/{album_id}/archive"): (MEMBERS, {}),
    ("GET", "/albums/{album_id}/shares"): (MEMBERS, {}),
    ("PUT", "/albums/{album_id}/shares/{email}"): (MEMBERS, {"json": {}}),
    ("DELETE", "/albums/{album_id}/shares/{email}"): (MEMBERS, {}),
    ("DELETE", "/albums/{album_id}/membership"): (MEMBERS, {}),
    ("PUT", "/albums/{album_id}/pins/{media_id}"): (MEMBERS, {}),
    ("DELETE", "/albums/{album_id}/pins/{media_id}"): (MEMBERS, {}),
    ("POST", "/photos/known"): (MEMBERS, {"json": {"files": []}}),
    ("POST", "/photos/choices"): (MEMBERS, {"json": {"medias": ["x"]}}),
    ("POST", "/photos/copies"): (MEMBERS, {"json": {"medias": ["x"], "folder": "root"}}),
    ("POST", "/photos/verify"): (MEMBERS, {"json": {"files": []}}),
    ("GET", "/photos/days"): (MEMBERS, {}),
    ("GET", "/photos/usage"): (MEMBERS, {}),
    ("GET", "/photos/map"): (MEMBERS, {}),
    ("GET", "/photos"): (MEMBERS, {}),
    ("GET", "/photos/undated"): (MEMBERS, {}),
    ("GET", "/photos/cameras"): (MEMBERS, {"params": {"album": "x"}}),
    ("POST", "/photos/clock/plan"): (MEMBERS, {"json": CLOCK}),
    ("POST", "/photos/clock"): (MEMBERS, {"json": CLOCK}),
    ("GET", "/photos/search"): (MEMBERS, {"params": {"q": "x"}}),
    ("GET", "/photos/duplicates"): (MEMBERS, {}),
    ("POST", "/photos/duplicates/{group_id}/keep"): (MEMBERS, {"json": {"keep": ["x"]}}),
    ("DELETE", "/photos/duplicates/{group_id}"): (MEMBERS, {}),
    ("GET", "/photos/bin"): (MEMBERS, {}),
    ("POST", "/photos/bin/restore"): (MEMBERS, {"json": {"ids": ["x"]}}),
    ("DELETE", "/photos/bin"): (MEMBERS, {}),
    ("GET", "/photos/{owner}/{media_id}"): (MEMBERS, {}),
    ("PATCH", "/photos/{owner}/{media_id}"): (MEMBERS, {"json": {"favourite": True}}),
    ("DELETE", "/photos/{owner}/{media_id}"): (MEMBERS, {}),
    ("GET", "/photos/{owner}/{media_id}/content"): (MEMBERS, {}),
    ("GET", "/photos/{owner}/{media_id}/picture/{size}/{version}"): (MEMBERS, {}),
    ("GET", "/photos/archive"): (MEMBERS, {"params": {"media": "x"}}),
    ("GET", "/photos/{owner}/{media_id}/preview"): (MEMBERS, {}),
    ("GET", "/photos/{owner}/{media_id}/parts/{part_id}/content"): (MEMBERS, {}),
    ("GET", "/set-lists"): (MEMBERS, {}),
    ("POST", "/set-lists"): (MEMBERS, {"json": {"name": ""}}),
    ("GET", "/set-lists/{list_id}"): (MEMBERS, {}),
    ("PUT", "/set-lists/{list_id}"): (MEMBERS, {"json": {"name": "New"}, "headers": {"if-match": "*"}}),
    ("DELETE", "/set-lists/{list_id}"): (MEMBERS, {}),
    ("GET", "/set-lists/{list_id}/export"): (MEMBERS, {}),
    ("GET", "/set-lists/{list_id}/shares"): (MEMBERS, {}),
    ("PUT", "/set-lists/{list_id}/shares/{email}"): (MEMBERS, {}),
    ("DELETE", "/set-lists/{list_id}/shares/{email}"): (MEMBERS, {}),
    ("DELETE", "/set-lists/{list_id}/membership"): (MEMBERS, {}),
    ("GET", "/scores"): (MEMBERS, {}),
    ("POST", "/scores"): (MEMBERS, {"json": {"title": ""}}),
    ("GET", "/scores/{score_id}"): (EVERYBODY, {}),
    ("PATCH", "/scores/{score_id}"): (MEMBERS, {"json": {"title": "New"}, "headers": {"if-match": "*"}}),
    ("PUT", "/scores/{score_id}/pages"): (MEMBERS, {"json": {"pages": []}, "headers": {"if-match": "*"}}),
    ("DELETE", "/scores/{score_id}"): (MEMBERS, {}),
    ("GET", "/scores/{score_id}/export"): (EVERYBODY, {}),
    ("GET", "/scores/{score_id}/items"): (MEMBERS, {}),
    ("DELETE", "/scores/{score_id}/items/{item_id}"): (MEMBERS, {}),
    ("POST", "/scores/{score_id}/items/{item_id}/straighten"): (MEMBERS, {}),
    ("GET", "/scores/{score_id}/items/{item_id}/content"): (EVERYBODY, {}),
    ("GET", "/scores/{score_id}/items/{item_id}/picture/{size}/{version}"): (EVERYBODY, {}),
    ("GET", "/scores/{score_id}/layout"): (EVERYBODY, {}),
    ("GET", "/scores/{score_id}/marks"): (EVERYBODY, {}),
    ("GET", "/scores/{score_id}/playback"): (EVERYBODY, {}),
    ("POST", "/scores/{score_id}/layers"): (MEMBERS, {"json": {"name": "Mine"}}),
    ("PATCH", "/scores/{score_id}/layers/{layer_id}"): (MEMBERS, {"json": {"name": "New"}}),
    ("DELETE", "/scores/{score_id}/layers/{layer_id}"): (MEMBERS, {}),
    ("POST", "/scores/{score_id}/layers/{layer_id}/marks"): (MEMBERS, {"json": {"remove": [0]}}),
    ("PUT", "/scores/{score_id}/presence"): (MEMBERS, {"json": {}}),
    ("DELETE", "/scores/{score_id}/presence"): (MEMBERS, {}),
    ("POST", "/scores/{score_id}/turn"): (MEMBERS, {"json": {"page_id": 0}}),
    ("GET", "/scores/{score_id}/shares"): (MEMBERS, {}),
    ("PUT", "/scores/{score_id}/shares/{email}"): (MEMBERS, {"json": {}}),
    ("DELETE", "/scores/{score_id}/shares/{email}"): (MEMBERS, {}),
    ("DELETE", "/scores/{score_id}/membership"): (MEMBERS, {}),
    ("POST", "/scores/{score_id}/snapshots"): (MEMBERS, {"json": {"name": "Now"}}),
    ("GET", "/scores/{score_id}/snapshots/{snapshot_id}"): (EVERYBODY, {}),
    ("DELETE", "/scores/{score_id}/snapshots/{snapshot_id}"): (MEMBERS, {}),
    ("POST", "/scores/{score_id}/snapshots/{snapshot_id}/restore"): (MEMBERS, {"headers": {"if-match": "*"}}),
    ("GET", "/scores/{score_id}/compare"): (EVERYBODY, {"params": {"from": "now"}}),
    ("GET", "/scores/{score_id}/news"): (MEMBERS, {}),
    ("PUT", "/scores/{score_id}/news"): (MEMBERS, {}),
    ("POST", "/links"): (MEMBERS, {"json": {"thing": {"kind": "file", "id": "x"}}}),
    ("GET", "/links"): (MEMBERS, {}),
    ("GET", "/links/{link_id}"): (MEMBERS, {}),
    ("PATCH", "/links/{link_id}"): (MEMBERS, {"json": {"paused": True}}),
    ("DELETE", "/links/{link_id}"): (MEMBERS, {}),
    ("GET", "/links/{link_id}/places"): (MEMBERS, {}),
    ("DELETE", "/links/{link_id}/places/{place_id}"): (MEMBERS, {}),
    ("GET", "/open/{token}"): (EVERYBODY, {}),
    ("POST", "/open/{token}/enter"): (EVERYBODY, {"json": {}}),
    ("GET", "/open/{token}/files"): (EVERYBODY, {}),
    ("GET", "/open/{token}/content"): (EVERYBODY, {}),
    ("GET", "/open/{token}/outline"): (EVERYBODY, {}),
    ("GET", "/open/{token}/layout"): (EVERYBODY, {}),
    ("GET", "/open/{token}/playback"): (EVERYBODY, {}),
    ("GET", "/open/{token}/preview"): (EVERYBODY, {}),
    ("GET", "/open/{token}/cover/{version}"): (EVERYBODY, {}),
    ("GET", "/open/{token}/archive"): (EVERYBODY, {}),
    ("GET", "/open/{token}/files/{file_id}/content"): (EVERYBODY, {}),
    ("GET", "/open/{token}/files/{file_id}/preview"): (EVERYBODY, {}),
    ("GET", "/open/{token}/files/{file_id}/picture/{size}/{version}"): (EVERYBODY, {}),
    ("GET", "/stats/{scope}/summary"): (MEMBERS, {}),
    ("GET", "/stats/{scope}/days"): (MEMBERS, {}),
    ("GET", "/stats/{scope}/range"): (MEMBERS, {}),
    ("GET", "/stats/{scope}/months"): (MEMBERS, {}),
    ("GET", "/stats/{scope}/export"): (MEMBERS, {}),
    ("GET", "/stats/top"): (MEMBERS, {}),
    ("GET", "/badges/{badge_id}"): (EVERYBODY | {FORMER}, {}),
    ("POST", "/counters"): (MEMBERS, {"json": {"origins": ["https://example.org"]}}),
    ("GET", "/counters"): (MEMBERS, {}),
    ("GET", "/counters/{counter_id}"): (MEMBERS, {}),
    ("PATCH", "/counters/{counter_id}"): (MEMBERS, {"json": {"name": "New"}}),
    ("DELETE", "/counters/{counter_id}"): (MEMBERS, {}),
    ("POST", "/counters/{counter_id}/undo"): (MEMBERS, {"json": {"from": NOON, "to": NOON}}),
    ("POST", "/counters/{counter_id}/clicks"): (EVERYBODY | {FORMER}, {"content": b"{}"}),
    ("POST", "/clicks"): (GUESTS_TOO, {"json": {}}),
    ("POST", "/quitItToday"): (GUESTS_TOO, {"json": {"socialMediaType": "Facebook"}}),
    ("OPTIONS", "/quitItToday"): (EVERYBODY | {FORMER}, {}),
    ("GET", "/clicks"): (GUESTS_TOO, {}),
    ("GET", "/clicks/days/{day}"): ({ADMIN}, {}),
    ("GET", "/clicks/stats/days/{day}"): ({ADMIN}, {}),
    ("GET", "/clicks/stats/months/{month}"): ({ADMIN}, {}),
    ("GET", "/clicks/stats/total"): ({ADMIN}, {}),
    ("POST", "/clicks/rebuild"): ({ADMIN}, {"json": {}}),
    # Others may erase their own, which are not those of `x`.
    ("DELETE", "/clicks/people/{user_id}"): ({ADMIN}, {}),
    ("POST", "/rooms"): (MEMBERS, {"json": {"hours": 0}}),
    ("GET", "/rooms/current"): (GUESTS_TOO, {}),
    ("GET", "/rooms/mine"): (GUESTS_TOO, {}),
    ("POST", "/rooms/join"): (GUESTS_TOO, {"json": {"code": "x"}}),
    ("GET", "/rooms/{room_id}"): (GUESTS_TOO, {}),
    ("GET", "/rooms/{room_id}/qr"): (GUESTS_TOO, {}),
    ("PATCH", "/rooms/{room_id}"): (MEMBERS, {"json": {"locked": True}}),
    ("POST", "/rooms/{room_id}/code"): (MEMBERS, {}),
    ("DELETE", "/rooms/{room_id}"): (MEMBERS, {}),
    ("POST", "/rooms/{room_id}/leave"): (GUESTS_TOO, {}),
    ("POST", "/rooms/{room_id}/knocks/{person_id}/admit"): (MEMBERS, {}),
    ("DELETE", "/rooms/{room_id}/knocks/{person_id}"): (MEMBERS, {}),
    ("DELETE", "/rooms/{room_id}/people/{person_id}"): (MEMBERS, {}),
    ("POST", "/rooms/{room_id}/chat"): (GUESTS_TOO, {"json": {"text": "x"}}),
    ("GET", "/rooms/{room_id}/chat"): (GUESTS_TOO, {}),
    ("GET", "/rooms/{room_id}/files"): (GUESTS_TOO, {}),
    ("POST", "/rooms/{room_id}/files"): (MEMBERS, {"json": {"shelf": ["x"]}}),
    ("GET", "/rooms/{room_id}/files/{file_id}/content"): (GUESTS_TOO, {}),
    ("GET", "/rooms/{room_id}/files/{file_id}/preview"): (GUESTS_TOO, {}),
    ("GET", "/rooms/{room_id}/files/{file_id}/picture/{size}/{version}"): (GUESTS_TOO, {}),
    ("GET", "/rooms/{room_id}/archive"): (GUESTS_TOO, {}),
    ("DELETE", "/rooms/{room_id}/files/{file_id}"): (GUESTS_TOO, {}),
    ("POST", "/drop/sessions"): (DROP, {"json": {}}),
    ("GET", "/drop/names/{name}"): (DROP, {}),
    ("GET", "/drop/sessions/{session_id}"): (DROP, {}),
    ("DELETE", "/drop/sessions/{session_id}"): (DROP, {}),
    ("POST", "/drop/sessions/{session_id}/members"): (DROP, {"json": {}}),
    ("DELETE", "/drop/sessions/{session_id}/members/{member_id}"): (DROP, {}),
    ("PUT", "/drop/sessions/{session_id}/door"): (DROP, {}),
    ("DELETE", "/drop/sessions/{session_id}/door"): (DROP, {}),
    ("PUT", "/drop/sessions/{session_id}/lock"): (DROP, {}),
    ("DELETE", "/drop/sessions/{session_id}/lock"): (DROP, {}),
    ("POST", "/drop/sessions/{session_id}/knocks"): (DROP, {"json": {}}),
    ("POST", "/drop/sessions/{session_id}/knocks/{knock_id}/tag"): (DROP, {"json": {"tag": "t" * 86}}),
    ("POST", "/drop/sessions/{session_id}/knocks/{knock_id}/share"): (DROP, {"json": {"share": "k" * 43}}),
    ("POST", "/drop/sessions/{session_id}/knocks/{knock_id}/verdict"): (DROP, {"json": {"refused": "code-dead"}}),
    ("POST", "/drop/sessions/{session_id}/files"): (DROP, {"json": {"files": [{"file_id": ID, **SEALED}]}}),
    ("DELETE", "/drop/sessions/{session_id}/files/{file_id}"): (DROP, {}),
    ("POST", "/drop/sessions/{session_id}/requests"): (
        DROP,
        {"json": {"request_id": ID, "file_id": ID, **KEY, **SEALED}},
    ),
    ("POST", "/drop/sessions/{session_id}/requests/{request_id}/acknowledge"): (
        DROP,
        {"json": {**KEY, **SEALED, "chunks": 1, "bytes": 1}},
    ),
    ("POST", "/drop/sessions/{session_id}/requests/{request_id}/decline"): (DROP, {"json": {"reason": "gone"}}),
    ("POST", "/drop/sessions/{session_id}/requests/{request_id}/progress"): (DROP, {"json": {"chunks": 1}}),
    ("POST", "/drop/sessions/{session_id}/requests/{request_id}/done"): (DROP, {"json": {"receipt": "k" * 43}}),
    ("DELETE", "/drop/sessions/{session_id}/requests/{request_id}"): (DROP, {}),
    ("GET", "/drop/sessions/{session_id}/requests/{request_id}/bytes"): (DROP, {}),
    ("PUT", "/drop/sessions/{session_id}/requests/{request_id}/bytes/{offset}"): (DROP, {"content": b"x"}),
    ("GET", "/people"): ({ADMIN}, {}),
    ("PATCH", "/people/{user_id}"): ({ADMIN}, {"json": {}}),
    ("POST", "/people/{user_id}/password-reset"): ({ADMIN}, {}),
    ("GET", "/people/{user_id}/deletion"): ({ADMIN}, {}),
    ("POST", "/people/{user_id}/deletion"): ({ADMIN}, {"json": {}}),
    ("POST", "/password-resets"): (EVERYBODY | {FORMER}, {"json": {"token": "x", "password": "12345678"}}),
    ("GET", "/storage"): ({ADMIN}, {}),
    ("GET", "/administration/housekeeping"): ({ADMIN}, {}),
}


async def callers(satchel: Satchel, number: int) -> dict[str, Caller]:
    """One of each kind, each with a session of their own that no other route has ended."""
    address = f"10.0.0.{number}"
    guest, member, former, admin = (satchel.caller(address) for _ in range(4))
    guest.tokens = {"access_token": (await guest("POST", "/guests", json={"name": "Gus"})).json()["token"]}
    for caller, email in ((member, "bob@example.org"), (former, "bob@example.org"), (admin, "ann@example.org")):
        assert (await caller.sign_in(email)).status_code == 201
    await member("DELETE", f"/sessions/{former.session_id}")
    return {STRANGER: satchel.caller(address), GUEST: guest, MEMBER: member, FORMER: former, ADMIN: admin}


async def test_every_route_is_written_down_here(satchel: Satchel) -> None:
    document = (await satchel.caller()("GET", "/openapi.json")).json()
    declared = {
        (method.upper(), path.removeprefix("/api/v1"))
        for path, operations in document["paths"].items()
        if path.startswith("/api/v1/")
        for method in operations
        if method != "parameters"
    }
    assert declared == set(ACCESS)


def slice_of(path: str) -> str:
    return path.split("/")[1]


@pytest.mark.parametrize("beginning", sorted({slice_of(path) for _, path in ACCESS}))
@pytest.mark.usefixtures("bob")
async def test_a_route_lets_in_whom_it_should_and_nobody_else(satchel: Satchel, beginning: str) -> None:
    routes = [route for route in ACCESS if slice_of(route[1]) == beginning]
    for number, (method, path) in enumerate(routes):
        for kind, caller in (await callers(satchel, number)).items():
            await check(method, path, kind, caller)


async def check(method: str, path: str, kind: str, caller: Caller) -> None:
    welcome, request = ACCESS[method, path]
    answer = await caller(method, re.sub(r"\{\w+\}", "x", path), **request)
    about = (method, path, kind, answer.text)
    # Who is let in meets the use case itself, which may still refuse what was sent, know nothing called `x`, or send on
    # a browser that left its page.
    if kind in welcome:
        assert answer.is_success or answer.status_code in (303, 404, 422), about
    else:
        known = {MEMBER, GUEST} if (method, path) in OF_ONESELF else {MEMBER}
        assert answer.status_code == (403 if kind in known and welcome == {ADMIN} else 401), about
        assert answer.headers["content-type"] == "application/problem+json", about
        assert method == "HEAD" or answer.json()["detail"], about
