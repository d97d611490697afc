"""What clients do so that being cut off costs them nothing but time."""

from datetime import timedelta

from tests.faults.scenes import World
from tests.uploads.given import SENDS, TUS, pairs

BRIEFLY = timedelta(seconds=6)


async def send(world: World, who: str, name: str, content: bytes, **described: str) -> str:
    """Upload in two steps, under one key, from wherever the server has got to; the id of what became of it."""
    caller = world[who]
    announced = {
        **TUS,
        "upload-length": str(len(content)),
        "upload-metadata": pairs(filename=name, **described),
        "idempotency-key": name.replace(".", "-"),
    }
    while (begun := await caller("POST", "/uploads", headers=announced)).status_code == 423:
        world.satchel.clock.advance(BRIEFLY)
    assert begun.status_code == 201, begun.text
    world.acknowledge(f"{name} is begun")
    url = begun.headers["location"].removeprefix("/api/v1")
    offset = int(begun.headers["upload-offset"])
    for end in (len(content) // 2, len(content)):
        if offset < end:
            headers = {**SENDS, "upload-offset": str(offset)}
            sent = await caller("PATCH", url, headers=headers, content=content[offset:end])
            assert sent.status_code == 204, sent.text
            offset = end
            world.acknowledge(f"{name} has {end} bytes")
    return (await caller("GET", url)).json()["became"]
