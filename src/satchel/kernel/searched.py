"""What one search over everything needs of each slice: who looks, for which words, and what was found."""

from dataclasses import dataclass
from typing import Literal, Protocol

from satchel.kernel.names import folded
from satchel.kernel.unfit import TextUnfit

MAX_WORDS = 20
FoundKind = Literal["file", "folder", "album", "score", "set-list", "room", "link", "person"]


@dataclass(frozen=True, slots=True)
class Seeker:
    """Who looks: a member, with the address by which others share things with them."""

    user_id: str
    email: str
    is_administrator: bool


@dataclass(frozen=True, slots=True)
class Words:
    """What is looked for. Case, accents, the width of letters and the kind of kana do not matter."""

    written: str
    folded: tuple[str, ...]

    @classmethod
    def of(cls, written: str) -> "Words":
        words = tuple(folded(written).split())
        if not 0 < len(words) <= MAX_WORDS:
            raise TextUnfit(f"Search for 1 to {MAX_WORDS} words.", field="q")
        return cls(written, words)

    def are_in(self, *texts: str) -> bool:
        """Whether each word stands somewhere in the texts, also inside a word: Chinese and Japanese have no spaces."""
        text = folded(" ".join(texts))
        return all(word in text for word in self.folded)


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One result. `detail` tells it from others of its name, `within` is the id of the folder that it is in."""

    kind: FoundKind
    id: str
    name: str
    detail: str = ""
    within: str = ""


@dataclass(frozen=True, slots=True)
class Findings:
    """Some results. `partial` if there is more that was not looked at."""

    found: list[Finding]
    partial: bool = False


class Searchable(Protocol):
    """Finds things of one slice that the seeker may see, with a bounded amount of work."""

    async def find(self, seeker: Seeker, words: Words, limit: int) -> Findings: ...
