"""What the tests of scores are given: scores over HTTP, pages that are uploaded, and what stands in the table."""

from typing import Any

import httpx

from satchel.features.scores.model import read_id
from satchel.kernel import ink
from satchel.stores.ports.table import Item
from satchel.tables import SCORES
from tests.application import Caller, Satchel
from tests.media.samples import jpeg
from tests.uploads.given import SENDS, TUS, pairs

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 50


async def created(caller: Caller, title: str = "Abendlied", **more: Any) -> dict[str, Any]:
    answer = await caller("POST", "/scores", json={"title": title, **more})
    assert answer.status_code == 201, answer.text
    return answer.json()


async def read(caller: Caller, score: dict[str, Any] | str) -> dict[str, Any]:
    score_id = score if isinstance(score, str) else score["score_id"]
    answer = await caller("GET", f"/scores/{score_id}")
    assert answer.status_code == 200, answer.text
    return answer.json()


async def changed(caller: Caller, score: dict[str, Any], etag: str | None = None, **patch: Any) -> httpx.Response:
    headers = {"if-match": f'"{etag or score["etag"]}"'}
    return await caller("PATCH", f"/scores/{score['score_id']}", json=patch, headers=headers)


async def paged(caller: Caller, score: dict[str, Any], *pages: dict[str, Any], etag: str = "*") -> httpx.Response:
    headers = {"if-match": etag if etag == "*" else f'"{etag}"'}
    return await caller("PUT", f"/scores/{score['score_id']}/pages", json={"pages": pages}, headers=headers)


async def upload(caller: Caller, content: bytes, name: str = "p1.jpg", **details: str) -> httpx.Response:
    metadata = pairs(destination="score", filename=name, filetype="image/jpeg", **details)
    headers = {**SENDS, **TUS, "upload-length": str(len(content)), "upload-metadata": metadata}
    return await caller("POST", "/uploads", headers=headers, content=content)


async def sent(caller: Caller, content: bytes, name: str = "p1.jpg", **details: str) -> str:
    """What an uploaded page became."""
    answer = await upload(caller, content, name, **details)
    assert answer.status_code == 201, answer.text
    state = (await caller("GET", answer.headers["location"].removeprefix("/api/v1"))).json()
    assert state["became"], state
    return state["became"]


async def with_pages(caller: Caller, count: int = 2, **more: Any) -> dict[str, Any]:
    """A score with so many pages."""
    score = await created(caller, **more)
    for number in range(count):
        await sent(caller, jpeg() + bytes([number]), f"page {number}.jpg", score=score["score_id"])
    return await read(caller, score)


async def layered(caller: Caller, score: dict[str, Any], name: str = "Mine", **patch: Any) -> dict[str, Any]:
    answer = await caller("POST", f"/scores/{score['score_id']}/layers", json={"name": name})
    assert answer.status_code == 201, answer.text
    if patch:
        answer = await caller("PATCH", f"/scores/{score['score_id']}/layers/{answer.json()['layer_id']}", json=patch)
        assert answer.status_code == 200, answer.text
    return answer.json()


async def mark(caller: Caller, score: dict[str, Any], layer: dict[str, Any], key: str = "", **change: Any) -> Any:
    headers = {"idempotency-key": key} if key else {}
    path = f"/scores/{score['score_id']}/layers/{layer['layer_id']}/marks"
    return await caller("POST", path, json=change, headers=headers)


async def marked(caller: Caller, score: dict[str, Any], layer: dict[str, Any], **change: Any) -> dict[str, Any]:
    answer = await mark(caller, score, layer, **change)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def marks(caller: Caller, score: dict[str, Any]) -> dict[int, dict[str, Any]]:
    """The marks that somebody sees, by id."""
    answer = await caller("GET", f"/scores/{score['score_id']}/marks")
    assert answer.status_code == 200, answer.text
    return {each["mark_id"]: each for each in answer.json()["marks"]}


def pen(score: dict[str, Any], page: int = 0, **more: Any) -> dict[str, Any]:
    """A short stroke on a page, by its place."""
    stroke = ink.encode([(100, 100, 128), (200, 150, 130)])
    return {"page_id": score["pages"][page]["page_id"], "kind": "pen", "colour": "#d00000", "stroke": stroke, **more}


async def stored(satchel: Satchel, partition: str, sort: str) -> Item:
    """An item of the table as it is."""
    found = await satchel.stores.tables.get(SCORES, {"o": partition, "s": sort})
    assert found is not None, (partition, sort)
    return found


async def stored_score(satchel: Satchel, owner: Caller, score: dict[str, Any]) -> Item:
    return await stored(satchel, f"sc:{owner.user_id}", read_id(score["score_id"]) or "")


async def all_keys(satchel: Satchel, owner: Caller) -> list[tuple[str, str]]:
    """Every key that an owner has in the table of scores."""
    found: list[tuple[str, str]] = []
    for prefix in ("sc", "si", "sl"):
        page = await satchel.stores.tables.query(SCORES, f"{prefix}:{owner.user_id}", limit=1000)
        found += [(item["o"], item["s"]) for item in page.items]
    return found


def slug(answer: httpx.Response) -> str:
    return answer.json()["type"].removeprefix("/problems#")
