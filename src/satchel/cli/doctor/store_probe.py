"""What the probes of all stores share: open one, try its abilities, and leave nothing behind."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from contextlib import suppress
from typing import Generic, Protocol, TypeVar

from satchel.cli.doctor.findings import Report, Step
from satchel.cli.engine.terminal.output import without_password
from satchel.kernel.errors import SatchelError


class Closable(Protocol):
    """Any store."""

    async def close(self) -> None: ...


S = TypeVar("S", bound=Closable)


class StoreProbe(ABC, Generic[S]):
    """Tries one store. The first step of a subclass opens it and sets `opened`."""

    opened: S | None = None

    @property
    def store(self) -> S:
        assert self.opened is not None
        return self.opened

    @abstractmethod
    def steps(self) -> Sequence[Step]: ...

    @abstractmethod
    async def clean_up(self) -> None:
        """Delete what the steps have written."""

    async def examine(self, part: str, url: str, report: Report) -> None:
        where = f"The address is {without_password(url)}; change it with --{part} or SATCHEL_{part.upper()}."
        try:
            await report.run(part, self.steps(), if_unreachable=where)
        finally:
            await self._close()

    async def _close(self) -> None:
        if self.opened is None:
            return
        # Whatever step failed, nothing of ours stays; if even this fails, the report has said why.
        with suppress(SatchelError):
            await self.clean_up()
        await self.opened.close()
