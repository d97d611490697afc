"""Something of everything that one person can have, and somebody who had a part in it once."""

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from satchel.media.records import VERSION
from tests.application import Caller, Satchel
from tests.features.albums.given import library_of
from tests.features.albums.photos_given import look_alike, photo, sent, shown
from tests.features.drop import given as drop
from tests.features.links.given import changed, given
from tests.features.rooms.given import guest
from tests.features.scores.given import layered, marked, pen, with_pages
from tests.features.shelf.given import made, replaced, uploaded
from tests.features.transfers.given import Room, by_email
from tests.media.given import make_pictures
from tests.media.made_files import movie
from tests.media.samples import jpeg, taken
from tests.uploads.given import TUS, pairs

FRIEND = "eve@example.org"


@dataclass
class Belongings:
    """What Bob has, by the names that routes give to its ids."""

    owner: Caller
    # Who was in the owner's room, and in the owner's drop session, until they were put out.
    former: Caller
    host: drop.Person
    put_out: drop.Person
    # By a part of the path, and by the name in braces; the longest part counts.
    ids: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])

    def filled(self, path: str) -> str:
        """A path with real ids; a name in it that is not known here is an error."""

        def real(found: re.Match[str]) -> str:
            known = [
                (len(part), value) for (part, name), value in self.ids.items() if name == found[1] and part in path
            ]
            assert known, f"add a real {found[1]} for {path} to tests/features/belongings.py"
            return max(known)[1]

        return re.sub(r"\{(\w+)\}", real, path)

    async def seen(self) -> dict[str, Any]:
        """All of it, as its owner sees it."""
        mine, room = self.owner, self.filled("/rooms/{room_id}")
        paths = [
            "/accounts/me",
            "/shelf/entries",
            "/shelf/bin",
            "/shelf/usage",
            "/links",
            "/counters",
            "/transfers",
            "/sessions",
        ]
        paths += [room, f"{room}/files", f"{room}/chat", "/clicks", "/scopes", "/scopes/granted"]
        paths += [
            self.filled(path) for path in ("/transfers/{transfer_id}", "/links/{link_id}", "/uploads/{upload_id}")
        ]
        paths += [self.filled("/shelf/entries?folder={folder_id}"), "/albums", "/albums/acts"]
        paths += [
            "/photos",
            "/photos/days",
            "/photos/usage",
            "/photos/duplicates",
            "/photos/bin",
            "/photos/undated",
            self.filled("/photos/{owner}/{media_id}"),
        ]
        paths += [self.filled(f"/albums/{{album_id}}{part}") for part in ("", "/medias", "/shares")]
        paths += [
            "/set-lists",
            *(self.filled(f"/set-lists/{{list_id}}{part}") for part in ("", "/shares")),
            "/scores",
            *(self.filled(f"/scores/{{score_id}}{part}") for part in ("", "/items", "/marks", "/shares")),
        ]
        answers = {path: await mine("GET", path) for path in paths}
        for path, answer in answers.items():
            assert answer.status_code == 200, (path, answer.text)
        files = [
            f"{beginning}/files/{{file_id}}/{way}"
            for beginning in ("/shelf", "/rooms/{room_id}")
            for way in ("content", "picture/{size}/{version}")
        ]
        files += [f"/photos/{{owner}}/{{media_id}}/{way}" for way in ("content", "picture/{size}/{version}")]
        files += [f"/scores/{{score_id}}/items/{{item_id}}/{way}" for way in ("content", "picture/{size}/{version}")]
        files.append("/scores/{score_id}/export")
        contents = {path: (await mine("GET", self.filled(path))).content for path in files}
        return {**{path: answer.json() for path, answer in answers.items()}, **contents, "drop": await self.host.look()}


async def belongings(satchel: Satchel, admin: Caller, owner: Caller) -> Belongings:
    former = satchel.caller("192.0.2.9")
    for email in (FRIEND, "dora@example.org"):
        assert (await former.sign_up(email)).status_code == 201
    host = await drop.opened(satchel)
    member, put_out = await drop.joined(satchel, host), await drop.joined(satchel, host)
    found = Belongings(owner, former, host, put_out)
    await _accounts(found, admin, owner)
    await _shelf(found, satchel, owner)
    await _room(found, satchel, owner)
    await _links(found, owner)
    await _drop(found, member)
    await _albums(found, satchel, owner)
    await _photos(found, satchel, owner)
    await _scores(found, owner)
    await make_pictures(satchel)
    return found


