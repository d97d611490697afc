"""Layers of marks: make one, rename and publish it, delete it with its marks."""

from contextlib import suppress

import msgspec

from satchel.features.scores.layer_records import LAYER, LAYER_COUNT, LayerRow
from satchel.features.scores.model import (
    MAX_LAYERS,
    LayerUnknown,
    OwnerId,
    ScoreId,
    TooManyLayers,
    check_part_name,
)
from satchel.features.scores.records import LAYER_CREATED
from satchel.features.scores.service import annotations
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.mark_read import all_marks, may_see
from satchel.features.scores.service.score_find import Found, Viewer, find_score, read_whole
from satchel.features.scores.service.score_news import news_of
from satchel.kernel.errors import Forbidden
from satchel.kernel.unfit import ChoiceUnfit
from satchel.stores.patterns.idempotency_key import IdempotencyKey
from satchel.stores.patterns.optimistic_update import optimistic_update
from satchel.stores.ports.expressions import add, attr
from satchel.stores.ports.table import ConditionFailed, Write

replace = msgspec.structs.replace


async def create_layer(
    scores: Scores, viewer: Viewer, public: str, name: str, part_id: int | None, *, idempotency_key: str | None
) -> tuple[Found, LayerRow]:
    """Only its author sees it. A retry with the same key is the same layer."""
    found = await find_score(scores, viewer, public, "marker")
    _check_part(found, part_id)
    checked = check_part_name(name, "name")
    key = None
    if idempotency_key is not None:
        place = LAYER_CREATED(person=viewer.user_id, score_id=found.score_id, key=idempotency_key)
        key = IdempotencyKey(scores.ephemeral, place)
        if (made := await key.made()) is not None:
            return found, await _find_made(scores, found, made)
    if len(await list_layers(scores, found)) >= MAX_LAYERS:
        raise TooManyLayers(f"A score has up to {MAX_LAYERS} layers. Delete one first.")
    counted = await scores.tables.update(
        LAYER_COUNT.table, LAYER_COUNT.key(owner=found.owner, score_id=found.score_id), [add("ln", 1)]
    )
    layer = layer_key(counted["ln"] - 1)
    new = LayerRow(
        owner=found.owner,
        score_id=found.score_id,
        layer=layer if key is None else await key.reserve(layer),
        name=checked,
        author=viewer.user_id,
        part_id=part_id,
        created_at=scores.now(),
    )
    # An earlier attempt may have come so far.
    with suppress(ConditionFailed):
        await scores.tables.put(LAYER.table, LAYER.item(new), when=attr("o").absent())
    if key is None:
        return found, new
    await key.confirm(new.layer)
    return found, await _find_made(scores, found, new.layer)


@optimistic_update()
async def change_layer(
    scores: Scores,
    viewer: Viewer,
    public: str,
    layer_id: int,
    *,
    name: str | None,
    is_published: bool | None,
    part_id: int | msgspec.UnsetType | None,
) -> tuple[Found, LayerRow]:
    """Only its author changes it."""
    found, layer = await find_own_layer(scores, viewer, public, layer_id)
    changed = layer
    if name is not None:
        changed = replace(changed, name=check_part_name(name, "name"))
    if is_published is not None:
        changed = replace(changed, is_published=is_published)
    if not isinstance(part_id, msgspec.UnsetType):
        _check_part(found, part_id)
        changed = replace(changed, part_id=part_id)
    if changed != layer:
        as_read = attr("q") == layer.seq if layer.seq else (attr("o").exists() & attr("q").absent())
        news = news_of([changed], gone=[layer] if layer.is_published and not changed.is_published else [])
        writes: list[Write] = [LAYER.put(changed, when=as_read), *([] if news is None else [news])]
        await scores.tables.transact(writes)
    return found, changed


@optimistic_update()
async def delete_layer(scores: Scores, viewer: Viewer, public: str, layer_id: int) -> tuple[Found, LayerRow]:
    """By its author, or by the owner of the score if it is published."""
    whole = await read_whole(scores, viewer, public)
    layer = next((each for each in whole.layers if each.layer_id == layer_id and may_see(each, viewer)), None)
    if layer is None:
        raise LayerUnknown("This score has no such layer.")
    if layer.author != viewer.user_id and whole.found.role != "owner":
        raise Forbidden("Only its author and the owner of the score can delete a layer.")
    marks = {each.mark_id for each in all_marks(whole) if each.mark.layer_id == layer_id}
    planned = annotations.plan(whole.found.row, removed=marks)
    as_read = attr("q") == layer.seq if layer.seq else attr("q").absent()
    gone = LAYER.delete(when=as_read, owner=layer.owner, score_id=layer.score_id, layer=layer.layer)
    beside: list[Write] = [gone]
    if (news := news_of([], gone=[layer] if layer.is_published else [])) is not None:
        beside.append(news)
    await annotations.write_annotations(scores, planned, beside=beside)
    return whole.found, layer


async def _find_made(scores: Scores, found: Found, layer: str) -> LayerRow:
    there = await LAYER.get(scores.tables, owner=found.owner, score_id=found.score_id, layer=layer)
    if there is None:
        raise LayerUnknown("This layer was made, and deleted since.")
    return there


async def list_layers(scores: Scores, found: Found) -> list[LayerRow]:
    page = await LAYER.list(scores.tables, owner=found.owner, score_id=found.score_id, limit=2 * MAX_LAYERS)
    return page.records


async def find_own_layer(scores: Scores, viewer: Viewer, public: str, layer_id: int) -> tuple[Found, LayerRow]:
    found = await find_score(scores, viewer, public, "marker")
    layer = await find_layer(scores, found.owner, found.score_id, layer_id)
    if layer is None or not may_see(layer, viewer):
        raise LayerUnknown("This score has no such layer.")
    if layer.author != viewer.user_id:
        raise Forbidden("Only its author changes a layer. Make one of your own.")
    return found, layer


async def find_layer(scores: Scores, owner: OwnerId, score_id: ScoreId, layer_id: int) -> LayerRow | None:
    return await LAYER.get(scores.tables, owner=owner, score_id=score_id, layer=layer_key(layer_id))


def layer_key(layer_id: int) -> str:
    return f"{layer_id:05d}"


def _check_part(found: Found, part_id: int | None) -> None:
    if part_id is not None and all(part.part_id != part_id for part in found.extra.parts):
        raise ChoiceUnfit("This score has no such part.", field="part_id")
