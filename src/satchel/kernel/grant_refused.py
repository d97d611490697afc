"""An event that accounts state when somebody refuses what was granted to them, so that its owner's lists agree."""

from dataclasses import dataclass

from satchel.kernel.events import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantRefused(Event):
    """The person with this address wants nothing of this thing of another. It may be stated again."""

    owner: str
    email: str
    scope_type: str
    resource_id: str