async def _accounts(found: Belongings, admin: Caller, owner: Caller) -> None:
    invitation = await admin("POST", "/invitations", json={})
    found.ids |= {
        ("/sessions", "session_id"): owner.session_id,
        ("/invitations", "invitation_id"): invitation.json()["invitation_id"],
        ("/people", "user_id"): owner.user_id,
        # Whoever knows an id may block it; this one nobody has.
        ("/contacts", "user_id"): "0" * 26,
    }


async def _shelf(found: Belongings, satchel: Satchel, owner: Caller) -> None:
    folder_id = await made(owner, "Folder")
    file = await uploaded(satchel, owner, "file.jpg", jpeg(), "image/jpeg")
    await uploaded(satchel, owner, "inside.txt", b"mine, too", folder_id=folder_id)
    binned = await uploaded(satchel, owner, "binned.txt", b"binned")
    earlier = await uploaded(satchel, owner, "file.txt", b"earlier")
    instead = await replaced(satchel, owner, earlier, b"later")
    assert (await owner("DELETE", f"/shelf/files/{binned.file_id}")).is_success
    headers = {**TUS, "upload-length": "9", "upload-metadata": pairs(destination="shelf", filename="half.txt")}
    begun = await owner("POST", "/uploads", headers=headers)
    assert begun.status_code == 201, begun.text
    selection = await owner("POST", "/shelf/selections", json={"files": [file.file_id], "folders": [folder_id]})
    found.ids |= {
        ("/shelf", "selection_id"): selection.json()["selection_id"],
        ("/picture", "size"): "grid",
        ("/picture", "version"): VERSION,
        ("/shelf", "folder_id"): folder_id,
        ("/shelf", "file_id"): file.file_id,
        ("/versions", "file_id"): earlier.file_id,
        ("/versions", "version_id"): instead.replaced_by,
        ("/shelf/bin", "entry_id"): binned.file_id,
        ("/uploads", "upload_id"): begun.headers["location"].rpartition("/")[2],
        ("/transfers", "transfer_id"): (await by_email(owner, file.file_id, to=FRIEND))["transfer_id"],
        ("/transfers", "place"): "0",
    }


async def _room(found: Belongings, satchel: Satchel, owner: Caller) -> None:
    opened = (await owner("POST", "/rooms", json={})).json()
    gus = await guest(satchel)
    room = Room(satchel, owner, owner, gus, opened["room_id"], opened["code"])
    for caller in (gus, found.former):
        await room.join(caller)
    brought = await room.bring(owner, "brought.jpg", jpeg())
    assert (await owner("POST", f"/rooms/{room.room_id}/chat", json={"text": "hello"})).is_success
    put_out = await owner("DELETE", f"/rooms/{room.room_id}/people/{found.former.user_id}")
    assert put_out.is_success, put_out.text
    found.ids |= {
        ("/rooms", "room_id"): room.room_id,
        ("/rooms", "person_id"): gus.user_id,
        ("/rooms", "file_id"): brought,
    }


async def _links(found: Belongings, owner: Caller) -> None:
    """One that is open to whom it was given, and one that was withdrawn, as was its badge."""
    folder_id = found.ids["/shelf", "folder_id"]
    link, withdrawn = await given(owner, "folder", folder_id), await given(owner, "folder", folder_id)
    badge = (await changed(owner, withdrawn, badge=True))["badge_address"].rpartition("/")[2]
    counter = (await owner("POST", "/counters", json={"origins": ["https://a.example"]})).json()["counter_id"]
    inside = (await owner("GET", "/shelf/entries", params={"folder": folder_id})).json()["entries"][0]["id"]
    assert (await owner("DELETE", f"/links/{withdrawn['link_id']}")).status_code == 204
    found.ids |= {
        ("/links", "link_id"): link["link_id"],
        # One is there only for a download that was broken off: tests/features/links/test_download_grants.py has some.
        ("/links", "place_id"): "0" * 26,
        ("/stats", "scope"): f"link:{link['link_id']}",
        ("/counters", "counter_id"): counter,
        ("/badges", "badge_id"): badge,
        ("/open", "token"): withdrawn["address"].rpartition("/")[2],
        ("/open", "file_id"): inside,
        ("/open", "version"): VERSION,
    }


