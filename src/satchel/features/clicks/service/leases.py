"""Let one of several workers do what only one should do at a time, and another take over when it dies."""

from dataclasses import dataclass
from datetime import timedelta

from satchel.features.clicks.records import LEASED, LeaseRow
from satchel.kernel.clock import Clock
from satchel.kernel.errors import Unavailable
from satchel.stores.ports.expressions import attr
from satchel.stores.ports.table import Check, ConditionFailed, Tables
from satchel.tables import COUNTS

LASTS = timedelta(seconds=10)
# As long as a stream could deliver what was claimed, and a little.
_CLAIMS_MATTER_FOR = timedelta(hours=25)
_CLAIMS = "claims"


@dataclass(frozen=True, slots=True)
class Lease:
    """The right of one worker to do something, as long as it keeps asking for it."""

    tables: Tables
    clock: Clock
    name: str
    holder: str

    async def take(self) -> bool:
        """Whether it is ours for a while from now on."""
        now = int(self.clock() * 1000)
        row = LeaseRow(name=self.name, holder=self.holder, until=now + int(LASTS.total_seconds() * 1000))
        free = attr("PK").absent() | (attr("holder") == self.holder) | (attr("until") <= now)
        try:
            await self.tables.put(COUNTS, LEASED.item(row), when=free)
        except ConditionFailed:
            return False
        return True

    def is_ours(self) -> Check:
        """Lets a transaction happen only if nobody has taken over since, however long ago we asked."""
        return Check(COUNTS, LEASED.key(name=self.name), attr("holder") == self.holder)

    async def release(self) -> None:
        try:
            await self.tables.delete(COUNTS, LEASED.key(name=self.name), when=attr("holder") == self.holder)
        except ConditionFailed:
            return


async def note_claims(tables: Tables, clock: Clock) -> None:
    """Note that clicks are folded without positions, so that nobody who goes by positions folds them again."""
    until = int((clock() + _CLAIMS_MATTER_FOR.total_seconds()) * 1000)
    await tables.put(COUNTS, LEASED.item(LeaseRow(name=_CLAIMS, holder=_CLAIMS, until=until)))


async def check_positions(tables: Tables, clock: Clock) -> None:
    """Refuse to go by positions where clicks were folded without them."""
    noted = await LEASED.get(tables, name=_CLAIMS)
    if noted is not None and noted.until > clock() * 1000:
        raise Unavailable(
            "A Lambda function counts clicks without knowing their shard. "
            "Give its event source mapping a tumbling window, and try again a day later."
        )
