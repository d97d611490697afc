"""Uploads by a link: into the owner's folder or album, up to the link's size limit."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace

from satchel.features.links.events import LinkReceived
from satchel.features.links.model import MOST_RECEIVED_FILES, LinkFull, LinkUnknown
from satchel.features.links.records import ARRIVAL, LINK, ArrivalRow, LinkRow
from satchel.features.links.service import passes
from satchel.features.links.service.context import STANDING, Links
from satchel.features.links.service.link_find import find_link, token_of, usable
from satchel.features.links.service.visit_count import count
from satchel.kernel.errors import Conflict, OutOfSpace, SatchelError, Unavailable
from satchel.kernel.handed_file import HandedFile
from satchel.kernel.names import clean_name
from satchel.live import tell
from satchel.stores.patterns.optimistic_update import NEW, optimistic_update, update_from
from satchel.stores.ports.expressions import Condition, add, attr
from satchel.stores.ports.table import TransactionCancelled


async def admit(links: Links, token: str, shown: str, size_bytes: int) -> None:
    """Refuse a file that is not asked for, or exceeds a limit, before its upload begins."""
    # Before the link is looked up, or tokens could be guessed here without a limit.
    token = await token_of(links, token) or token
    passes.holder_of(links, token, shown)
    link = (await usable(links, token)).link
    passes.check(links, link, shown)
    _check_asks(link)
    _check_fits(link, size_bytes)
    try:
        await links.inboxes[link.kind].admit(link.owner_id, link.thing_id, size_bytes)
    except OutOfSpace:
        raise _out_of_space() from None


async def receive(links: Links, token: str, shown: str, file: HandedFile, details: Mapping[str, str]) -> str:
    """Store an admitted upload. Idempotent: a repeat returns the same file, which counts once."""
    token = await token_of(links, token) or token
    arrived = await ARRIVAL.get(links.tables, token=token, file_id=file.file_id) is not None
    link = await find_link(links, token) if arrived else (await usable(links, token)).link
    if not arrived:
        _check_asks(link)
        await _make_room(links, link, file)
    try:
        folder = f"{clean_name(details.get('uploader', '')) or ''}/{file.folder}".strip("/")
        inbox, named = links.inboxes[link.kind], replace(file, folder=folder)
        file_id = await inbox.keep(link.owner_id, link.thing_id, named, details)
    except SatchelError as error:
        await _free_room(links, link, file)
        if isinstance(error, OutOfSpace):
            raise _out_of_space() from error
        raise
    if not arrived:
        await count(links, link, passes.holder_of(links, token, shown).visitor_id, "upload")
        await _tell_owner(links, link, file.name, clean_name(details.get("uploader", "")) or "")
    return file_id


async def _tell_owner(links: Links, link: LinkRow, file_name: str, uploader: str) -> None:
    """A hint: the file has come, whether or not somebody hears of it."""
    event = LinkReceived(link_id=link.link_id, file_name=file_name, uploader=uploader)
    with suppress(Unavailable):
        await links.ephemeral.together(*tell([link.owner_id], event))


def _check_asks(link: LinkRow) -> None:
    if link.kind != "request" and not link.may_add:
        raise LinkUnknown("This link does not ask for files.")


async def _make_room(links: Links, link: LinkRow, file: HandedFile) -> None:
    """Reserve the bytes in the size limit, in one transaction with the row that says so."""
    arrival = ArrivalRow(token=link.token, file_id=file.file_id, size_bytes=file.size_bytes)
    growth = [add("receivedBytes", file.size_bytes), add("receivedFiles", 1)]

    async def attempt(link: LinkRow) -> None:
        _check_fits(link, file.size_bytes)
        writes = [
            ARRIVAL.put(arrival, when=NEW),
            LINK.update(growth, when=_fits(link, file), token=link.token),
        ]
        try:
            await links.tables.transact(writes)
        except TransactionCancelled as cancelled:
            # The same upload may be taken over by another call at this moment; then it is counted there.
            if cancelled.reasons[0] != "condition":
                raise

    async def reread(link: LinkRow) -> LinkRow:
        return (await usable(links, link.token)).link

    await update_from(link, attempt, reread)


async def _free_room(links: Links, link: LinkRow, file: HandedFile) -> None:
    """Release the reservation, only once even with concurrent calls."""
    lessening = [add("receivedBytes", -file.size_bytes), add("receivedFiles", -1)]
    writes = [
        ARRIVAL.delete(token=link.token, file_id=file.file_id, when=attr("PK").exists()),
        LINK.update(lessening, when=attr("PK").exists(), token=link.token),
    ]

    @optimistic_update()
    async def attempt() -> None:
        try:
            await links.tables.transact(writes)
        except TransactionCancelled as cancelled:
            if "condition" not in cancelled.reasons:
                raise

    # The caller has an error of its own to tell, which this must not hide.
    with suppress(Conflict):
        await attempt()


def _check_fits(link: LinkRow, size_bytes: int) -> None:
    if link.received_files >= MOST_RECEIVED_FILES:
        raise LinkFull(f"One link accepts at most {MOST_RECEIVED_FILES} files. Ask its owner for a new one.")
    if link.max_bytes and link.received_bytes + size_bytes > link.max_bytes:
        raise LinkFull(
            "This link has reached its size limit. Send less, or ask its owner to raise it.",
            max_bytes=link.max_bytes,
            left_bytes=max(0, link.max_bytes - link.received_bytes),
        )


def _fits(link: LinkRow, file: HandedFile) -> Condition:
    """What `_check_fits` checks, as a condition of the write."""
    are_few = attr("receivedFiles").absent() | (attr("receivedFiles") < MOST_RECEIVED_FILES)
    if not link.max_bytes:
        return STANDING & attr("maxBytes").absent() & are_few
    received = attr("receivedBytes")
    is_below = received.absent() | (received <= link.max_bytes - file.size_bytes)
    return STANDING & (attr("maxBytes") == link.max_bytes) & is_below & are_few


def _out_of_space() -> OutOfSpace:
    return OutOfSpace("The owner of this link has no space left. Tell them.")
