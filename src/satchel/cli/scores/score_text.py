"""Scores as people read them: in columns, one with all that it has, its files, and what differs in two states."""

from collections import Counter
from collections.abc import Iterator, Sequence

from satchel.cli.engine.api_types.score_types import ComparisonView, ScoreCard, ScoreView
from satchel.cli.engine.files.local_files import near
from satchel.cli.engine.terminal.columns import fitted, room_for, shown_width
from satchel.cli.engine.terminal.output import paint, printable
from satchel.cli.engine.terminal.sizes import shown_bytes, shown_moment
from satchel.cli.scores.score_bundles import Bundle
from satchel.cli.scores.score_files import ScoreFile
from satchel.cli.scores.score_find import SHORT_ID, short_id

_PAGES_WIDTH = len("pages")
_COMPOSER_WIDTH = 24
_TAKEN = _COMPOSER_WIDTH + _PAGES_WIDTH + SHORT_ID + 3 * 2
_LEAST_TITLE = 8


def columns(scores: Sequence[ScoreCard]) -> Iterator[str]:
    titles = [printable(score.title) for score in scores]
    width = room_for(max(map(shown_width, [*titles, "title"]), default=0), _TAKEN, least=_LEAST_TITLE)

    def line(title: str, composer: str, pages: str, short: str) -> str:
        return "  ".join([fitted(title, width), fitted(composer, _COMPOSER_WIDTH), pages.rjust(_PAGES_WIDTH), short])

    if scores:
        yield paint(line("title", "composer", "pages", "id"), "quiet")
    for score, title in zip(scores, titles, strict=True):
        yield line(title, printable(score.composer), f"{score.pages:,}", short_id(score))


def details(score: ScoreView) -> Iterator[str]:
    by = f", {printable(score.composer)}" if score.composer else ""
    yield paint(printable(score.title), "strong") + f"{by}, {shown_pages(len(score.pages))}"
    yield f"  Id {score.score_id}. {_audience(score)}"
    if score.tags:
        yield printable(f"  Tags: {', '.join(score.tags)}.")
    if score.description:
        yield printable(f"  {score.description}")
    places = {page.page_id: place for place, page in enumerate(score.pages, 1)}
    for movement in score.movements:
        yield printable(f"  From page {places.get(movement.page_id, '?')}: {movement.name}")
    for part in score.parts:
        pages = [str(places[page_id]) for page_id in part.page_ids if page_id in places]
        yield printable(f"  Part {part.name}: {'pages ' + ', '.join(pages) if pages else 'all pages'}")
    for kept in score.snapshots:
        yield printable(f"  Snapshot {kept.name}: {shown_moment(kept.created_at)}")


def planned(bundles: Sequence[Bundle]) -> Iterator[str]:
    """Scores to be, and the files of each."""
    for each in bundles:
        by = f", {each.composer}" if each.composer else ""
        files = f"{len(each.sources)} pictures in " if len(each.sources) > 1 else ""
        yield printable(f"{each.title}{by}: {files}{near(each.path)}")


def file_lines(files: Sequence[ScoreFile]) -> Iterator[str]:
    for each in files:
        done = "deleted" if each.is_deleted else each.use
        saved = f", saved as {each.saved_as}" if each.saved_as else ""
        yield printable(f"{each.name}, {shown_bytes(each.size_bytes)}: {done}{saved}")


def differences(score: ScoreView, found: ComparisonView) -> Iterator[str]:
    """The title, the pages, then marks by page and person."""
    places = {page.page_id: place for place, page in enumerate(score.pages, 1)}

    def page(page_id: int) -> str:
        return f"Page {places[page_id]}" if page_id in places else f"A page that is gone (id {page_id})"

    if found.title:
        yield printable(f"The title was {found.title[0]} and is {found.title[1]}.")
    for each in found.pages:
        yield f"{page(each.page_id)}: {each.change}"
    counts = Counter((each.page_id, each.change, each.author_name) for each in found.marks)
    for (page_id, change, author), count in counts.items():
        marks = "one mark" if count == 1 else f"{count} marks"
        yield printable(f"{page(page_id)}: {marks} {change} by {author}")
    if not (found.title or found.pages or found.marks):
        yield "Nothing has changed."


def shown_pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count:,} pages"


def _audience(score: ScoreView) -> str:
    if score.role != "owner":
        return printable(f"It belongs to {score.owner_name}.")
    return "Everybody can read it." if score.access == "public" else "Only those with whom you share it can read it."
