"""The home album of medias: what an upload asks before it stores one, and what an unpinned media goes back to.

Whoever stores medias puts all of this into one transaction, and begins again if that is cancelled:

    library = await library_covering(albums, owner, times)
    places = Counter((library.home(time, pinned), time[:10]) for time in times)
    await albums.tables.transact([library.unchanged(), *puts, *library.counted(places)])

`library.counted` makes as many writes as there are people who see the albums: at most `1 + MAX_PEOPLE` per album.
"""

from collections.abc import Iterable

from satchel.features.albums.media_records import MediaRow
from satchel.features.albums.model import Email, LocalTime, OwnerId
from satchel.features.albums.service.album_act import cover
from satchel.features.albums.service.context import Albums
from satchel.features.albums.service.library import open_library
from satchel.features.albums.service.library_state import Library
from satchel.features.albums.service.media_moves import Uncovered
from satchel.features.albums.service.media_pin import unpin_covered


async def library_covering(albums: Albums, owner: OwnerId, email: Email, times: Iterable[LocalTime]) -> Library:
    """The owner's library, with quarter albums for those of these times that no album covers. No time is undated."""
    library = await open_library(albums, owner, email)
    for moment in times:
        if moment and library.timeline.home(moment) is None:
            library = await cover(albums, owner, moment)
    return library


async def unpin(albums: Albums, owner: OwnerId, media_id: str) -> MediaRow:
    """Let the date of a media decide about its album again."""
    while True:
        try:
            return await unpin_covered(albums, owner, media_id)
        except Uncovered as uncovered:
            await cover(albums, owner, uncovered.moment)
