"""What a shelf asks of the rest of the program: whether somebody has a link to a thing."""

from typing import Protocol


class Links(Protocol):
    """The links of everybody."""

    async def has_any(self, owner: str, thing: str) -> bool:
        """Whether the owner has a link to the thing, such as `selection:<id>`, in whatever state."""
        ...
