"""What files become: each a score, but pictures of one folder are the pages of one, in the order of their numbers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from satchel.cli.engine.files.local_files import Source
from satchel.media.score_titles import guess_title

_DIGITS = re.compile(r"(\d+)")


@dataclass(frozen=True, slots=True)
class Sheet:
    """A file with music, and whether it is a picture of one page."""

    source: Source
    is_picture: bool

    @property
    def folder(self) -> str:
        """Within what was named; empty for a file that was named itself."""
        return self.source.place.rpartition("/")[0]


@dataclass(frozen=True, slots=True)
class Bundle:
    """A score to be, with the title and the composer that names suggest."""

    title: str
    composer: str
    # Where its files are.
    path: str
    sources: list[Source]

    @property
    def facts(self) -> dict[str, object]:
        return {"title": self.title, "composer": self.composer, "files": [each.path for each in self.sources]}


def in_order(sheets: Sequence[Sheet]) -> list[Sheet]:
    """As they were named, those of a folder by their numbers: page 2 comes before page 10."""
    begins: dict[str, int] = {}
    for place, each in enumerate(sheets):
        begins.setdefault(each.folder, place)

    def rank(placed: tuple[int, Sheet]) -> tuple[int, list[tuple[int, str]]]:
        place, sheet = placed
        return (begins[sheet.folder], _numbered(sheet)) if sheet.folder else (place, [])

    return [sheet for _, sheet in sorted(enumerate(sheets), key=rank)]


def bundles_of(sheets: Sequence[Sheet]) -> list[Bundle]:
    bundles: list[Bundle] = []
    folders: dict[str, Bundle] = {}
    for sheet in sheets:
        source, folder = sheet.source, sheet.folder
        if sheet.is_picture and folder in folders:
            folders[folder].sources.append(source)
            continue
        together = sheet.is_picture and bool(folder)
        path = Path(source.path).parent if together else Path(source.path)
        bundle = Bundle(*guess_title(path.name), path=str(path), sources=[source])
        bundles.append(bundle)
        if together:
            folders[folder] = bundle
    return bundles


def _numbered(sheet: Sheet) -> list[tuple[int, str]]:
    """A number counts by its value, anything else by its letters."""
    pieces = _DIGITS.split(Path(sheet.source.path).name.casefold())
    return [(int(piece), "") if piece.isdecimal() else (-1, piece) for piece in pieces]
