"""Repairs what a crash left in a room: bytes counted for no file, names without a file, people who are elsewhere.

Of a journal entry only the object and the name are used. How often each should be counted is computed again, in one
step. So it does not matter how far the operation got, and a repair that crashes can be repeated.
"""

from collections.abc import Callable
from datetime import timedelta

from satchel.features.rooms.model import FileId, PersonId, RoomId
from satchel.features.rooms.records import (
    FILE_JOURNAL,
    FILES,
    MEMBERS,
    NAMES,
    PEOPLE,
    REFS,
    REPAIR_LEASE,
    WHEREABOUTS,
    JournalRow,
    decode_file,
    decode_journal,
    decode_person,
    object_name,
)
from satchel.features.rooms.service.context import CUT_OFF_AFTER, Rooms
from satchel.features.rooms.service.membership import member_removal
from satchel.features.rooms.service.room_blobs import free_unless_counted
from satchel.features.rooms.service.room_files import claim_of, complete
from satchel.kernel.clock import iso
from satchel.kernel.names import FileName
from satchel.stores.patterns.lease import EphemeralLease
from satchel.stores.ports.ephemeral import (
    Get,
    HashAll,
    HashDelete,
    HashIncrement,
    HashPut,
    SetAdd,
    SetRemove,
)

_LEASE = timedelta(minutes=1)


async def repair_rooms(rooms: Rooms) -> int:
    """Repair operations that are too old to be still running, in rooms that somebody changed. Returns how many."""
    long_ago = iso(rooms.clock() - CUT_OFF_AFTER.total_seconds())

    def is_cut_off(entry: JournalRow) -> bool:
        return entry.at <= long_ago

    repaired = 0
    for due in await rooms.repairs.look():
        room_id = RoomId(due.name)
        repaired += await _repair(rooms, room_id, is_cut_off)
        repaired += await _remove_people_who_are_elsewhere(rooms, room_id, long_ago)
        if not await _has(rooms, room_id, is_cut_off):
            await rooms.ephemeral.run(rooms.repairs.removing(due))
    return repaired


async def repair_file(rooms: Rooms, room_id: RoomId, file_id: FileId) -> None:
    """Repair a crashed attempt to add this file, for the one caller that is about to add it again."""
    await _repair(rooms, room_id, lambda entry: entry.file_id == file_id)


async def _repair(rooms: Rooms, room_id: RoomId, is_cut_off: Callable[[JournalRow], bool]) -> int:
    if not await _has(rooms, room_id, is_cut_off):
        return 0
    lease = EphemeralLease(rooms.ephemeral, REPAIR_LEASE(room_id=room_id), _LEASE)
    if not await lease.take():
        return 0
    try:
        return await _repair_locked(rooms, room_id, is_cut_off)
    finally:
        await lease.release()


async def _has(rooms: Rooms, room_id: RoomId, is_cut_off: Callable[[JournalRow], bool]) -> bool:
    journal = await rooms.ephemeral.run(HashAll(FILE_JOURNAL(room_id=room_id)))
    return any(is_cut_off(decode_journal(each)) for each in journal.values())


async def _repair_locked(rooms: Rooms, room_id: RoomId, is_cut_off: Callable[[JournalRow], bool]) -> int:
    rows = await rooms.ephemeral.run(HashAll(FILES(room_id=room_id)))
    files = await complete(rooms, room_id, {FileId(file_id): decode_file(row) for file_id, row in rows.items()})
    journal, found, counts = await rooms.ephemeral.together(
        HashAll(FILE_JOURNAL(room_id=room_id)), HashAll(FILES(room_id=room_id)), HashAll(REFS(room_id=room_id))
    )
    if found.keys() != {file.file_id for file in files}:
        return 0  # changed since it was read: next time
    entries = {entry_id: decode_journal(each) for entry_id, each in journal.items()}
    cut_off = {entry_id: entry for entry_id, entry in entries.items() if is_cut_off(entry)}
    running = [entry for entry_id, entry in entries.items() if entry_id not in cut_off]
    held = [file.row.object_id for file in files] + [entry.object_id for entry in running if entry.holds]
    for entry in cut_off.values():
        count = counts.pop(object_name(entry.sha256, entry.object_id), None)
        if count is not None:
            await _correct_count(rooms, room_id, entry, int(count) - held.count(entry.object_id))
    used = {claim_of(FileName(file.name), file.row) for file in files} | {entry.claim for entry in running}
    await rooms.ephemeral.together(
        *(SetRemove(NAMES(room_id=room_id), claim) for claim in {entry.claim for entry in cut_off.values()} - used),
        *(HashDelete(FILE_JOURNAL(room_id=room_id), entry_id) for entry_id in cut_off),
    )
    return len(cut_off)


async def _correct_count(rooms: Rooms, room_id: RoomId, entry: JournalRow, too_many: int) -> None:
    """Correct a count. Others may change it meanwhile, so the surplus is subtracted instead of a value set."""
    name = object_name(entry.sha256, entry.object_id)
    await rooms.ephemeral.run(HashIncrement(REFS(room_id=room_id), name, -too_many))
    await free_unless_counted(rooms, room_id, entry.sha256, entry.object_id, entry.size_bytes)


async def _remove_people_who_are_elsewhere(rooms: Rooms, room_id: RoomId, long_ago: str) -> int:
    """A join adds a person before it removes them from the previous room. After a crash in between, undo the join."""
    people = await rooms.ephemeral.run(HashAll(PEOPLE(room_id=room_id)))
    settled = [person_id for person_id, row in people.items() if decode_person(row).joined_at <= long_ago]
    places = [Get(WHEREABOUTS(person_id=person_id)) for person_id in settled]
    found = await rooms.ephemeral.together(*places) if places else ()
    elsewhere = [person_id for person_id, where in zip(settled, found, strict=True) if where != room_id.encode()]
    for person_id in map(PersonId, elsewhere):
        where, *_ = await rooms.ephemeral.together(
            Get(WHEREABOUTS(person_id=person_id)), *member_removal(room_id, person_id)
        )
        if where == room_id.encode():
            # They have just joined, for good.
            await rooms.ephemeral.together(
                SetAdd(MEMBERS(room_id=room_id), person_id),
                HashPut(PEOPLE(room_id=room_id), {person_id: people[person_id]}),
            )
    return len(elsewhere)
