"""The documents say what is there: nothing they name is missing, and nothing that exists goes unmentioned."""

import dataclasses
import re
from pathlib import Path

import pytest

from satchel.config import Settings

ROOT = Path(__file__).parent.parent.parent
WRITTEN = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


@pytest.mark.parametrize("document", WRITTEN, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_in_a_document_leads_somewhere(document: Path) -> None:
    links = re.findall(r"\]\((?!https?:|#)([^)#]+)", document.read_text(encoding="utf-8"))
    assert [link for link in links if not (document.parent / link).exists()] == []


def test_every_path_that_the_architecture_names_exists() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = re.findall(r"`([\w./-]+/[\w.-]+\.(?:py|md|toml)|[\w/-]+/)`", text)
    assert len(named) > 15
    missing = [path for path in named if not any((top / path).exists() for top in (ROOT, ROOT / "src" / "satchel"))]
    assert missing == []


def test_every_setting_is_documented_with_a_sentence() -> None:
    text = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    for field in dataclasses.fields(Settings):
        assert f"| `{field.name}` | `SATCHEL_{field.name.upper()}` |" in text
        assert field.metadata["about"].endswith(".")


def test_every_module_opens_with_a_sentence() -> None:
    sources = [file for file in (ROOT / "src").rglob("*.py") if file.read_text(encoding="utf-8").strip()]
    silent = [str(file.relative_to(ROOT)) for file in sources if not file.read_text(encoding="utf-8").startswith('"""')]
    assert len(sources) > 40
    assert silent == []
