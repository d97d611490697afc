"""Download what is on the shelf, what came in a transfer, or what a link leads to."""

from collections.abc import Sequence
from pathlib import Path

from satchel.cli.engine.files.batch import fetch_all, refuse_if_full
from satchel.cli.engine.files.download import Wanted, local_name
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.resources import transfer_download as transfer_download
from satchel.cli.engine.resources.link_enter import visit
from satchel.cli.engine.resources.shelf_paths import Entry, Places
from satchel.cli.engine.resources.transfer_find import find
from satchel.cli.engine.terminal.output import CommandFailed


def from_shelf(client: Client, names: Sequence[str], folder: Path, *, as_json: bool, quiet: bool) -> bool:
    """Whether everything is here now."""
    places = Places(client)
    entries = [places.wanted(name) for name in names]
    folder.mkdir(parents=True, exist_ok=True)
    wanted = [each for entry in entries for each in _plan(places, entry, folder)]
    refuse_if_full(folder, wanted)
    return fetch_all(client, wanted, as_json=as_json, quiet=quiet)


def from_transfer(client: Client, typed: str, folder: Path, *, as_json: bool, quiet: bool) -> bool:
    """Whether everything is here now, and its sender knows."""
    transfer = find(client, typed)
    if not transfer.is_available:
        raise CommandFailed("These files are no longer available.")
    folder.mkdir(parents=True, exist_ok=True)
    wanted = transfer_download.plan(transfer, folder)
    refuse_if_full(folder, wanted)
    transfer_download.open_offer(client, transfer)

    def report(each: Wanted, saved_as: Path) -> None:
        transfer_download.report_verified(client, transfer, each.facts["place"], saved_as)

    return fetch_all(client, wanted, as_json=as_json, quiet=quiet, then=report)


def from_link(client: Client, token: str, folder: Path, *, as_json: bool, quiet: bool) -> bool:
    """Whether everything is here now."""
    entered = visit(client, token, "file", "folder", "album")
    folder.mkdir(parents=True, exist_ok=True)
    wanted = entered.plan(folder)
    refuse_if_full(folder, wanted)
    return fetch_all(client, wanted, as_json=as_json, quiet=quiet)


def _plan(places: Places, entry: Entry, folder: Path) -> list[Wanted]:
    """A file, or all files of a folder; each gets a target of its own."""
    wanted: list[Wanted] = []
    waiting: list[tuple[Entry, Path]] = [(entry, folder / local_name(entry.name))]
    while waiting:
        each, target = waiting.pop()
        if each.kind == "file":
            content, size_bytes = f"/shelf/files/{each.id}/content", each.size_bytes or 0
            wanted.append(Wanted(content, size_bytes, each.sha256 or "", target, {"file_id": each.id}))
        else:
            target.mkdir(parents=True, exist_ok=True)
            waiting += [(child, target / local_name(child.name)) for child in reversed(places.entries(each.id))]
    return wanted
