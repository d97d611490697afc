"""What the tests of the kit are given."""


class Nap:
    """Sleeps that take no time and are remembered."""

    def __init__(self) -> None:
        self.pauses: list[float] = []

    async def __call__(self, seconds: float) -> None:
        self.pauses.append(seconds)
