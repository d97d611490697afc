"""Visitors of living links follow a score live: what their link shows, while it holds, and in bounds."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.application import Caller, Satchel
from tests.edge.given import serving
from tests.features.links.given import given
from tests.features.scores.given import changed, layered, marked, pen, read, with_pages
from tests.features.scores.test_score_links import opened


@asynccontextmanager
async def following(port: int, path: str, params: dict[str, Any]) -> AsyncGenerator[ClientConnection]:
    url = f"ws://127.0.0.1:{port}/api/v1{path}/live?pass={params['pass']}"
    async with connect(url, proxy=None) as connection:
        assert (await heard(connection))["type"] == "hello"
        yield connection


async def heard(connection: ClientConnection) -> dict[str, Any]:
    async with asyncio.timeout(20):
        return msgspec.json.decode(await connection.recv())


async def ended(connection: ClientConnection) -> None:
    async with asyncio.timeout(20):
        with pytest.raises(ConnectionClosed):
            while True:
                await connection.recv()


async def refused(port: int, path: str, params: dict[str, Any]) -> int:
    with pytest.raises(InvalidStatus) as refusal:
        async with following(port, path, params):
            pass
    return refusal.value.response.status_code


async def test_a_living_link_follows_what_it_shows(satchel: Satchel, ann: Caller) -> None:
    score = await with_pages(ann, 2, title="Air")
    parts = [{"name": "Flute", "page_ids": [1]}, {"name": "Viola"}]
    score = (await changed(ann, score, parts=parts)).json()
    flute, _ = score["parts"]
    private, public = await layered(ann, score), await layered(ann, score, "All", published=True)
    of_violas = await layered(ann, score, "Violas", published=True, part_id=score["parts"][1]["part_id"])
    visitor = satchel.caller("192.0.2.1")
    whole_link = await given(ann, "score", score["link_thing"])
    whole = await opened(visitor, whole_link)
    part = await opened(visitor, await given(ann, "score", flute["link_thing"]))
    kept = (await ann("POST", f"/scores/{score['score_id']}/snapshots", json={"name": "Concert"})).json()
    frozen = await opened(visitor, await given(ann, "score", kept["link_thing"]))
    assert (await visitor("GET", f"{frozen[0]}/outline", params=frozen[1])).json()["link_thing"] == kept["link_thing"]
    async with serving(satchel.app) as port:
        assert await refused(port, *frozen) == 404
        assert await refused(port, whole[0], part[1]) in (401, 403, 410)
        async with following(port, *whole) as all_of_it, following(port, *part) as of_part:
            await marked(ann, score, private, add=[pen(score, 1)])
            await marked(ann, score, of_violas, add=[pen(score, 1)])
            await marked(ann, score, public, add=[pen(score), pen(score, 1)])
            assert (await heard(all_of_it))["layer_id"] == of_violas["layer_id"]
            event = await heard(all_of_it)
            assert (event["layer_id"], event["by"], len(event["added"])) == (public["layer_id"], "", 2)
            # Of the page that the part does not show, and of layers for others, it hears nothing.
            event = await heard(of_part)
            assert (event["layer_id"], event["seq"], [each["page_id"] for each in event["added"]]) == (
                public["layer_id"],
                1,
                [1],
            )
            for page_id in (0, 1):
                await ann("POST", f"/scores/{score['score_id']}/turn", json={"page_id": page_id})
            assert [(await heard(all_of_it))["page_id"] for _ in range(2)] == [0, 1]
            assert (await heard(of_part))["page_id"] == 1
            await changed(ann, await read(ann, score), title="New")
            assert (await heard(of_part))["type"] == (await heard(all_of_it))["type"] == "score.changed"
            # A link that is paused is followed no more.
            assert (await ann("PATCH", f"/links/{whole_link['link_id']}", json={"paused": True})).is_success
            await ended(all_of_it)
            await changed(ann, await read(ann, score), title="Newer")
            assert (await heard(of_part))["type"] == "score.changed"
        assert await refused(port, *whole) in (403, 404, 409, 410)
