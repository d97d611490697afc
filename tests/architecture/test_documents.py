"""The documents say what is there: nothing they name is missing, and nothing that exists goes unmentioned."""

import dataclasses
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from satchel.config import Settings
from satchel.slices import DURABLE_KEYS, SLICES

ROOT = Path(__file__).parent.parent.parent
SATCHEL = ROOT / "src" / "satchel"
ARCHITECTURE = ROOT / "docs" / "architecture.md"
FRONT = [ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")]
WRITTEN = [*FRONT, ROOT / "bench" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
WALKS = sorted((ROOT / "docs" / "walks").glob("*.md"))
# Decisions are of their day: what they name may have moved since.
WITH_PATHS = [ARCHITECTURE, ROOT / "CONTRIBUTING.md", *WALKS]
# `edge/http/server.py`, `web/src/routes/(drop)` or `stores/rules/`, but no address and no word with a slash in it.
PATH = re.compile(r"`((?:src|web|docs|tests|tools|edge|features|kernel|stores|cli)/[\w./()-]*|[\w-]+\.(?:py|toml))`")
LONGEST_SENTENCE = 28


def section(document: Path, heading: str) -> str:
    text = document.read_text(encoding="utf-8")
    return text.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]


def first_cells(table: str) -> list[list[str]]:
    """What stands in backticks in the first cell of each row."""
    return [re.findall(r"`([^`]+)`", row.split("|")[1]) for row in table.splitlines() if row.startswith("| `")]


def contract(name: str) -> dict[str, Any]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    return next(each for each in settings["tool"]["importlinter"]["contracts"] if each["name"] == name)


@pytest.mark.parametrize("document", WRITTEN, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_link_in_a_document_leads_somewhere(document: Path) -> None:
    links = re.findall(r"(?:\]\(|src=\"|srcset=\")(?!https?:|#)([^)#\"]+)", document.read_text(encoding="utf-8"))
    assert [link for link in links if not (document.parent / link).exists()] == []


@pytest.mark.parametrize("document", WITH_PATHS, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_path_that_a_document_names_exists(document: Path) -> None:
    named = PATH.findall(document.read_text(encoding="utf-8"))
    beside = (ROOT, SATCHEL)
    # `needs.py` and its like stand in every slice.
    in_slices = [path.name for path in SATCHEL.glob("features/*/*.py")]
    missing = [path for path in named if path not in in_slices and not any((top / path).exists() for top in beside)]
    assert missing == []


def test_the_architecture_is_two_pages_with_one_picture() -> None:
    text = ARCHITECTURE.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 110
    assert len(text.split()) <= 900
    assert text.count("```mermaid") == 1


def test_the_architecture_has_the_layers_that_the_imports_are_checked_by() -> None:
    layers = [re.split(r" [|:] ", layer) for layer in contract("Imports point down")["layers"]]
    assert first_cells(section(ARCHITECTURE, "The layers")) == [each for each in layers if each != ["__main__"]]


def test_the_architecture_has_every_slice_in_the_order_of_the_list() -> None:
    assert [cell for [cell] in first_cells(section(ARCHITECTURE, "The slices"))] == [each.name for each in SLICES]
    assert {each.name for each in SLICES} == {path.parent.name for path in SATCHEL.glob("features/*/__init__.py")}


def test_the_architecture_has_every_store_port() -> None:
    ports = {cell for [cell] in first_cells(section(ARCHITECTURE, "The stores"))}
    files = {f"stores/ports/{path.name}" for path in SATCHEL.glob("stores/ports/*.py")}
    # Conditions and updates are no store: the table's contract is made of them.
    assert ports == files - {"stores/ports/__init__.py", "stores/ports/expressions.py"}


def test_only_connect_imports_adapters_and_only_adapters_import_vendors() -> None:
    assert contract("Only connect sees implementations")["allowed_importers"] == ["satchel.stores.connect"]
    vendors = contract("Vendor libraries live in adapters")
    assert vendors["allowed_importers"] == ["satchel.stores.embedded", "satchel.stores.distributed"]
    assert contract("Slices do not know each other")["modules"] == ["satchel.features.*"]


def test_the_edge_has_the_parts_that_the_architecture_names() -> None:
    folders = {f"edge/{path.parent.name}/" for path in (SATCHEL / "edge").glob("*/__init__.py")}
    text = section(ARCHITECTURE, "The slices")
    assert set(re.findall(r"`(edge/\w+/)`", text)) == folders
    assert len(folders) == 5 and "five parts" in text


def test_the_list_of_slices_passes_durable_keys_to_the_store() -> None:
    """As `docs/walks/room.md` says."""
    assert any(key.startswith("room") for key in DURABLE_KEYS)
    assert "durable_keys=DURABLE_KEYS" in (SATCHEL / "app.py").read_text(encoding="utf-8")


def test_the_web_walk_has_every_group_of_routes() -> None:
    groups = {path.name for path in (ROOT / "web" / "src" / "routes").iterdir() if path.name.startswith("(")}
    walk = (ROOT / "docs" / "walks" / "web.md").read_text(encoding="utf-8")
    assert set(re.findall(r"web/src/routes/(\(\w+\))", walk)) == groups


def test_the_web_walk_has_the_layers_that_the_lint_rule_holds() -> None:
    rule = (ROOT / "web" / "eslint" / "layers.js").read_text(encoding="utf-8")
    layers = re.findall(r"^  \[(.*)\],$", rule.partition("const LAYERS = [")[2].partition("\n];")[0], re.MULTILINE)
    table = (ROOT / "docs" / "walks" / "web.md").read_text(encoding="utf-8").partition("| layer |")[2]
    assert first_cells(table) == [re.findall(r"'(\w+)'", layer) for layer in layers]


def test_every_slice_has_a_walk_of_its_own_at_its_door() -> None:
    silent = [
        each.name
        for each in SLICES
        if "One request" not in (SATCHEL / "features" / each.name / "__init__.py").read_text(encoding="utf-8")
    ]
    assert silent == []


def test_adding_a_slice_touches_at_most_six_files() -> None:
    steps = re.findall(r"^\d+\. `([^`]+)`", section(ROOT / "CONTRIBUTING.md", "Adding a slice"), re.MULTILINE)
    assert 0 < len(steps) <= 6


@pytest.mark.parametrize("document", [*FRONT, ARCHITECTURE, *WALKS], ids=lambda path: str(path.relative_to(ROOT)))
def test_sentences_are_short(document: Path) -> None:
    text = re.sub(r"```.*?```|<[^>]+>|^\|.*$", "", document.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    prose = re.sub(r"\]\([^)]*\)", "", text)
    sentences = re.split(r"(?<=[.!?:])\s+|\n\s*\n|\n\s*(?:[-*]|\d+\.) ", prose)
    assert [each for each in sentences if len(each.split()) > LONGEST_SENTENCE] == []


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
