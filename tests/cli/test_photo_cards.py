"""Cards that something happens to while they are read: files that change, vanish, or are very many."""

from collections.abc import Callable
from pathlib import Path
from threading import Lock

import pytest

from satchel.cli.engine.http.client import open_client
from satchel.cli.engine.terminal.progress import Lines, Silence
from satchel.cli.photos.analysis_cache import AnalysisCache
from satchel.cli.photos.photo_backup import PhotoBackup
from satchel.cli.photos.photo_fates import FateReport, FileFate
from satchel.cli.photos.photo_scan import Scanned, scan_photos
from tests.cli.photo_card import albums, fates, shoot, sign_up
from tests.cli.terminal import Person
from tests.server.process import ServerProcess

NAMES = ["沖縄の海", "تصویر", "फ़ोटो", "ñandú", "👩‍👩‍👧", "a'\"&<b>", "\u00e9"]


class _Meddling(Silence):
    """Does something when a file is begun, and while it is read."""

    def __init__(self, begun: Callable[[str], None], moved: Callable[[str], None]) -> None:
        super().__init__("")
        self._begun, self._moved = begun, moved

    def begin(self, name: str, size_bytes: int) -> Callable[[int], None]:  # noqa: ARG002
        self._begun(name)
        return lambda _: self._moved(name)


def _scan(
    folder: Path, *, begun: Callable[[str], None] = lambda _: None, moved: Callable[[str], None] = lambda _: None
) -> Scanned:
    cache = AnalysisCache(folder.parent / "cache", [str(folder)])

    def view_of(files: int, size_bytes: int) -> Lines:
        assert files >= 0 <= size_bytes
        return _Meddling(begun, moved)

    try:
        return scan_photos([str(folder)], cache, view_of, zone=None)
    finally:
        cache.close()


def test_a_file_that_changes_while_it_is_read_is_read_again_or_told(tmp_path: Path) -> None:
    card = tmp_path / "card"
    once, always = shoot(card / "once.JPG"), shoot(card / "always.JPG")
    grown: list[str] = []

    def moved(name: str) -> None:
        if name == str(always) or name not in grown:
            grown.append(name)
            with Path(name).open("ab") as file:
                file.write(b"more")

    scanned = _scan(card, moved=moved)
    (photo,) = scanned.photos
    assert (photo.source.path, photo.source.size_bytes) == (str(once), once.stat().st_size)
    assert [(path, trouble) for path, trouble, _ in scanned.others] == [(str(always), "changed")]
    assert grown.count(str(always)) == 3


def test_a_card_that_is_pulled_out_is_told_file_by_file(tmp_path: Path) -> None:
    card = tmp_path / "card"
    files = [shoot(card / f"{number}.JPG") for number in range(6)]

    pulled = Lock()

    def begun(_: str) -> None:
        # Whoever reads another file at the same time waits until they are gone.
        with pulled:
            for path in files[3:]:
                path.unlink(missing_ok=True)

    scanned = _scan(card, begun=begun)
    told = {photo.source.path for photo in scanned.photos} | {path for path, _, _ in scanned.others}
    assert told == set(map(str, files))
    assert [(path, trouble) for path, trouble, _ in scanned.others] == [(str(path), "unreadable") for path in files[3:]]
    assert {why for _, _, why in scanned.others} == {"No such file or directory"}
    # What was read is not read again when the card is back.
    for path in files[3:]:
        shoot(path)
    begun_again: list[str] = []
    assert len(_scan(card, begun=begun_again.append).photos) == 6
    assert sorted(begun_again) == sorted(map(str, files[3:]))


def test_thousands_of_files_in_one_folder_are_each_told(tmp_path: Path) -> None:
    """With 20,000 it takes ten times as long."""
    card = tmp_path / "card"
    shoot(card / "0.JPG")
    content = (card / "0.JPG").read_bytes()
    for number in range(1, 2000):
        (card / f"{number}.JPG").write_bytes(content + number.to_bytes(4, "big"))
    scanned = _scan(card)
    assert len(scanned.photos) == 2000
    assert len({photo.signature for photo in scanned.photos}) == 2000


class _Pulling(FateReport):
    """Pulls the card out once it was read, before anything is sent."""

    def __init__(self, card: Path) -> None:
        super().__init__(as_json=True, quiet=False)
        self.card = card

    def tell(self, told: FileFate) -> None:
        if told.fate == "not-a-photo":
            for path in self.card.glob("*-gone.JPG"):
                path.unlink()
        super().tell(told)


@pytest.mark.slow
def test_a_card_that_is_pulled_out_before_it_is_sent_is_not_safe(
    ann: Person, server: ServerProcess, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sign_up(ann, server.url)
    card = ann.home / "card"
    for number in range(3):
        shoot(card / f"{number}-stays.JPG", f"2024:07:1{number} 12:00:00")
        shoot(card / f"{number}-gone.JPG", f"2024:07:2{number} 12:00:00", more_bytes=2_000_000)
    (card / "notes.txt").write_text("no photo")
    contents = {path: path.read_bytes() for path in card.iterdir()}
    monkeypatch.setenv("HOME", str(ann.home))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.chdir(ann.home)
    with open_client(server.url) as client:
        report = _Pulling(card)
        assert not PhotoBackup(client, ["card"], report).run()
    assert (report.counts["stored"], report.counts["refused"]) == (3, 3), capsys.readouterr()
    assert albums(ann) == {"Q3 2024": 3}
    for path, content in contents.items():
        path.write_bytes(content)
    assert ann.run("photos", "have", "card", "--photos-only").code == 1
    ran = ann.run("photos", "backup", "card", "--json")
    assert ran.code == 0
    assert sorted(fates(ran).values()) == ["known"] * 3 + ["not-a-photo"] + ["stored"] * 3
    assert ann.run("photos", "have", "card", "--photos-only").code == 0


@pytest.mark.slow
def test_names_of_any_script_are_backed_up_and_exported(ann: Person, server: ServerProcess) -> None:
    sign_up(ann, server.url)
    for name in NAMES:
        shoot(ann.home / f"card/{name}.JPG", mark=name.encode("unicode_escape").decode())
    ran = ann.run("photos", "backup", "card", "--json")
    assert (ran.code, set(fates(ran).values())) == (0, {"stored"}), ran
    assert ann.run("photos", "export", "out").code == 0
    exported = {path.name for path in (ann.home / "out").rglob("*.JPG")}
    assert exported == {f"{name}.JPG" for name in NAMES}
