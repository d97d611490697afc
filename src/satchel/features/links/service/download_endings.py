"""Recovery of downloads: what ended in the moment in which its server died is counted, exactly once.

Before the last bytes of an answer go out, a journal entry says so. It stays until the download is counted. If the
visitor resumes instead, they did not have all, and the entry leads to nothing.
"""

from satchel.features.links.model import LinkUnknown
from satchel.features.links.records import ENDED_INDEX, ENDING, ENDING_SORT, GRANT, EndingRow
from satchel.features.links.service.context import Links
from satchel.features.links.service.download_grants import end_answer
from satchel.features.links.service.grant_rules import BELIEVED_FOR, Sending, Taking, alive_answers
from satchel.features.links.service.link_enter import Visit
from satchel.features.links.service.link_find import find_link
from satchel.features.links.service.visit_count import count_ended
from satchel.kernel.clock import iso
from satchel.kernel.linked import LinkedThing
from satchel.stores.ports.table import Range


async def settle_endings(links: Links) -> int:
    """End and count what died in its last moment. Returns how many there were."""
    # A server that is alone knows that everything from before its start is over.
    due = max(links.now(), iso(links.alone_since + BELIEVED_FOR.total_seconds()) if links.alone_since else "")
    page = await links.tables.query(ENDING.table, ENDING_SORT, Range(high=due), index=ENDED_INDEX)
    settled = 0
    for item in await links.tables.get_many(ENDING.table, [ENDING.table.key_of(item) for item in page.items]):
        if item is not None:
            settled += await _settle(links, ENDING.read(item))
    return settled


async def _settle(links: Links, ending: EndingRow) -> bool:
    try:
        link = await find_link(links, ending.token)
    except LinkUnknown:
        await _forget(links, ending)
        return True
    if ending.finished:
        await count_ended(links, link, ending)
        return True
    grant = await GRANT.get(links.tables, token=ending.token, visitor=ending.visitor, file_id=ending.file_id)
    if grant is None or ending.answer_id not in grant.under_way:
        await _forget(links, ending)
        return True
    if ending.answer_id in alive_answers(links, grant):
        return False
    visit = Visit(link=link, thing=LinkedThing(name=""), visitor_id=ending.visitor)
    taking = Taking(visit=visit, file_id=ending.file_id, size_bytes=ending.size_bytes, part=ending.part)
    sending = Sending(answer_id=ending.answer_id, start=ending.start, length=ending.length)
    await end_answer(links, taking, sending, ending.length, is_closing=True)
    return True


async def _forget(links: Links, ending: EndingRow) -> None:
    await links.tables.delete(ENDING.table, ENDING.key(answer_id=ending.answer_id))
