"""An event that accounts state when somebody is suspended, so that what they keep open for others can be shut."""

from dataclasses import dataclass

from satchel.kernel.events import Event


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonSuspended(Event):
    """An administrator has suspended this person. It may be stated again."""

    user_id: str
