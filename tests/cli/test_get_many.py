"""`satchel get` of many small files: in a few archives, each verified, and nothing in the place of what was there."""

import os
import random
from pathlib import Path

import pytest

from satchel.cli.engine.files.archive_fetch import grouped
from satchel.cli.engine.files.download import Wanted
from tests.application import PASSWORD
from tests.cli.terminal import Person
from tests.cli.test_put_get import MEGABYTE, contents, fill
from tests.server.process import ServerProcess

pytestmark = pytest.mark.slow

FILES = 230


@pytest.fixture
def many(ann: Person, fresh_server: ServerProcess) -> Path:
    """A folder of small files, and a large one, that Ann has on her shelf."""
    signup = ("signup", "--server", fresh_server.url, "--email", "ann@example.org", "--name", "Ann")
    assert ann.run(*signup, SATCHEL_PASSWORD=PASSWORD).code == 0
    top = ann.home / "many"
    for number in range(FILES):
        file = fill(top / f"{number % 3}/Ünï & 🎻 {number:03}.bin", number * 31)
        if number % 7 == 0:
            file.chmod(0o755)
        os.utime(file, ns=(10**18 + number, 10**18 + number))
    fill(top / "1/large.bin", MEGABYTE)
    assert ann.run("put", "many", "--quiet").code == 0
    return top


def facts(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(path.relative_to(folder)): (path.stat().st_mtime_ns, path.stat().st_mode) for path in folder.rglob("*")}


def damage(objects: Path, content: bytes) -> None:
    """Change the first byte of this content where the server keeps it."""
    (stored,) = [each for each in objects.rglob("*") if each.is_file() and each.read_bytes().startswith(content)]
    with stored.open("r+b") as file:
        file.write(bytes([content[0] ^ 1]))


def test_many_small_files_come_back_as_they_were_in_few_requests(
    ann: Person, many: Path, fresh_server: ServerProcess
) -> None:
    ran = ann.run("get", "many", "-o", "back")
    assert ran.code == 0, ran
    assert ran.out.splitlines()[-1].startswith(f"{FILES + 1} files, ")
    back = ann.home / "back/many"
    assert contents(back) == contents(many)
    assert facts(back) == facts(many)
    asked = [line for line in fresh_server.said.splitlines() if "GET /api/v1/shelf/" in line]
    assert len([line for line in asked if "/archive" in line]) == 3
    assert len([line for line in asked if "/content" in line]) == 1


def test_what_is_wrong_in_an_archive_is_said_of_that_file_alone(ann: Person, many: Path) -> None:
    wrong = many / "2/Ünï & 🎻 200.bin"
    damage(ann.home.parent / "data/objects", wrong.read_bytes())
    ran = ann.run("get", "many", "-o", "back")
    assert ran.code == 1
    assert "200.bin: the download does not match the server's SHA-256" in ran.err
    assert ran.err.count("Not fetched") == 1
    wanted = contents(many)
    del wanted[str(wrong.relative_to(many))]
    assert contents(ann.home / "back/many") == wanted


def test_what_has_the_name_of_a_small_file_stays(ann: Person, many: Path) -> None:
    here = fill(ann.home / "back/many" / random.choice([*contents(many)]), 17)
    before = here.read_bytes()
    assert ann.run("get", "many", "-o", "back", "--quiet").code == 0
    assert here.read_bytes() == before
    assert len(contents(ann.home / "back/many")) == FILES + 2


def test_where_no_file_can_be_without_a_name_each_comes_for_itself(tmp_path: Path) -> None:
    wanted = [Wanted("", 1, "", Path(f"/proc/{number}.bin")) for number in range(3)]
    assert [*grouped(wanted, Path("/proc"))] == [[each] for each in wanted]
    assert [*grouped(wanted, tmp_path)] == [wanted]
