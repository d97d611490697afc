"""Mirror a folder: what is on the shelf and no longer here goes to the bin, after everything was sent."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from satchel.cli.engine.api_types.shelf_types import EntryView
from satchel.cli.engine.files.local_files import Gathered
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.resources.shelf_paths import Places, changed
from satchel.cli.engine.terminal.output import CommandFailed, note
from satchel.cli.put_get.put_plan import entry_at


@dataclass(frozen=True, slots=True)
class Surplus:
    """Something on the shelf that has no counterpart here."""

    entry: EntryView
    place: str


def refuse_unsafe(found: Gathered, tops: Sequence[str]) -> None:
    """Mirror only what was read wholly: a disk that is not mounted looks like an empty folder."""
    if found.failed:
        path, why = found.failed[0]
        raise CommandFailed(f"{path} cannot be read: {why}. Nothing was sent, and nothing was moved to the bin.")
    if not tops:
        raise CommandFailed("--mirror needs a folder. Name one.")
    for top in tops:
        if not any(source.place.startswith(f"{top}/") for source in found.sources):
            raise CommandFailed(f"There is no file in {top}. --mirror would move everything to the bin, so it stops.")


def surplus(places: Places, found: Gathered, tops: Sequence[str], sent: Collection[str]) -> list[Surplus]:
    """What is below the folders on the shelf and not here. `sent` has the ids of what was just sent."""
    here = {source.place for source in found.sources} | {folder.place.rstrip("/") for folder in found.folders}
    here |= found.unsent
    left: list[Surplus] = []
    for top in tops:
        folder = entry_at(places, top)
        waiting = [(folder, top)] if folder is not None and folder.kind == "folder" else []
        while waiting:
            parent, path = waiting.pop()
            for entry in places.entries(parent.id):
                place = f"{path}/{entry.name}"
                if place not in here and entry.id not in sent:
                    left.append(Surplus(entry, place))
                elif entry.kind == "folder":
                    waiting.append((entry, place))
    return left


def move_to_bin(client: Client, left: Sequence[Surplus]) -> int:
    """How many went to the bin. What somebody has changed meanwhile stays."""
    binned = 0
    for each in left:
        if changed(client, each.entry, "DELETE"):
            binned += 1
        else:
            note(f"{each.place} was changed on the shelf meanwhile. It stays there.")
    return binned
