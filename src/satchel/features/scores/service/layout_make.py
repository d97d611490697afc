"""Makes layouts of engraved music when somebody wants them, and keeps the last few beside their source.

A layout follows from its source and the choice alone. So nothing is written but objects, the map last: a layout with
a map is whole. Making one twice comes to the same, and one that was forgotten is made again.
"""

from collections.abc import Sequence
from contextlib import aclosing

from satchel.features.scores.item_records import ItemEntry, ItemsRow, layout_key, layouts_prefix
from satchel.features.scores.layout import IMPORTED, Layout, LayoutChoice
from satchel.features.scores.model import ItemId
from satchel.features.scores.service.context import Scores
from satchel.features.scores.service.engrave_once import engrave_once
from satchel.features.scores.service.page_source import source_of_pages
from satchel.features.scores.service.score_find import NOBODY, Viewer
from satchel.media.score_map import LayoutMap, decode_layout, decode_page, encode_layout
from satchel.media.score_pages import SourceFacts
from satchel.stores.ports.objects import ObjectInfo, ObjectMissing, SmallObject

# Of one source. Each may have as many pages as a score.
MAX_LAYOUTS = 8
_MAP = "map.json"


async def get_layout(
    scores: Scores, items: ItemsRow, source: ItemEntry, choice: LayoutChoice, viewer: Viewer = NOBODY
) -> Layout:
    """A layout of a source, made for somebody if there is none. Raises `PagesRefused` if it cannot be made."""
    key = _key(items, source.item_id, choice, _MAP)
    cached = scores.layouts.get(key)
    # Whether the pages of another layout are still there, only its map tells.
    if cached is not None and choice == IMPORTED:
        return cached
    try:
        async with scores.objects.read(key) as reading:
            body = b"".join([piece async for piece in reading])
    except ObjectMissing:
        if choice != IMPORTED:
            await scores.limits.count_layout(viewer.user_id, viewer.address)
        body = await engrave_once(scores, key, lambda: _make(scores, items, source, choice))
    layout = Layout(choice, decode_layout(body))
    scores.layouts.keep(key, layout, len(body))
    return layout


async def keep_imported(
    scores: Scores, items: ItemsRow, source: ItemId, facts: SourceFacts, maps: Sequence[bytes]
) -> None:
    """The map of the pages that an import has made."""
    layout = LayoutMap(parts=facts.parts, pages=[decode_page(each) for each in maps])
    await _put(scores, _key(items, source, IMPORTED, _MAP), encode_layout(layout))


async def forget_layouts(scores: Scores, items: ItemsRow, source: ItemId) -> None:
    """All that was made of a source besides its pages."""
    kept = await _kept(scores, items, source)
    if kept:
        await scores.objects.delete(*(info.key for info in kept))


async def _make(scores: Scores, items: ItemsRow, source: ItemEntry, choice: LayoutChoice) -> bytes:
    """The pages of an import are items already."""
    if choice != IMPORTED:
        await _make_room(scores, items, source.item_id)
    facts, maps = SourceFacts(pages=0), list[bytes]()
    async with aclosing(scores.pages.make(source_of_pages(items, source), choice.options)) as made:
        async for each in made:
            if isinstance(each, SourceFacts):
                facts = each
                continue
            maps.append(each.map)
            if choice != IMPORTED:
                await _put(scores, _key(items, source.item_id, choice, f"{each.number}.svg"), each.body)
    body = encode_layout(LayoutMap(parts=facts.parts, pages=[decode_page(each) for each in maps]))
    await _put(scores, _key(items, source.item_id, choice, _MAP), body)
    return body


async def _make_room(scores: Scores, items: ItemsRow, source: ItemId) -> None:
    """Forget the oldest layouts, and those that were never whole, so that one more has room."""
    layouts: dict[str, list[ObjectInfo]] = {}
    prefix = layouts_prefix(items.owner, items.score_id, source)
    for info in await _kept(scores, items, source):
        folder, slash, _ = info.key.removeprefix(prefix).partition("/")
        if slash and folder != IMPORTED.name:
            layouts.setdefault(folder, []).append(info)
    oldest = sorted(layouts.values(), key=lambda objects: max(info.modified for info in objects))
    for objects in oldest[: max(len(oldest) - MAX_LAYOUTS + 1, 0)]:
        # The map first: a layout with a map is whole.
        for is_map in (True, False):
            if keys := [info.key for info in objects if info.key.endswith(f"/{_MAP}") == is_map]:
                await scores.objects.delete(*keys)


async def _kept(scores: Scores, items: ItemsRow, source: ItemId) -> list[ObjectInfo]:
    found: list[ObjectInfo] = []
    prefix, after = layouts_prefix(items.owner, items.score_id, source), ""
    while True:
        listed = await scores.objects.list(prefix, after=after)
        found += listed.objects
        if listed.after is None:
            return found
        after = listed.after


async def _put(scores: Scores, key: str, body: bytes) -> None:
    await scores.objects.put_many([SmallObject(key, body)])


def _key(items: ItemsRow, source: ItemId, choice: LayoutChoice, name: str) -> str:
    return layout_key(items.owner, items.score_id, source, f"{choice.name}/{name}")
