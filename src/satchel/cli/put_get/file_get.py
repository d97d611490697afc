"""Download what is on the shelf, what came in a transfer, or what a link leads to."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from satchel.cli.engine.files.batch import fetch_all, refuse_if_full
from satchel.cli.engine.files.download import MadeFolders, Wanted, local_name, own_name
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
    plan = _Plan(places)
    for entry in entries:
        plan.add(entry, folder)
    refuse_if_full(folder, plan.wanted)
    archive = ("/shelf/archive", folder)
    is_whole = fetch_all(client, plan.wanted, as_json=as_json, quiet=quiet, archive=archive)
    plan.made.keep_times()
    return is_whole


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
    entered = visit(client, token, "file", "folder", "selection", "album", "photos")
    folder.mkdir(parents=True, exist_ok=True)
    made = MadeFolders()
    wanted = entered.plan(folder, made)
    refuse_if_full(folder, wanted)
    is_whole = fetch_all(client, wanted, as_json=as_json, quiet=quiet)
    made.keep_times()
    return is_whole


@dataclass(slots=True)
class _Plan:
    """The files to fetch from the shelf, each with a target of its own, and the folders that were made for them."""

    places: Places
    wanted: list[Wanted] = field(default_factory=list[Wanted])
    made: MadeFolders = field(default_factory=MadeFolders)

    def add(self, entry: Entry, folder: Path) -> None:
        """A file, or a folder with all that is in it. Files of others get names that can do no harm."""
        waiting: list[tuple[Entry, tuple[str, ...]]] = [(entry, (entry.name,))]
        while waiting:
            each, names = waiting.pop()
            if each.kind == "folder":
                self.made.make(folder.joinpath(*map(own_name, names)), each.modified_at)
                waiting += [(child, (*names, child.name)) for child in reversed(self.places.entries(each.id))]
            else:
                self._add_file(each, folder, names)

    def _add_file(self, file: Entry, folder: Path, names: Sequence[str]) -> None:
        target = folder.joinpath(*map(local_name if file.received else own_name, names))
        if file.received:
            self.made.make(target.parent)
        self.wanted.append(
            Wanted(
                f"/shelf/files/{file.id}/content",
                file.size_bytes or 0,
                file.sha256 or "",
                target,
                {"file_id": file.id},
                called="/".join(names),
                modified_at=file.modified_at,
                executable=file.executable,
            )
        )
