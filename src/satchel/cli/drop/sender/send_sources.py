"""Finds the sources to send for the names that were typed."""

import os
import stat
from collections.abc import Sequence
from pathlib import Path

from satchel.cli.drop.sender.folder_source import Missing, folder_at
from satchel.cli.drop.sender.send_content import FileSource, Source
from satchel.cli.engine.files.local_files import near
from satchel.cli.engine.terminal.output import CommandFailed


def gather(names: Sequence[str]) -> tuple[list[Source], Missing]:
    """A source for each name. Raises `CommandFailed` if one does not exist or cannot be read."""
    sources: list[Source] = []
    missing = Missing()
    for name in dict.fromkeys(map(os.path.abspath, names)):
        try:
            facts = Path(name).stat()
            if stat.S_ISDIR(facts.st_mode):
                os.scandir(name).close()
                sources.append(folder_at(os.path.realpath(name), missing, Path(name).name))
            elif stat.S_ISREG(facts.st_mode):
                os.close(os.open(name, os.O_RDONLY))
                sources.append(FileSource.of(os.path.realpath(name), facts, Path(name).name))
            else:
                raise CommandFailed(f"{near(name)} is neither a file nor a folder. A pipe is sent with `-`.")
        except OSError as error:
            raise CommandFailed(f"{near(name)} cannot be read: {error.strerror}.") from error
    return sources, missing
