"""Deletes the scores and set lists of a person with their account, and takes them out of those of others."""

from contextlib import suppress
from dataclasses import dataclass

from satchel.features.scores.item_records import ITEM_SUMMARY
from satchel.features.scores.layer_records import SCORE_SEEN
from satchel.features.scores.model import Email, OwnerId, ScoreUnknown, SetListUnknown, public_id
from satchel.features.scores.records import OBJECTS_PREFIX, SCORE, SCORE_CARD, SCORE_SUMMARY
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.layer_change import delete_layer
from satchel.features.scores.service.score_delete import delete_score
from satchel.features.scores.service.score_find import Viewer, read_whole
from satchel.features.scores.service.score_share import leave_score
from satchel.features.scores.service.set_list_change import delete_set_list
from satchel.features.scores.service.set_list_find import SCOPE, own_set_lists
from satchel.features.scores.service.set_list_share import leave_set_list
from satchel.kernel.departure import Leaver, Tally
from satchel.kernel.errors import Forbidden
from satchel.stores.patterns.partition_delete import delete_partition, delete_records

_PAGE = 100


@dataclass(frozen=True, slots=True)
class ScoreHoldings:
    """Scores and set lists of people, and what others share with them."""

    scores: Scores

    async def count(self, leaver: Leaver) -> Tally:
        scores, owner = self.scores, OwnerId(leaver.user_id)
        summary = await SCORE_SUMMARY.get(scores.tables, owner=owner)
        shared = 0
        if leaver.email:
            shared += len(await scores.grants.all_of_person(leaver.email, "score:"))
            shared += len(await scores.grants.all_of_person(leaver.email, SCOPE))
        return Tally(
            scores=summary.count if summary else 0,
            set_lists=len(await own_set_lists(scores, owner)),
            shared=shared,
        )

    async def delete(self, leaver: Leaver) -> None:
        scores, owner = self.scores, OwnerId(leaver.user_id)
        viewer = Viewer(owner, Email(leaver.email))
        if leaver.email:
            await self._leave_others(viewer)
        for row in await own_set_lists(scores, owner):
            with suppress(SetListUnknown):
                await delete_set_list(scores, viewer, public_id(row.list_id))
        cards = SCORE_CARD.keys["o"].render({"owner": owner})
        while found := (await scores.tables.query(SCORE_CARD.table, cards, limit=_PAGE)).items:
            for card in map(SCORE_CARD.read, found):
                with suppress(ScoreUnknown):
                    await delete_score(scores, viewer, public_id(card.score_id))
                await scores.tables.delete(SCORE_CARD.table, SCORE_CARD.key(owner=owner, score_id=card.score_id))
        # What a crash has left of a score whose card is gone.
        for shape in (SCORE, ITEM_SUMMARY):
            await delete_partition(scores.tables, shape.table, shape.keys["o"].render({"owner": owner}))
        await delete_records(scores.tables, SCORE_SEEN, person=owner)
        await scores.pictures.delete_below(f"{OBJECTS_PREFIX}{owner}/")

    async def _leave_others(self, viewer: Viewer) -> None:
        for grant in await self.scores.grants.all_of_person(viewer.email, "score:"):
            with suppress(ScoreUnknown):
                await self._take_layers(viewer, grant.resource_id)
                await leave_score(self.scores, viewer, grant.resource_id)
        for grant in await self.scores.grants.all_of_person(viewer.email, SCOPE):
            with suppress(SetListUnknown):
                await leave_set_list(self.scores, viewer, grant.resource_id)

    async def _take_layers(self, viewer: Viewer, public: str) -> None:
        """Layers that nobody else has seen. What was published belongs to the score."""
        for layer in (await read_whole(self.scores, viewer, public)).layers:
            if layer.author == viewer.user_id and not layer.is_published:
                with suppress(Forbidden):
                    await delete_layer(self.scores, viewer, public, layer.layer_id)
