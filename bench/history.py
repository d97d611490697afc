"""Whether looking back costs more the more there is to look back on: a page of a long and of a short history."""

import time
from collections.abc import Iterator, Mapping

import httpx

from bench.figures import Figure, Sample, at_least, compare
from bench.processes import scratch_folder
from bench.rounds import Effort, Measure, in_turn
from bench.satchel_server import PASSWORD, SatchelServer, satchel_server
from satchel.config import Settings
from satchel.features.transfers.model import Direction, PersonId, TransferFile, TransferId
from satchel.features.transfers.records import (
    POINTER,
    RECEIPT,
    RECEIVED,
    SENT,
    TRANSFER,
    PointerRow,
    ReceiptRow,
    TransferRow,
    as_person,
)
from satchel.kernel.clock import ManualClock, iso, system_clock
from satchel.kernel.ids import new_id
from satchel.stores.connect import open_tables
from satchel.stores.ports.table import Item

_SHORT = 100
_PAGES_A_ROUND = 10
_ROUNDS = 20
_AT_ONCE = 5_000
_OTHER = PersonId("somebody-else")


async def measure(effort: Effort) -> list[Figure]:
    lengths = {"long": effort.small_requests * 10, "short": _SHORT}
    with scratch_folder() as folder:
        with satchel_server(folder) as server:
            people = {name: _person(server, name) for name in lengths}
        await _fill(server.settings, {people[name]: length for name, length in lengths.items()})
        with satchel_server(folder) as server:
            clients = {name: _signed_in(server, name) for name in lengths}
            figures = [await _compared(clients, lengths["long"], which) for which in ("all", "received")]
            for client in clients.values():
                await client.aclose()
    return figures


async def _compared(clients: Mapping[str, httpx.AsyncClient], length: int, which: str) -> Figure:
    contestants = {name: _first_pages(client, which) for name, client in clients.items()}
    for contestant in contestants.values():
        await contestant()
    samples = await in_turn(f"history, {which}", _ROUNDS, contestants)
    return compare(
        f"first page of {length:,} transfers ({which})",
        "pages/s",
        samples,
        ours="long",
        peer="short",
        target=at_least(0.67),
        note=f"50 lines a page over HTTP, one at a time; beside it the first page of {_SHORT}.",
    )


def _first_pages(client: httpx.AsyncClient, which: str) -> Measure:
    async def run() -> Sample:
        started = time.perf_counter()
        for _ in range(_PAGES_A_ROUND):
            answer = await client.get("/api/v1/transfers", params={"direction": which})
            if answer.status_code != 200 or len(answer.json()["transfers"]) != 50:
                raise RuntimeError(f"the history was answered with {answer.status_code}: {answer.text[:200]}")
        return Sample(_PAGES_A_ROUND, time.perf_counter() - started)

    return run


def _person(server: SatchelServer, name: str) -> PersonId:
    bearer = {"authorization": f"Bearer {server.sign_up(_email(name))}"}
    return PersonId(httpx.get(f"{server.url}/api/v1/whoami", headers=bearer).raise_for_status().json()["id"])


def _signed_in(server: SatchelServer, name: str) -> httpx.AsyncClient:
    body = {"email": _email(name), "password": PASSWORD}
    answer = httpx.post(f"{server.url}/api/v1/sessions", json=body, timeout=30).raise_for_status()
    token = answer.json()["tokens"]["access_token"]
    return httpx.AsyncClient(base_url=server.url, headers={"authorization": f"Bearer {token}"}, timeout=30)


def _email(name: str) -> str:
    return f"{name}@example.org"


async def _fill(settings: Settings, lengths: Mapping[PersonId, int]) -> None:
    """Straight into the table, while no server has it open: sending so much would take an hour."""
    tables = await open_tables(settings, system_clock)
    try:
        for person_id, length in lengths.items():
            items: list[Item] = []
            for item in _history(person_id, length):
                items.append(item)
                if len(items) >= _AT_ONCE:
                    await tables.write_many(TRANSFER.table, put=items)
                    items = []
            await tables.write_many(TRANSFER.table, put=items)
    finally:
        await tables.close()


def _history(person_id: PersonId, length: int) -> Iterator[Item]:
    """One sent, one received, and so on, a minute apart."""
    clock = ManualClock(system_clock() - length * 60)
    for number in range(length):
        clock.advance(60)
        direction: Direction = "sent" if number % 2 else "received"
        yield from _transfer(person_id, direction, TransferId(new_id(clock)), iso(clock()))


def _transfer(person_id: PersonId, direction: Direction, transfer_id: TransferId, at: str) -> Iterator[Item]:
    sender, receiver = (person_id, _OTHER) if direction == "sent" else (_OTHER, person_id)
    file = TransferFile(
        place=0,
        file_id=transfer_id,
        name="report.pdf",
        size_bytes=1234,
        content_type="application/pdf",
        sha256="0" * 64,
    )
    yield TRANSFER.item(
        TransferRow(
            transfer_id=transfer_id,
            sender=as_person(sender),
            sender_name="Ann",
            receiver=as_person(receiver),
            receiver_name="Bob",
            timestamp=at,
            file_names=[file.name],
            file_count=1,
            size_bytes=file.size_bytes,
            first_files=[file],
            offered=1,
        )
    )
    yield RECEIPT.item(
        ReceiptRow(transfer_id=transfer_id, person_id=receiver, name="Bob", state="offered", offered_at=at, version=1)
    )
    pointer = PointerRow(person_id=person_id, transfer_id=transfer_id, direction=direction, timestamp=at)
    yield POINTER.item(pointer)
    yield (SENT if direction == "sent" else RECEIVED).item(pointer)
