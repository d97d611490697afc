"""Pictures on the stores of a running Satchel, made at once."""

from datetime import timedelta

from satchel.media.picture_maker import PictureMaker
from satchel.media.pictures import Pictures
from satchel.slices import PICTURED
from tests.application import Satchel


def pictures_of(satchel: Satchel) -> Pictures:
    stores = satchel.stores
    return Pictures(
        stores.tables, stores.objects, stores.ephemeral, satchel.clock, longest_wait=timedelta(milliseconds=50)
    )


async def make_pictures(satchel: Satchel) -> int:
    """Make all that are in the queue; how many that were."""
    maker = PictureMaker(pictures_of(satchel), PICTURED, children=1)
    try:
        return await maker.make_all()
    finally:
        await maker.stop()
