"""Announces files, whose bytes stay with their owner, and withdraws them."""

from collections.abc import Mapping
from dataclasses import dataclass

from satchel.features.drop.events import FilesAnnounced
from satchel.features.drop.model import (
    KEPT,
    MAX_ANNOUNCED_BYTES,
    MAX_FILES,
    MAX_SEALED_BYTES,
    FileId,
    FileUnknown,
    FileView,
    StateFull,
    TooManyFiles,
    is_id,
)
from satchel.features.drop.records import FILE, FILES
from satchel.features.drop.service.context import Caller, Drop, in_parts, missing, still_there, tell_members
from satchel.features.drop.service.session_leave import withdraw
from satchel.features.drop.service.state_budget import enter, strike
from satchel.kernel.errors import Conflict, Forbidden
from satchel.stores.ports.ephemeral import Delete, Expire, HashGet, HashPut, SetAdd, SetAll, SetRemove, SetSize

# An encrypted text as it is stored, in base64.
_LONGEST = -(-MAX_SEALED_BYTES * 4 // 3)


@dataclass(frozen=True, slots=True)
class Announcement:
    """A file to announce. Its owner has encrypted its name and size."""

    file_id: FileId
    sealed: str


async def announce(drop: Drop, caller: Caller, announcements: list[Announcement]) -> None:
    """Announce all files, or none. For a file that the caller has announced before, this replaces the description."""
    session_id, owner_id = caller.session_id, caller.member_id
    latest = {each.file_id: each for each in announcements}
    new = await _claim(drop, caller, list(latest))
    await _check_size(drop, caller, latest, new)
    try:
        await enter(drop, session_id, "file", {each.file_id: each.sealed for each in latest.values()})
    except StateFull:
        await _release_ids(drop, caller, new)
        raise
    keys = {file_id: FILE(session_id=session_id, file_id=file_id) for file_id in latest}
    owned = {"owner.id": owner_id.encode()}
    writes = [HashPut(keys[each.file_id], {"name": each.sealed.encode(), **owned}) for each in latest.values()]
    await in_parts(drop, [command for write in writes for command in (write, Expire(write.key, KEPT))])
    found, member, _ = await drop.ephemeral.together(*still_there(caller), Expire(FILES(session_id=session_id), KEPT))
    if found is None or member is None:
        await in_parts(drop, [Delete(key) for key in keys.values()])
        await strike(drop, session_id, latest, "file")
        await _release_ids(drop, caller, new)
        raise missing()
    views = [FileView(file_id=each.file_id, owner_id=owner_id, sealed=each.sealed) for each in latest.values()]
    await tell_members(drop, session_id, FilesAnnounced(files=views))


async def withdraw_file(drop: Drop, caller: Caller, file_id: FileId) -> None:
    """Withdraw a file. Only its owner and the host may."""
    session_id = caller.session_id
    key = FILE(session_id=session_id, file_id=file_id)
    owner = await drop.ephemeral.run(HashGet(key, "owner.id")) if is_id(file_id) else None
    if owner is None:
        raise FileUnknown("This file is no longer offered.")
    if owner != caller.member_id.encode() and not caller.is_host:
        raise Forbidden("Only the member who offers this file, or the host of the session, can withdraw it.")
    await tell_members(drop, session_id, *await withdraw(drop, session_id, [file_id]))


async def _claim(drop: Drop, caller: Caller, file_ids: list[FileId]) -> list[FileId]:
    """Claim these ids for the caller, or raise and undo. Returns those that are new."""
    session_id = caller.session_id
    files = FILES(session_id=session_id)
    added: list[bool] = await in_parts(drop, [SetAdd(files, file_id) for file_id in file_ids])
    new = [file_id for file_id, is_new in zip(file_ids, added, strict=True) if is_new]
    old = [file_id for file_id, is_new in zip(file_ids, added, strict=True) if not is_new]
    owners = await in_parts(drop, [HashGet(FILE(session_id=session_id, file_id=each), "owner.id") for each in old])
    if any(owner != caller.member_id.encode() for owner in owners):
        await _release_ids(drop, caller, new)
        raise Conflict("Another member has announced a file with this id. Draw another id.")
    if await drop.ephemeral.run(SetSize(files)) > MAX_FILES:
        await _release_ids(drop, caller, new)
        raise TooManyFiles(
            f"A session can have at most {MAX_FILES} files. Withdraw some, or announce a folder as one.",
            limit=MAX_FILES,
        )
    return new


async def _check_size(drop: Drop, caller: Caller, latest: Mapping[FileId, Announcement], new: list[FileId]) -> None:
    """Refuse announcements that exceed the limit together, and undo."""
    session_id = caller.session_id
    others = await drop.ephemeral.run(SetAll(FILES(session_id=session_id))) - latest.keys()
    size = sum(len(each.sealed) for each in latest.values())
    if size + len(others) * _LONGEST > MAX_ANNOUNCED_BYTES:
        keys = [FILE(session_id=session_id, file_id=each) for each in others]
        size += sum(len(text or b"") for text in await in_parts(drop, [HashGet(key, "name") for key in keys]))
    if size > MAX_ANNOUNCED_BYTES:
        await _release_ids(drop, caller, new)
        raise TooManyFiles(
            f"The announcements of a session can have at most {MAX_ANNOUNCED_BYTES} bytes. Withdraw some first.",
            limit_bytes=MAX_ANNOUNCED_BYTES,
        )


async def _release_ids(drop: Drop, caller: Caller, file_ids: list[FileId]) -> None:
    files = FILES(session_id=caller.session_id)
    await in_parts(drop, [SetRemove(files, file_id) for file_id in file_ids])
