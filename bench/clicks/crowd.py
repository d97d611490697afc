"""Who clicks: as many different people to so many clicks as in the seed's example of a day."""

import random
from collections.abc import Sequence

# 1,500 clicks of 250 people.
CLICKS_PER_PERSON = 6


class Crowd:
    """Every sample has people of its own, so that nobody is known before: counting new ones is the dear part."""

    def __init__(self) -> None:
        self._random = random.Random(1)
        self._samples = 0

    def clicks(self, number: int) -> Sequence[str]:
        """The user of each click, in no order."""
        self._samples += 1
        people = [f"user-{self._samples:03}-{person:06}" for person in range(max(1, number // CLICKS_PER_PERSON))]
        return self._random.choices(people, k=number)
