"""What a change would move, as people read it: how many photos from where to where, and who would newly see them."""

from collections.abc import Iterator, Sequence

from satchel.cli.engine.api_types.album_types import KnownPerson, MoveView
from satchel.cli.engine.terminal.output import paint, printable


def move_lines(moves: Sequence[MoveView]) -> Iterator[str]:
    for move in moves:
        source, target = printable(move.source.name), printable(move.target.name)
        yield f"{shown_photos(move.medias)} would move: {source} → {target}"
        yield from _audience(move)
    if not moves:
        yield "No photo would move."


def shown_photos(count: int) -> str:
    return "1 photo" if count == 1 else f"{count:,} photos"


def _audience(move: MoveView) -> Iterator[str]:
    if move.newly:
        yield paint(f"  newly seen by {_people(move.newly)}", "strong")
    if move.links:
        links = "1 public link" if move.links == 1 else f"{move.links:,} public links"
        yield paint(f"  newly seen by everybody with {links}", "strong")
    if move.no_longer:
        yield f"  no longer seen by {_people(move.no_longer)}"


def _people(people: Sequence[KnownPerson]) -> str:
    return ", ".join(printable(f"{each.name} <{each.email}>" if each.name else each.email) for each in people)
