"""Looks at the machine itself: the data folder, the secret, and the port to listen on."""

import asyncio
import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from http.client import HTTPException
from pathlib import Path

from satchel.cli.doctor.findings import Report, Step, Unfit
from satchel.config import Settings
from satchel.edge.http.server import CannotListen, listen
from satchel.kernel.signature import Signer

ENOUGH_BYTES = 256 * 1024**2
_ANOTHER_FOLDER = "Choose another folder with --data or SATCHEL_DATA, or let this user write there."


async def examine_folder(settings: Settings, report: Report) -> None:
    folder = settings.data.absolute()
    present = _nearest(folder)

    async def write() -> str | None:
        if not present.is_dir():
            raise Unfit(f"{present} is not a folder.", _ANOTHER_FOLDER)
        try:
            with tempfile.NamedTemporaryFile(dir=present, prefix=".satchel-doctor-") as file:
                file.write(b"Satchel was here.")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise Unfit(f"{present} cannot be written to: {error.strerror}.", _ANOTHER_FOLDER) from error
        return None if present == folder else f"{folder} is not there yet and can be made"

    async def private() -> None:
        _refuse_if_others_can_use(folder, remedy="chmod 700")

    async def roomy() -> str:
        free = shutil.disk_usage(present).free
        if free < ENOUGH_BYTES:
            raise Unfit(f"Only {_readable(free)} are free.", "Make room, or choose another folder with --data.")
        return f"{_readable(free)} free"

    steps = [Step("write a file and flush it", write, vital=True)]
    if present == folder:
        steps.append(Step("keep it from other users", private))
    steps.append(Step("have room", roomy))
    await report.run("data folder", steps)


@contextmanager
def unless_begun(settings: Settings) -> Generator[Settings]:
    """The same settings; but if nothing is in the data folder yet, with a folder beside it that is taken away again.

    So that an examination leaves nothing behind where no server has run.
    """
    folder = settings.data.absolute()
    try:
        begun = folder.exists() and any(folder.iterdir())
        scratch = None if begun else tempfile.TemporaryDirectory(dir=_nearest(folder), prefix=".satchel-doctor-")
    except OSError:
        scratch = None  # every store will say for itself why it cannot work there
    if scratch is None:
        yield settings
    else:
        with scratch as made:
            yield replace(settings, data=Path(made))


def _nearest(path: Path) -> Path:
    """The path itself if it is there, else the first above it that is: where it would have to be made."""
    return next(each for each in (path, *path.parents) if os.path.lexists(each))


async def examine_secret(settings: Settings, report: Report) -> Signer | None:
    from satchel.secret import open_signer

    opened: list[Signer] = []

    async def sign() -> str:
        try:
            signer = open_signer(settings)
        except ValueError as error:
            fix = "Restore it from a backup, or delete it: then a new one is made and everybody has to sign in again."
            raise Unfit(f"The secret in {settings.data / 'secret'} is damaged.", fix) from error
        signer.open("doctor", signer.sign("doctor", b"Satchel was here."))
        opened.append(signer)
        return "from the settings" if settings.secret else "kept in the data folder"

    async def private() -> None:
        _refuse_if_others_can_use(settings.data / "secret", remedy="chmod 600")

    steps = [Step("sign and verify", sign, vital=True)]
    if not settings.secret:
        steps.append(Step("keep it from other users", private))
    await report.run("secret", steps)
    return opened[0] if opened else None


def _refuse_if_others_can_use(path: Path, *, remedy: str) -> None:
    if path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise Unfit(f"Other users of this machine can use {path}.", f"Run: {remedy} {path}")


async def examine_port(settings: Settings, report: Report) -> None:
    async def try_to_listen() -> str:
        try:
            listen(settings.listens_on, settings.port).close()
        except CannotListen as refusal:
            if isinstance(refusal.__cause__, OSError) and refusal.__cause__.errno == errno.EADDRINUSE:
                return await _ask_who_is_there(settings)
            raise Unfit(str(refusal), "The address comes from --host and --port.") from refusal
        return f"{settings.listens_on}:{settings.port} is free" if settings.port else "a free port will be chosen"

    await report.run("port", [Step("listen, or find a Satchel listening", try_to_listen)])


async def _ask_who_is_there(settings: Settings) -> str:
    from satchel.cli.engine.http.http_connection import fetch

    loopback = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104  # asked, not listened on
    host = loopback.get(settings.listens_on, settings.listens_on)
    address = replace(settings, host=host, public_url="").address
    other = Unfit(
        f"Another program listens on port {settings.port}.",
        "Stop it, or choose another port with --port or SATCHEL_PORT.",
    )
    try:
        alive, ready = [
            await asyncio.to_thread(fetch, f"{address}/{name}", 3.0, uses_proxy=False) for name in ("healthz", "readyz")
        ]
    except (OSError, HTTPException) as error:
        raise other from error
    if alive.status != 200 or b'"alive"' not in alive.content:
        raise other
    if ready.status != 200:
        fix = "Its log says why; what fails above may be the cause."
        raise Unfit(f"A Satchel runs at {address}, but it is not ready to work.", fix)
    return f"a Satchel answers at {address}"


def _readable(size: int) -> str:
    amount = float(size)
    for unit in ("bytes", "KB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"
