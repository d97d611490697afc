"""Finding things from a terminal."""

from pathlib import Path

import pytest

from tests.application import PASSWORD
from tests.cli.terminal import Person, explains
from tests.server.process import ServerProcess

pytestmark = pytest.mark.slow


def test_things_are_found_by_words_for_people_and_for_programs(
    ann: Person, fresh_server: ServerProcess, tmp_path: Path
) -> None:
    arguments = ("signup", "--server", fresh_server.url, "--email", "ann@example.org", "--name", "Ann")
    assert ann.run(*arguments, SATCHEL_PASSWORD=PASSWORD).code == 0
    file = tmp_path / "Ｈarbour view.txt"
    file.write_text("blue")
    assert ann.run("put", str(file)).code == 0
    assert "harbour view.txt" in ann.run("search", "view", "harbour").out.replace("Ｈ", "h")
    answer = ann.run("search", "harbour", "--json").json
    assert [(hit["kind"], hit["detail"]) for hit in answer["hits"]] == [("file", "")]
    assert answer["partial"] is False
    assert [hit["kind"] for hit in ann.run("search", "ann@example", "--json").json["hits"]] == ["person"]
    nothing = ann.run("search", "no such thing")
    assert (nothing.code, nothing.out, nothing.err) == (0, "", "Nothing found.\n")
    assert explains(ann.run("search", *["word"] * 21), 1, "1 to 20 words")
