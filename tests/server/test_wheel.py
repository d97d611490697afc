"""The package as people install it: built without Node, put into a clean environment, started, looked at."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from playwright.sync_api import expect, sync_playwright

from tests.server.process import serving
from tests.services import tool

ROOT = Path(__file__).parent.parent.parent


def without_node(folder: Path) -> dict[str, str]:
    """An environment whose PATH has a shell and nothing else; the build brings the rest."""
    folder.mkdir()
    for name in ("sh", "env", "uname"):
        (folder / name).symlink_to(tool(name))
    kept = {name: value for name, value in os.environ.items() if name not in ("PATH", "PYTHONPATH", "VIRTUAL_ENV")}
    return {**kept, "PATH": str(folder)}


def clean_copy(target: Path) -> None:
    """What is in the repository, without anything that was made from it."""
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, target / name)
    made = shutil.ignore_patterns("node_modules", ".svelte-kit", "__pycache__", "site", "site.new", "schema.d.ts")
    for folder in ("src", "web", "tools"):
        shutil.copytree(ROOT / folder, target / folder, ignore=made)


def run(*command: str | Path, env: dict[str, str]) -> None:
    done = subprocess.run([str(part) for part in command], env=env, cwd="/", capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]


def test_a_wheel_built_without_node_serves_the_web_app_from_a_clean_environment(tmp_path: Path) -> None:
    env = without_node(tmp_path / "bin")
    source, wheels, clean = tmp_path / "source", tmp_path / "wheels", tmp_path / "clean"
    source.mkdir()
    clean_copy(source)
    uv = Path(sys.executable).with_name("uv")  # does what pip does, in a fifth of the time
    run(uv, "venv", "--python", sys.executable, clean, env=env)
    run(uv, "build", "--python", sys.executable, "--wheel", "--out-dir", wheels, source, env=env)
    [wheel] = wheels.glob("satchel-*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    assert "satchel/site/index.html.br" in names
    assert not [name for name in names if "node_modules" in name or name.startswith("web/")]
    run(uv, "pip", "install", "--python", clean / "bin" / "python", wheel, env=env)

    with serving(tmp_path / "data", program=clean / "bin" / "satchel") as server, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=tool("chromium-headless-shell"), args=["--no-sandbox"])
        page = browser.new_page()
        page.goto(server.url)
        expect(page.get_by_role("heading", name="Set up this server")).to_be_visible()
        browser.close()
