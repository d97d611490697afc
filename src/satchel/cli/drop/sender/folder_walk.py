"""Opens folders name by name without following links, so that a folder swapped for a link leads nowhere else."""

import os
from collections.abc import Sequence

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def open_below(top: int, names: Sequence[str]) -> int:
    """The folder that these names lead to from the folder `top`. Raises OSError if one of them is a link."""
    descriptor = os.dup(top)
    for name in names:
        above = descriptor
        try:
            descriptor = os.open(name, _FOLDER, dir_fd=above)
        finally:
            os.close(above)
    return descriptor


def open_real_folder(path: str) -> int:
    """A folder whose path had no link in it when it was looked up. Raises OSError if there is one by now."""
    top = os.open("/", _FOLDER)
    try:
        return open_below(top, [name for name in path.split("/") if name])
    finally:
        os.close(top)


def stat_real_file(path: str) -> os.stat_result:
    """The same for a file."""
    above, _, name = path.rpartition("/")
    folder = open_real_folder(above)
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    finally:
        os.close(folder)
