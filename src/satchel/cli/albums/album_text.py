"""Albums as people read them: all in columns, and one with its people and days."""

from collections.abc import Iterator, Mapping, Sequence

from satchel.cli.albums.album_days import shown_days
from satchel.cli.engine.api_types.album_types import AlbumView
from satchel.cli.engine.resources.album_find import SHORT_ID, short_id
from satchel.cli.engine.terminal.columns import fitted, room_for, shown_width
from satchel.cli.engine.terminal.numbers import shown_people
from satchel.cli.engine.terminal.output import paint, printable

_DAYS_WIDTH = len("2025-07-14 – 2025-07-20")
_COUNT_WIDTH = len("photos")
_TAKEN = _DAYS_WIDTH + _COUNT_WIDTH + SHORT_ID + 3 * 2
_LEAST_NAME = 8
_BAR_WIDTH = 30


def columns(albums: Sequence[AlbumView]) -> Iterator[str]:
    names = [_shown_name(album) for album in albums]
    width = room_for(max(map(shown_width, [*names, "name"]), default=0), _TAKEN, least=_LEAST_NAME)

    def line(name: str, days: str, count: str, short: str) -> str:
        return "  ".join([fitted(name, width), fitted(days, _DAYS_WIDTH), count.rjust(_COUNT_WIDTH), short])

    if albums:
        yield paint(line("name", "days", "photos", "id"), "quiet")
    for album, name in zip(albums, names, strict=True):
        yield line(name, shown_days(album.start, album.end), f"{album.medias:,}", short_id(album))


def details(album: AlbumView, days: Mapping[str, int]) -> Iterator[str]:
    photos = "1 photo" if album.medias == 1 else f"{album.medias:,} photos"
    yield paint(printable(album.name), "strong") + f", {shown_days(album.start, album.end)}, {photos}"
    yield f"  Folder {printable(album.folder)}, id {album.album_id}."
    if album.role != "owner":
        can = "see it and add to it" if album.role == "contributor" else "see it"
        yield printable(f"  It belongs to {album.owner_name}. You can {can}.")
    elif album.people:
        yield f"  Shared with {shown_people(len(album.people))}:"
        yield from (printable(f"    {reader.email}, {reader.role}") for reader in album.people)
        yield f"  They get originals {'with' if album.with_location else 'without'} the place."
    else:
        yield "  Only you see it."
    if days:
        yield ""
    most = max(days.values(), default=1)
    for day, count in days.items():
        yield f"  {day or 'undated   '}  {'█' * max(1, round(_BAR_WIDTH * count / most))} {count:,}"


def _shown_name(album: AlbumView) -> str:
    mine = "" if album.role == "owner" else f" ({album.owner_name})"
    return printable(album.name + mine)
