"""Find transfers by what people type: an id, or the end of one as the history shows it."""

from collections.abc import Iterator
from itertools import islice
from urllib.parse import quote

from msgspec.structs import replace

from satchel.cli.engine.api_types.transfer_types import TransferList, TransferView
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.terminal.output import CommandFailed

_ID_LENGTH = 26
_PAGE = 100
# Whoever means an older one gives the whole id.
_LOOKED_AT = 1000


def find(client: Client, typed: str) -> TransferView:
    """The transfer with all its files and receipts; `CommandFailed` if there is none, or several."""
    return read_transfer(client, find_id(client, typed))


def read_transfer(client: Client, transfer_id: str) -> TransferView:
    return with_all_files(client, client.call("GET", f"/transfers/{transfer_id}", TransferView))


def with_all_files(client: Client, transfer: TransferView) -> TransferView:
    """The same with the files that did not fit into the answer."""
    page, files, is_available = transfer, list(transfer.files), transfer.is_available
    while page.cursor is not None:
        where = f"/transfers/{transfer.transfer_id}?cursor={quote(page.cursor, safe='')}"
        page = client.call("GET", where, TransferView)
        files += page.files
        is_available &= page.is_available
    return replace(transfer, files=files, is_available=is_available, cursor=None)


def find_id(client: Client, typed: str) -> str:
    wanted = typed.strip().lower()
    if len(wanted) == _ID_LENGTH:
        return quote(wanted, safe="")
    recent = islice(history(client, "all"), _LOOKED_AT)
    found = {each.transfer_id for each in recent if wanted and each.transfer_id.endswith(wanted)}
    if len(found) > 1:
        raise CommandFailed(f"Several transfers end with {typed}. Give more of the id.")
    if not found:
        raise CommandFailed(f"There is no transfer {typed}. See `satchel transfers`.")
    return found.pop()


def history(client: Client, direction: str) -> Iterator[TransferView]:
    """Newest first."""
    where = f"/transfers?direction={direction}&limit={_PAGE}"
    cursor = ""
    while True:
        page = client.call("GET", where + cursor, TransferList)
        yield from page.transfers
        if page.cursor is None:
            return
        cursor = f"&cursor={quote(page.cursor, safe='')}"
