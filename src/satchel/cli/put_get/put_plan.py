"""What `satchel put` has to do: which files are new, which replace another content, and which are there already."""

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from satchel.cli.engine.api_types.shelf_types import EntryView
from satchel.cli.engine.files.local_files import Gathered, Source, near
from satchel.cli.engine.resources.shelf_paths import TOP, Places
from satchel.cli.engine.terminal.output import CommandFailed
from satchel.kernel.file_time import file_time


@dataclass(slots=True)
class PutPlan:
    """The files of one `put` by what is to become of them. `replaced` has what each takes the place of."""

    new: list[Source] = field(default_factory=list[Source])
    same: dict[Source, EntryView] = field(default_factory=dict[Source, EntryView])
    replaced: dict[Source, EntryView] = field(default_factory=dict[Source, EntryView])

    def about(self, source: Source) -> Mapping[str, str]:
        """What an upload says, so that it replaces the content that we have seen, and no other."""
        entry = self.replaced.get(source)
        return {} if entry is None else {"replaces": entry.id, "replacedSha256": entry.sha256 or ""}

    @property
    def outdated(self) -> list[tuple[Source, EntryView]]:
        """Those with the same bytes whose time or executable bit is another here."""
        return [
            (source, entry)
            for source, entry in self.same.items()
            if (entry.modified_at or "", entry.executable) != (file_time(source.modified_ns), source.executable)
        ]


def plan(places: Places, sources: Sequence[Source]) -> PutPlan:
    made = PutPlan()
    for source in sources:
        entry = entry_at(places, source.place)
        if entry is None or entry.kind == "folder":
            made.new.append(source)
        elif entry.size_bytes == source.size_bytes and entry.sha256 == _digest_of(source):
            made.same[source] = entry
        else:
            made.replaced[source] = entry
    return made


def entry_at(places: Places, place: str) -> EntryView | None:
    """What has exactly this path; case counts."""
    folder_id, found = TOP, None
    for name in filter(None, place.split("/")):
        if found is not None and found.kind != "folder":
            return None
        found = places.named(folder_id, name)
        if found is None:
            return None
        folder_id = found.id
    return found


def refuse_twins(found: Gathered) -> None:
    """Two files for one place would replace each other."""
    counted = Counter(source.place for source in found.sources)
    twins = [source for source in found.sources if counted[source.place] > 1]
    if twins:
        named = " and ".join(near(source.path) for source in twins[:2])
        raise CommandFailed(f"{named} would have the same place. Put them into different folders with --folder.")


def _digest_of(source: Source) -> str:
    try:
        with Path(source.path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""  # sending it will say why it cannot be read
