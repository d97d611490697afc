"""Links that somebody has given, and what there is to give them to."""

from typing import Any

import httpx

from tests.application import Caller, Satchel
from tests.features.shelf.given import made, uploaded

CONTENT = b"what the link is for"


async def give(caller: Caller, kind: str, thing_id: str, **wishes: Any) -> httpx.Response:
    return await caller("POST", "/links", json={"thing": {"kind": kind, "id": thing_id}, **wishes})


async def given(caller: Caller, kind: str, thing_id: str, **wishes: Any) -> dict[str, Any]:
    """A new link as its owner sees it."""
    answer = await give(caller, kind, thing_id, **wishes)
    assert answer.status_code == 201, answer.text
    return answer.json()


async def given_file(satchel: Satchel, caller: Caller, **wishes: Any) -> dict[str, Any]:
    """A link to a new file."""
    file = await uploaded(satchel, caller, "file.txt", CONTENT)
    return await given(caller, "file", file.file_id, **wishes)


async def given_folder(satchel: Satchel, caller: Caller, *names: str, **wishes: Any) -> dict[str, Any]:
    """A link to a new folder with files of these names."""
    folder_id = await made(caller, "Folder")
    for name in names:
        await uploaded(satchel, caller, name, name.encode(), folder_id=folder_id)
    return await given(caller, "folder", folder_id, **wishes)


async def read(caller: Caller, link: dict[str, Any]) -> dict[str, Any]:
    answer = await caller("GET", f"/links/{link['link_id']}")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def change(caller: Caller, link: dict[str, Any], **wishes: Any) -> httpx.Response:
    return await caller("PATCH", f"/links/{link['link_id']}", json=wishes)


async def changed(caller: Caller, link: dict[str, Any], **wishes: Any) -> dict[str, Any]:
    answer = await change(caller, link, **wishes)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def listed(caller: Caller, **query: Any) -> list[str]:
    """Ids of the links that somebody has given, page by page."""
    found: list[str] = []
    while True:
        answer = await caller("GET", "/links", params=query)
        assert answer.status_code == 200, answer.text
        found += [link["link_id"] for link in answer.json()["links"]]
        query["cursor"] = answer.json()["cursor"]
        if query["cursor"] is None:
            return found


def slug(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["type"].rpartition("#")[2]
