"""Clicks that come from outside: whose they may be said to be, and which links they may count for."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from satchel.features.clicks.model import NewClick, Recorded, TargetUnknown
from satchel.features.clicks.service.click_record import record
from satchel.features.clicks.service.context import Clicks
from satchel.kernel.errors import Forbidden


@dataclass(frozen=True, slots=True)
class Poster:
    """Who sends clicks."""

    user_id: str
    is_admin: bool


async def post(clicks: Clicks, poster: Poster, asked: Sequence[NewClick]) -> list[Recorded]:
    """Record clicks of the poster, on links of theirs or on nothing; an administrator's may be of anybody."""
    check_about(poster, *(click.user_id for click in asked))
    # An administrator's program may send those of a whole site, each as it comes.
    if not poster.is_admin:
        await clicks.calls.count(poster.user_id)
    if all(click.target is None for click in asked):
        return await record(clicks, asked)
    targets = {click.target for click in asked if click.target is not None}
    things = {target: await _thing_of(clicks, poster, target) for target in sorted(targets)}
    return await record(
        clicks,
        [
            click
            if click.target is None
            else msgspec.structs.replace(click, owner=poster.user_id, thing=things[click.target])
            for click in asked
        ],
    )


def check_about(poster: Poster, *user_ids: str) -> None:
    """Only administrators concern themselves with the clicks of others."""
    if not poster.is_admin and any(user_id != poster.user_id for user_id in user_ids):
        raise Forbidden("Clicks of somebody else are for administrators alone. Leave userId out, or give your own.")


async def _thing_of(clicks: Clicks, poster: Poster, target: str) -> str:
    thing = await clicks.targets.thing_of(poster.user_id, target)
    if thing is None:
        raise TargetUnknown("You have no link of this id. Give the id of one of yours, or none.")
    return thing