async def _albums(found: Belongings, satchel: Satchel, owner: Caller) -> None:
    """One with a pinned photo, which was shared with somebody until they were put out."""
    library = library_of(satchel, owner, "bob@example.org")
    (media_id,) = await library.add("2025-07-14T12:00:00.000")
    body = {"name": "Sea", "start": "2025-07-10", "end": "2025-07-20"}
    made = (await owner("POST", "/albums", json=body)).json()
    album = f"/albums/{made['album']['album_id']}"
    assert (await owner("PUT", f"{album}/pins/{media_id}")).is_success
    for email in ("dora@example.org", "friend@example.org"):
        assert (await owner("PUT", f"{album}/shares/{email}", json={})).is_success
    assert (await owner("DELETE", f"{album}/shares/dora@example.org")).is_success
    found.ids |= {
        ("/albums", "album_id"): made["album"]["album_id"],
        ("/albums", "folder"): made["album"]["folder"],
        ("/albums", "act_id"): made["act"]["act_id"],
        ("/albums", "media_id"): media_id,
        ("/albums", "email"): "friend@example.org",
    }


async def _photos(found: Belongings, satchel: Satchel, owner: Caller) -> None:
    """A live photo in the album that was shared, one in the bin, and two that look alike."""
    moment = datetime(2025, 7, 14, 10, 0, 1, tzinfo=UTC)
    media_id = await sent(owner, taken("2025:07:14 11:00:00"), "IMG_1.JPG")
    assert await sent(owner, movie(moment), "IMG_1.MOV") == media_id
    binned = await sent(owner, photo(mark="binned"), "binned.jpg")
    assert (await owner("DELETE", f"/photos/{owner.user_id}/{binned}")).is_success
    seen = await shown(owner, media_id)
    twins = [await sent(owner, photo(mark=mark), f"{mark}.jpg") for mark in ("one", "two")]
    await look_alike(satchel, owner, *twins)
    choice = await owner("POST", "/photos/choices", json={"medias": [media_id]})
    found.ids |= {
        ("/photos", "choice_id"): choice.json()["choice_id"],
        ("/photos", "group_id"): min(twins),
        ("/photos", "owner"): owner.user_id,
        ("/photos", "media_id"): media_id,
        ("/photos", "part_id"): seen["parts"][0]["id"],
    }


async def _scores(found: Belongings, owner: Caller) -> None:
    """One with a page and a mark on it, which was shared with somebody until they were put out."""
    score = await with_pages(owner, 1)
    layer = await layered(owner, score)
    await marked(owner, score, layer, add=[pen(score)])
    for email in ("dora@example.org", "friend@example.org"):
        shared = await owner("PUT", f"/scores/{score['score_id']}/shares/{email}", json={"role": "editor"})
        assert shared.is_success, shared.text
    assert (await owner("DELETE", f"/scores/{score['score_id']}/shares/dora@example.org")).is_success
    snapshot = await owner("POST", f"/scores/{score['score_id']}/snapshots", json={"name": "Concert"})
    entries = [{"score_id": score["score_id"], "notes": "slowly"}]
    set_list = (await owner("POST", "/set-lists", json={"name": "Concert", "entries": entries})).json()
    for email in ("dora@example.org", "friend@example.org"):
        assert (await owner("PUT", f"/set-lists/{set_list['list_id']}/shares/{email}")).is_success
    assert (await owner("DELETE", f"/set-lists/{set_list['list_id']}/shares/dora@example.org")).is_success
    found.ids |= {
        ("/set-lists", "list_id"): set_list["list_id"],
        ("/set-lists", "email"): "friend@example.org",
        ("/scores", "snapshot_id"): snapshot.json()["snapshot_id"],
        ("/scores", "email"): "friend@example.org",
        ("/scores", "score_id"): score["score_id"],
        ("/scores", "layer_id"): str(layer["layer_id"]),
        ("/scores", "item_id"): score["pages"][0]["item"]["item_id"],
    }


async def _drop(found: Belongings, member: drop.Person) -> None:
    host, put_out = found.host, found.put_out
    file_id = await drop.announced(host)
    request_id = await drop.acknowledged(host, await drop.asked(member, file_id))
    assert (await host("DELETE", f"/members/{put_out.member_id}")).is_success
    found.ids |= {
        ("/drop", "session_id"): host.session_id,
        ("/drop", "member_id"): member.member_id,
        ("/drop", "file_id"): file_id,
        ("/drop", "request_id"): request_id,
        ("/drop", "offset"): "0",
        # One lives only while both sides wait for each other: tests/features/drop/test_door.py has real ones.
        ("/drop", "knock_id"): drop.new_id(),
    }
