"""When the disk is nearly full, strangers and guests are refused first, then members; deleting and signing in go on."""

from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest

from satchel.edge.api.disk_reserve import DiskReserve
from satchel.edge.http.callers import Guest, Member, Stranger
from tests.edge.given import ANN, GUS, Edge

GIGABYTE = 1024**3
MEGABYTE = 1024**2


@dataclass
class Disk:
    """A disk of 100 GB."""

    free: int = 50 * GIGABYTE

    def room(self, _folder: Path) -> tuple[int, int]:
        return self.free, 100 * GIGABYTE


@pytest.fixture
def disk() -> Disk:
    return Disk()


@pytest.fixture
def writing(edge: Edge, disk: Disk) -> Edge:
    router = edge.router()

    @router.post("/keep")
    async def keep(_who: Stranger | Guest | Member) -> None: ...

    @router.post("/enter", when_full=True)
    async def enter() -> None: ...

    @router.delete("/thing")
    async def remove(_who: Member) -> None: ...

    @router.get("/thing")
    async def look() -> None: ...

    edge.disk = DiskReserve(Path("/"), disk.room)
    return edge


async def statuses(edge: Edge) -> dict[str, int]:
    async with edge.client() as client:

        async def ask(method: str, path: str, **headers: str) -> int:
            answer: httpx.Response = await client.request(method, f"/api/v1{path}", headers=headers)
            return answer.status_code

        return {
            "stranger keeps": await ask("POST", "/keep"),
            "guest keeps": await ask("POST", "/keep", **edge.bearer(GUS)),
            "member keeps": await ask("POST", "/keep", **edge.bearer(ANN)),
            "member deletes": await ask("DELETE", "/thing", **edge.bearer(ANN)),
            "somebody signs in": await ask("POST", "/enter"),
            "somebody reads": await ask("GET", "/thing"),
        }


async def test_the_last_bytes_are_closed_to_strangers_first(writing: Edge, disk: Disk) -> None:
    assert set((await statuses(writing)).values()) == {204}
    disk.free = 100 * MEGABYTE
    assert [who for who, status in (await statuses(writing)).items() if status == 507] == [
        "stranger keeps",
        "guest keeps",
    ]
    disk.free = 60 * MEGABYTE
    refused = [who for who, status in (await statuses(writing)).items() if status == 507]
    assert refused == ["stranger keeps", "guest keeps", "member keeps"]
    disk.free = 0
    assert (await statuses(writing))["somebody signs in"] == 204
