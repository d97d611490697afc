"""A memory card for tests: photos of known days, in folders as cameras make them."""

import random
from pathlib import Path
from typing import Any

import msgspec

from tests.application import PASSWORD
from tests.cli.terminal import Person, Ran
from tests.features.albums.photos_given import photo


def sign_up(person: Person, server: str) -> str:
    """The address of the new account."""
    email = f"{random.randrange(10**12)}@example.org"
    signup = ("signup", "--server", server, "--email", email, "--name", "Ann")
    assert person.run(*signup, SATCHEL_PASSWORD=PASSWORD).code == 0
    return email


def shoot(path: Path, taken: str = "2024:07:10 12:00:00", *, mark: str = "", more_bytes: int = 0) -> Path:
    """A photo of a moment. Another mark makes other bytes, and so do more of them."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(photo(taken, mark=mark or path.name) + random.randbytes(more_bytes))
    return path


def fates(ran: Ran) -> dict[str, str]:
    """What became of each file."""
    return {each["path"]: each["result"] for each in objects(ran)}


def objects(ran: Ran) -> list[Any]:
    return [msgspec.json.decode(line) for line in ran.out.splitlines()]


def albums(person: Person) -> dict[str, int]:
    return {album["name"]: album["medias"] for album in person.run("album", "list", "--json").json["albums"]}
