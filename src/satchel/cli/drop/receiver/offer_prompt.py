"""Shows what is offered, and asks what to receive."""

import re
import sys
from collections.abc import Mapping, Sequence

from satchel.cli.drop.session.description_text import described
from satchel.cli.drop.session.drop_session import Announced, Somebody
from satchel.cli.engine.terminal.output import printable
from satchel.cli.engine.terminal.sizes import shown_bytes

_YES, _NO = {"", "y", "yes", "a", "all"}, {"n", "no", "none"}


def owner_name(file: Announced, members: Mapping[str, Somebody]) -> str:
    owner = members.get(file.owner_id)
    return owner.name if owner else "Somebody"


def show(files: Sequence[Announced], members: Mapping[str, Somebody]) -> None:
    """A numbered list, to choose from by number."""
    shown_owner = ""
    for number, file in enumerate(files, 1):
        if file.owner_id != shown_owner:
            shown_owner = file.owner_id
            print(f"{printable(owner_name(file, members))} offers:", file=sys.stderr)
        print(f"  {number:>{len(str(len(files)))}}  {printable(described(file.description))}", file=sys.stderr)
    if len(files) > 1:
        total = sum(file.description.size or 0 for file in files)
        print(f"Together {shown_bytes(total)}.", file=sys.stderr)


def ask(files: Sequence[Announced]) -> list[Announced]:
    """Ask which of the files, as they were shown, to receive."""
    hint = "Y/n" if len(files) == 1 else "Y/n, or numbers such as 1,3"
    question = "Take it?" if len(files) == 1 else "Take all?"
    while True:
        print(f"{question} [{hint}] ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        if not line:
            return []
        if (chosen := _chosen(line.strip().lower(), files)) is not None:
            return chosen


def is_wanted() -> bool:
    """Ask whether something that has changed is wanted."""
    while True:
        print("Take it? [Y/n] ", end="", file=sys.stderr, flush=True)
        line = sys.stdin.readline()
        answer = line.strip().lower()
        if not line or answer in _NO:
            return False
        if answer in _YES:
            return True


def _chosen(answer: str, files: Sequence[Announced]) -> list[Announced] | None:
    """None if the answer makes no sense."""
    if answer in _YES:
        return list(files)
    if answer in _NO:
        return []
    words = re.split(r"[\s,;]+", answer)
    numbers = [int(word) for word in words if word.isascii() and word.isdecimal()]
    if len(numbers) < len(words) or not all(1 <= number <= len(files) for number in numbers):
        return None
    return [files[number - 1] for number in sorted(set(numbers))]
