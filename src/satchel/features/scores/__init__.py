"""A person keeps sheet music: scores with pages, which they order, name, tag, and share with those who play them.

People mark pages in layers, which only their author sees until they are published, and keep states as snapshots.
Set lists put scores in the order in which they are played.

One request, `PUT /scores/{score_id}/pages`: `routes/scores.py` reads which state the client changes (its ETag) and
hands all pages in their new order to `service/page_set.py`. There pages keep their ids, and new ones get ids that were
never used. One transaction in `service/score_change.py` writes the score with a new ETag, if it still has the old one,
nobody holds its lock, and every item that a page shows is still there.

Another one, an upload: `edge/uploads` stores the bytes and hands them to `routes/score_uploads.py`. Then
`service/item_add.py` stores them at the key of a new item, and enters it under the lock of the items
(`service/item_lock.py`), together with what the owner has used of their quota.
"""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress

from satchel.declaration import Platform, Repeated, RouteNeeds, Slice
from satchel.edge.api.endpoints import Router
from satchel.features.scores.adapters import LinkedScores, ScoreSearch
from satchel.features.scores.events import LIVE_EVENTS
from satchel.features.scores.item_records import ITEM_SHAPES
from satchel.features.scores.layer_records import LAYER_SHAPES
from satchel.features.scores.limits import LIMITS, ScoreLimits
from satchel.features.scores.model import Email, OwnerId, ScoreUnknown, SetListUnknown
from satchel.features.scores.needs import Grants, People
from satchel.features.scores.records import EPHEMERAL_KEYS, SHAPES
from satchel.features.scores.routes import routes
from satchel.features.scores.routes.score_layouts import playback_view, visitor_layout_view
from satchel.features.scores.routes.score_uploads import ScoresDestination
from satchel.features.scores.routes.views import visitor_score_view
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.page_import import IMPORTS_EVERY, run_imports
from satchel.features.scores.service.score_erase import ScoreHoldings
from satchel.features.scores.service.score_find import Viewer
from satchel.features.scores.service.score_garbage import sweep_scores
from satchel.features.scores.service.score_share import leave_score
from satchel.features.scores.service.set_list_find import SCOPE
from satchel.features.scores.service.set_list_share import leave_set_list
from satchel.features.scores.set_list_records import SET_LIST, SET_LIST_CREATED
from satchel.kernel.grant_refused import GrantRefused
from satchel.media.score_pages import ScorePages


def _make(platform: Platform, *, grants: Grants, people: People) -> Scores:
    stores = platform.stores
    return Scores(
        tables=stores.tables,
        objects=stores.objects,
        ephemeral=stores.ephemeral,
        clock=platform.clock,
        grants=grants,
        people=people,
        pictures=platform.pictures,
        events=platform.events,
        limits=ScoreLimits(stores.ephemeral),
        pages=ScorePages(stores.objects),
        most_writes=platform.settings.most_writes,
        most_scores=platform.settings.score_limit,
        most_bytes=platform.settings.score_quota,
    )


@asynccontextmanager
async def _running(scores: Scores) -> AsyncGenerator[None]:
    try:
        yield
    finally:
        await scores.pages.close()


def _linked(scores: Scores) -> LinkedScores:
    return LinkedScores(scores, visitor_score_view, visitor_layout_view, playback_view)


def _routes(scores: Scores, _: RouteNeeds) -> list[Router]:
    return routes(scores)


async def _leave(scores: Scores, refused: GrantRefused) -> None:
    viewer = Viewer(OwnerId(""), Email(refused.email))
    if refused.scope_type.startswith("score:"):
        with suppress(ScoreUnknown):
            await leave_score(scores, viewer, refused.resource_id)
    elif refused.scope_type == SCOPE:
        with suppress(SetListUnknown):
            await leave_set_list(scores, viewer, refused.resource_id)


SCORES = Slice(
    name="scores",
    make=_make,
    routes=_routes,
    records=(*SHAPES, *ITEM_SHAPES, *LAYER_SHAPES, SET_LIST),
    ephemeral_keys=(*EPHEMERAL_KEYS, SET_LIST_CREATED),
    limits=LIMITS,
    live_events=LIVE_EVENTS,
    hears={GrantRefused: _leave},
    uploads={"score": ScoresDestination},
    things={"score": _linked},
    holdings=ScoreHoldings,
    search=ScoreSearch,
    repeated=[Repeated("pages of scores", IMPORTS_EVERY, run_imports, by_worker=True)],
    running=_running,
    chores={"orphaned pages of scores": sweep_scores},
)
