"""Scores as people read them: all in columns, and one with its pages, movements, parts and snapshots."""

from collections.abc import Iterator, Sequence

from satchel.cli.engine.api_types.score_types import ScoreCard, ScoreView
from satchel.cli.engine.terminal.columns import fitted, room_for, shown_width
from satchel.cli.engine.terminal.output import paint, printable
from satchel.cli.engine.terminal.sizes import shown_moment
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


def shown_pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count:,} pages"


def _audience(score: ScoreView) -> str:
    if score.role != "owner":
        return printable(f"It belongs to {score.owner_name}.")
    return "Everybody can read it." if score.access == "public" else "Only those with whom you share it can read it."
