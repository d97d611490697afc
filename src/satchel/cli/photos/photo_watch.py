"""Watch folders by looking at them again and again, and back up what has changed."""

import time
from collections.abc import Callable, Mapping, Sequence

from satchel.cli.engine.files.local_files import gather
from satchel.cli.engine.http.failures import Refused, Unreachable
from satchel.cli.engine.http.retry import is_transient
from satchel.cli.engine.terminal.interrupt import Interruption
from satchel.cli.engine.terminal.output import note
from satchel.cli.photos.photo_fates import FateReport

# Also what network drives and cameras add is seen so, of which no system tells.
LOOK_SECONDS = 2.0


def watch_folders(
    folders: Sequence[str], done: Mapping[str, str], run: Callable[[], FateReport], *, says: bool
) -> None:
    """Until Ctrl-C, which is how one ends it. A change is backed up once it has been still for one look.

    `done` is what was there before the first backup began: what came while it ran may not be in it.
    """
    if says:
        note("Watching. Ctrl-C stops.")
    seen = done
    try:
        with Interruption() as interruption:
            while True:
                time.sleep(LOOK_SECONDS)
                interruption.raise_again()
                now = look(folders)
                if now == seen and now != done and _backed_up(run, says=says):
                    done = now
                seen = now
    except KeyboardInterrupt:
        note("")


def _backed_up(run: Callable[[], FateReport], *, says: bool) -> bool:
    try:
        report = run()
    except (Refused, Unreachable) as error:
        if not is_transient(error):
            raise
        note(str(error))
        return False
    if says and (report.counts["stored"] or report.troubles):
        print(report.sum_up(), flush=True)
    return True


def look(folders: Sequence[str]) -> dict[str, str]:
    """The version of every file."""
    return {source.path: source.version for source in gather(folders, "", skip_hidden=True).sources}
