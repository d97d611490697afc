"""Lists that are answered whole: few are made at once, and nobody waits for another who asks again and again."""

import asyncio

from satchel.edge.api.endpoints import Reply
from satchel.edge.api.turns import LISTS_AT_ONCE
from satchel.edge.http.callers import Guest, Member, Stranger
from tests.edge.given import ADA, ANN, Edge


async def test_of_one_person_one_list_is_made_at_once_and_of_all_a_few(edge: Edge) -> None:
    making: list[str] = []
    most: dict[str, int] = {}
    router = edge.router()

    @router.get("/list", whole_list=True)
    async def read(member: Member) -> list[str]:
        making.append(member.user_id)
        most["of all"] = max(most.get("of all", 0), len(making))
        most[member.user_id] = max(most.get(member.user_id, 0), making.count(member.user_id))
        for _ in range(5):
            await asyncio.sleep(0)
        making.remove(member.user_id)
        return ["a", "b"]

    people = [ANN, ADA, *(Member(f"m-{number}", f"{number}@example.org", "s") for number in range(4))]
    async with edge.client() as client:
        asked = [client.get("/api/v1/list", headers=edge.bearer(each)) for each in people for _ in range(6)]
        answers = await asyncio.gather(*asked)
    assert [answer.json() for answer in answers] == [["a", "b"]] * len(asked)
    assert most == {"of all": LISTS_AT_ONCE} | {each.user_id: 1 for each in people}


async def test_whoever_asks_again_and_again_keeps_nobody_else_waiting(edge: Edge) -> None:
    order: list[str] = []
    router = edge.router()

    @router.get("/list", whole_list=True)
    async def read(member: Member) -> list[str]:
        await asyncio.sleep(0)
        order.append(member.user_id)
        return []

    async with edge.client() as client:
        greedy = [asyncio.create_task(client.get("/api/v1/list", headers=edge.bearer(ANN))) for _ in range(40)]
        await asyncio.sleep(0)
        await client.get("/api/v1/list", headers=edge.bearer(ADA))
        assert order.index(ADA.user_id) <= 3
        await asyncio.gather(*greedy)


async def test_guests_and_strangers_of_one_network_take_turns_together(edge: Edge) -> None:
    making = most = 0
    router = edge.router()

    @router.get("/list", whole_list=True)
    async def read(_who: Stranger | Guest | Member) -> Reply[list[str]]:
        nonlocal making, most
        making += 1
        most = max(most, making)
        await asyncio.sleep(0)
        making -= 1
        return Reply(["a"], headers={"etag": '"1"'})

    guests = [edge.bearer(Guest(f"g-{number}", "Gus")) for number in range(5)]
    async with edge.client() as client:
        answers = await asyncio.gather(*(client.get("/api/v1/list", headers=each) for each in [{}, {}, *guests]))
    assert [(answer.json(), answer.headers["etag"]) for answer in answers] == [(["a"], '"1"')] * 7
    assert most == 1


async def test_a_list_that_fails_lets_the_next_one_be_made(edge: Edge) -> None:
    router, turns = edge.router(), iter(range(9))

    @router.get("/list", whole_list=True)
    async def read(_member: Member) -> list[int]:
        if (turn := next(turns)) < LISTS_AT_ONCE + 1:
            raise RuntimeError
        return [turn]

    async with edge.client() as client:
        answers = [await client.get("/api/v1/list", headers=edge.bearer(ANN)) for _ in range(LISTS_AT_ONCE + 2)]
    assert [answer.status_code for answer in answers] == [500] * (LISTS_AT_ONCE + 1) + [200]
