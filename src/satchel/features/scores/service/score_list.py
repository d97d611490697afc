"""Lists the scores of a person and those shared with them, found by title, composer and tag."""

from dataclasses import dataclass, replace

from satchel.features.scores.item_records import ITEM_SUMMARY
from satchel.features.scores.model import Email, OwnerId, Role, ScoreId, read_id
from satchel.features.scores.records import SCORE_CARD, SCORE_SUMMARY, ScoreCardRow
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.score_find import Viewer
from satchel.features.scores.service.score_news import with_news
from satchel.kernel.names import folded

_PAGE = 1000
GRANT_PREFIX = "score:"


@dataclass(frozen=True, slots=True)
class ListedScore:
    """A score in a list, and what the viewer is in it."""

    card: ScoreCardRow
    role: Role
    has_news: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """What an owner has."""

    scores: int
    items: int
    size_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which scores: words in the title, the composer or a tag, one tag, only the viewer's own."""

    words: str = ""
    tag: str = ""
    mine: bool = False


async def list_scores(scores: Scores, viewer: Viewer, wanted: Wanted) -> list[ListedScore]:
    """By title."""
    found = [ListedScore(card, "owner") for card in await _own(scores, viewer.user_id)]
    if not wanted.mine:
        found += await _shared(scores, viewer.email)
    chosen = [each for each in found if _matches(each.card, wanted)]
    news = await with_news(scores, viewer, [(each.card.owner, each.card.score_id) for each in chosen])
    chosen = [replace(each, has_news=(each.card.owner, each.card.score_id) in news) for each in chosen]
    return sorted(chosen, key=lambda each: (folded(each.card.title), each.card.score_id))


async def usage_of(scores: Scores, owner: OwnerId) -> Usage:
    summary = await SCORE_SUMMARY.get(scores.tables, owner=owner)
    items = await ITEM_SUMMARY.get(scores.tables, owner=owner)
    return Usage(
        scores=0 if summary is None else summary.count,
        items=0 if items is None else items.count,
        size_bytes=0 if items is None else items.size_bytes,
    )


async def _own(scores: Scores, owner: OwnerId) -> list[ScoreCardRow]:
    found: list[ScoreCardRow] = []
    partition, cursor = SCORE_CARD.keys["o"].render({"owner": owner}), None
    while True:
        page = await scores.tables.query(SCORE_CARD.table, partition, limit=_PAGE, cursor=cursor)
        found += map(SCORE_CARD.read, page.items)
        if (cursor := page.cursor) is None:
            return found


async def _shared(scores: Scores, email: Email) -> list[ListedScore]:
    roles: dict[tuple[OwnerId, ScoreId], Role] = {}
    for grant in await scores.grants.of_person(email, GRANT_PREFIX):
        score_id, role = read_id(grant.resource_id), grant.type.removeprefix(GRANT_PREFIX)
        if score_id is not None and role in ("reader", "marker", "editor"):
            roles[OwnerId(grant.resource_owner), ScoreId(score_id)] = role
    keys = [SCORE_CARD.key(owner=owner, score_id=score_id) for owner, score_id in roles]
    items = await scores.tables.get_many(SCORE_CARD.table, keys) if keys else []
    cards = [SCORE_CARD.read(item) for item in items if item is not None]
    return [ListedScore(card, roles[card.owner, card.score_id]) for card in cards]


def _matches(card: ScoreCardRow, wanted: Wanted) -> bool:
    if wanted.tag and folded(wanted.tag) not in map(folded, card.tags):
        return False
    text = folded(" ".join([card.title, card.composer, *card.tags]))
    return all(word in text for word in folded(wanted.words).split())
