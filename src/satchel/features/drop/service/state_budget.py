"""How much memory the state of sessions takes, and the refusal of what would exceed its share.

Every thing in a session is entered with its size under its own name. To enter it twice, or to take it away twice, makes
no difference, so that nothing has to be undone after a crash. What a session takes is charged to the network that
opened it, and to the wider networks around that. The last quarter of the server's memory is for networks that have
taken little: however much others have taken, people can still open a session.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

from satchel.features.drop.model import (
    KEPT,
    MAX_NETWORK_BYTES,
    MAX_RECEIPTS,
    MAX_SERVER_BYTES,
    MAX_SESSION_BYTES,
    MAX_SMALL_BYTES,
    MAX_WIDE_NETWORK_BYTES,
    MemberId,
    SessionId,
    StateFull,
)
from satchel.features.drop.records import SIZES, TOTALS
from satchel.features.drop.service.context import Drop, in_parts, is_open
from satchel.stores.patterns.throttle import networks_of
from satchel.stores.ports.ephemeral import Command, Expire, HashAll, HashDelete, HashGet, HashPut

Kind = Literal["member", "file", "request", "answer"]
# What the store itself needs for each: keys, sets, expiries. Texts are counted twice, because a journal has them too.
# A member includes all the receipts that may wait for them.
_OVERHEAD_BYTES: Mapping[Kind, int] = {
    "member": 2000 + MAX_RECEIPTS * 120,
    "file": 1000,
    "request": 3000,
    "answer": 500,
}


async def open_account(drop: Drop, session_id: SessionId, network: str, member_id: MemberId, sealed: str) -> None:
    """Charge a new session, with its host, to this network. Raises `StateFull` if there is no room for another."""
    await drop.ephemeral.run(HashPut(TOTALS(), {session_id: f"0@{network}".encode()}))
    try:
        await enter(drop, session_id, "member", {member_id: sealed})
    except StateFull:
        await drop.ephemeral.run(close_account(session_id))
        raise


async def enter(drop: Drop, session_id: SessionId, kind: Kind, sealed: Mapping[str, str]) -> None:
    """Enter things by their ids, with their sealed texts, before they are stored. Raises `StateFull`, and undoes."""
    sizes = SIZES(session_id=session_id)
    entered = {f"{kind}:{each}": _size(kind, text) for each, text in sealed.items()}
    fields = {name: str(size).encode() for name, size in entered.items()}
    before, _, _, after = await drop.ephemeral.together(
        HashAll(sizes), HashPut(sizes, fields), Expire(sizes, KEPT), HashAll(sizes)
    )
    taken = sum(map(int, after.values()))
    try:
        if taken > MAX_SESSION_BYTES:
            raise _full("session", MAX_SESSION_BYTES)
        await _note_total(drop, session_id, taken)
        if taken > sum(map(int, before.values())):
            await _refuse_if_full(drop, session_id, taken)
    except StateFull:
        kept = {name: before[name] for name in fields if name in before}
        undo: list[Command[Any]] = [HashDelete(sizes, name) for name in fields if name not in before]
        await in_parts(drop, [*undo, *([HashPut(sizes, kept)] if kept else [])])
        await _note_total(drop, session_id, sum(map(int, before.values())))
        raise


async def strike(drop: Drop, session_id: SessionId, ids: Iterable[str], *kinds: Kind) -> None:
    """Take things away that are gone."""
    sizes = SIZES(session_id=session_id)
    if names := [f"{kind}:{each}" for each in ids for kind in kinds]:
        await in_parts(drop, [HashDelete(sizes, name) for name in names])
        left = await drop.ephemeral.run(HashAll(sizes))
        await _note_total(drop, session_id, sum(map(int, left.values())))


def close_account(session_id: SessionId) -> Command[bool]:
    return HashDelete(TOTALS(), session_id)


async def _note_total(drop: Drop, session_id: SessionId, taken: int) -> None:
    noted = await drop.ephemeral.run(HashGet(TOTALS(), session_id))
    if noted is not None:
        network = noted.partition(b"@")[2]
        await drop.ephemeral.run(HashPut(TOTALS(), {session_id: b"%d@%b" % (taken, network)}))


async def _refuse_if_full(drop: Drop, session_id: SessionId, taken: int) -> None:
    if not await _is_full(drop, session_id, taken):
        return
    totals = await drop.ephemeral.run(HashAll(TOTALS()))
    found = await in_parts(drop, [is_open(SessionId(each)) for each in totals])
    over = [each for each, code in zip(totals, found, strict=True) if code is None and each != session_id]
    await in_parts(drop, [HashDelete(TOTALS(), each) for each in over])
    if limit := await _is_full(drop, session_id, taken):
        raise limit


async def _is_full(drop: Drop, session_id: SessionId, taken: int) -> StateFull | None:
    totals = await drop.ephemeral.run(HashAll(TOTALS()))
    mine = _networks(totals.get(session_id, b""))
    of_all, of_networks = 0, dict.fromkeys(mine, 0)
    for each, noted in totals.items():
        number = taken if each == session_id else int(noted.partition(b"@")[0])
        of_all += number
        for network in of_networks.keys() & set(_networks(noted)):
            of_networks[network] += number
    if of_networks[mine[0]] > MAX_NETWORK_BYTES:
        return _full("network", MAX_NETWORK_BYTES)
    if (most := max(of_networks.values())) > MAX_WIDE_NETWORK_BYTES:
        return _full("network", MAX_WIDE_NETWORK_BYTES)
    limit = MAX_SERVER_BYTES if most <= MAX_SMALL_BYTES else MAX_SERVER_BYTES * 3 // 4
    return _full("server", limit) if of_all > limit else None


def _networks(noted: bytes) -> list[str]:
    """The networks that a session is charged to, the narrowest first."""
    narrowest = noted.partition(b"@")[2].decode()
    return [network for network, _ in networks_of(narrowest.partition("/")[0])]


def _size(kind: Kind, text: str) -> int:
    return _OVERHEAD_BYTES[kind] + 2 * len(text)


def _full(what: Literal["session", "network", "server"], limit_bytes: int) -> StateFull:
    whose = {
        "session": "This session has",
        "network": "The sessions of your network have",
        "server": "All sessions have",
    }
    return StateFull(
        f"{whose[what]} taken all the memory there is for them. Withdraw something, or wait until requests have ended.",
        limit=what,
        limit_bytes=limit_bytes,
    )
