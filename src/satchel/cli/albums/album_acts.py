"""Change an album: show what would move and who would newly see it, ask, do it, and say how to undo it."""

from collections.abc import Mapping
from dataclasses import dataclass

from msgspec import to_builtins

from satchel.cli.albums.album_days import shown_days
from satchel.cli.engine.api_types.album_types import ActedView, PlanView
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.resources.album_find import short_id
from satchel.cli.engine.resources.album_moves import move_lines, shown_photos
from satchel.cli.engine.terminal.output import CommandFailed, note, print_json, printable
from satchel.cli.engine.terminal.prompts import confirm


@dataclass(frozen=True, slots=True)
class AlbumAct:
    """How to act: with or without asking, for people or machines."""

    client: Client
    yes: bool
    as_json: bool
    quarters: bool = False

    def run(
        self, plan: Mapping[str, object], method: str, path: str, body: Mapping[str, object] | None, *, done: str
    ) -> None:
        planned = self.client.call("POST", "/albums/plan", PlanView, {"change": plan})
        if not self.as_json:
            for line in move_lines(planned.moves):
                note(line)
        if planned.orphans is not None and not self.quarters:
            count = shown_photos(planned.orphans.medias)
            days = f"{planned.orphans.first[:10]} to {planned.orphans.last[:10]}"
            raise CommandFailed(
                f"{count} of {days} would be in no album. Give --quarters to make albums of a quarter year for them."
            )
        # What moves nothing is as easily done again as asked about.
        if not self.yes and (planned.medias or planned.album is None):
            confirm(_question(planned))
        query = "?quarters=true" if self.quarters and method in ("PATCH", "DELETE") else ""
        if method == "POST" and body is not None:
            acted = self.client.make(path, ActedView, body)
        else:
            acted = self.client.call(method, path + query, ActedView, body)
        if self.as_json:
            print_json({"plan": to_builtins(planned), **to_builtins(acted)})
            return
        print(done)
        if acted.album is not None:
            album = acted.album
            days = shown_days(album.start, album.end)
            print(printable(f"  {album.name}, {days}, {shown_photos(album.medias)}, id {short_id(album)}"))
        if acted.act is not None:
            print(f"To undo it: satchel album undo {acted.act.act_id}")


def _question(planned: PlanView) -> str:
    if planned.album is None:
        return "The album will be deleted, its photos will not."
    return printable(f"{planned.album.name}: {shown_days(planned.album.start, planned.album.end)}.")
