"""What connections make the server hold, in bytes, and who has to go when that is too much.

Each connection enters what it holds: a half request, the head of one that is being answered, a body that nobody has
asked for yet or that has to be whole, and what it was answered and does not take. All of that has one bound. Past it,
connections of the network that holds the most are ended, the largest first, so that whoever makes the server hold much
takes only their own share.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Protocol

# Less of one connection is not worth counting: all connections together hold little then.
WORTH_COUNTING_BYTES = 4 * 1024
# Of the bound, so much may be left of connections that are being ended.
OVERRUN_PART = 4
# What a header takes in memory besides its bytes.
_HEADER_BYTES = 180


def bytes_of_head(headers: Sequence[tuple[bytes, bytes]]) -> int:
    """What the head of a request takes for as long as it is answered."""
    return len(headers) * _HEADER_BYTES + sum(len(name) + len(value) for name, value in headers)


class Holder(Protocol):
    """A connection that can be ended."""

    def network(self) -> str:
        """Where it comes from: an IPv4 address, or the widest network of an IPv6 one."""
        ...

    def abandon(self) -> None:
        """End it at once, and forget what it holds."""
        ...


class HeldBytes:
    """The bytes that each connection holds, and their sum. `ending` are those of connections that are being ended."""

    __slots__ = ("_ending", "_ending_networks", "_held", "_limit", "ending", "total")

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._held: dict[Holder, int] = {}
        self._ending: dict[Holder, int] = {}
        self._ending_networks: set[str] = set()
        self.total = self.ending = 0

    @property
    def is_half_full(self) -> bool:
        return self.total > self._limit // 2

    @property
    def is_overrun(self) -> bool:
        """Whether much is left of connections that are being ended, which takes a turn of the loop or two."""
        return self.ending > self._limit // OVERRUN_PART

    def is_overrun_by(self, holder: Holder) -> bool:
        """The same, and this one is of their network: until it is over, nothing large is taken from there.

        Thousands can send at one moment.
        """
        return self.is_overrun and holder.network() in self._ending_networks

    def gone(self, holder: Holder) -> None:
        """The connection has ended, and holds nothing any more."""
        self.note(holder, 0)
        self.ending -= self._ending.pop(holder, 0)
        if not self._ending:
            self._ending_networks.clear()

    def note(self, holder: Holder, count: int) -> None:
        """What this connection holds now, instead of what it held before."""
        self.total += count - self._held.pop(holder, 0)
        if count:
            self._held[holder] = count
        if self.total > self._limit:
            self._make_room()

    def _make_room(self) -> None:
        # Not only just enough: not every further byte has to look at all of them.
        enough = self._limit * 7 // 8
        by_network = Counter[str]()
        networks = {each: each.network() for each in self._held}
        for each, count in self._held.items():
            by_network[networks[each]] += count
        largest_first = sorted(self._held, key=self._held.__getitem__, reverse=True)
        for network, _ in by_network.most_common():
            for each in largest_first:
                if self.total <= enough:
                    return
                if networks[each] == network:
                    count = self._held.pop(each)
                    self.total -= count
                    self.ending += count - self._ending.pop(each, 0)
                    self._ending[each] = count
                    self._ending_networks.add(network)
                    each.abandon()
