"""Recovery of downloads: what ended in the moment in which its server died is counted, exactly once.

Before the last bytes of an answer go out, an entry of the outbox says so. It stays until the download is counted. If
the visitor resumes instead, they did not have all, and the entry leads to nothing.
"""

import msgspec

from satchel.features.links.model import LinkUnknown
from satchel.features.links.records import GRANT, Ending
from satchel.features.links.service.context import Links
from satchel.features.links.service.download_grants import end_answer
from satchel.features.links.service.grant_rules import Sending, Taking, alive_answers
from satchel.features.links.service.link_enter import Visit
from satchel.features.links.service.link_find import find_link
from satchel.kernel.linked import LinkedThing
from satchel.outbox import OutboxRow


async def end_interrupted(links: Links, entry: OutboxRow) -> bool:
    """End and count an answer that died in its last moment. Whether it was over."""
    ending = msgspec.convert(entry.answer, Ending)
    try:
        link = await find_link(links, ending.token)
    except LinkUnknown:
        await links.outbox.forget(entry.entry_id)
        return True
    grant = await GRANT.get(links.tables, token=ending.token, visitor=ending.visitor, file_id=ending.file_id)
    if grant is None or entry.entry_id not in grant.under_way:
        await links.outbox.forget(entry.entry_id)
        return True
    if entry.entry_id in alive_answers(links, grant):
        return False
    visit = Visit(link=link, thing=LinkedThing(name=""), visitor_id=ending.visitor)
    taking = Taking(
        visit=visit, file_id=ending.file_id, size_bytes=ending.size_bytes, part=ending.part, thing=ending.thing
    )
    sending = Sending(answer_id=entry.entry_id, start=ending.start, length=ending.length)
    await end_answer(links, taking, sending, ending.length, is_closing=True)
    return True
