"""Fail when a module is named by a gerund, or when one name stands more than twice in the server or in the web app.

A reader looks for a file by typing a part of its name. `showing.py` says neither what is shown nor where, and eight
files of that name answer with a list. So a file is a noun or `noun_verb`, and a name leads to at most two files.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
AT_MOST = 2
# Every slice has these; the folder says whose they are.
SHAPE_OF_A_SLICE = frozenset(
    ["__init__", "__main__", "model", "records", "needs", "routes", "views", "events", "adapters", "limits", "context"]
)
# At most five lines, each with its reason.
NOUNS = {
    "string": "a text; nobody strs",
    "thing": "what a link leads to",
}
_ENDINGS = re.compile(r"(?:\.d|\.svelte|\.test|\.worker)?\.(?:py|ts|svelte)$")
_WORDS = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+(?![a-z])")
_GERUND = re.compile(r"[a-z]{3,}ing")


def complaints(root: Path = ROOT) -> Iterator[str]:
    """What is wrong with the names below a root, a line each."""
    for top in (root / "src", root / "web" / "src" / "lib"):
        modules = sorted(file for file in top.rglob("*") if file.is_file() and _ENDINGS.search(file.name))
        named = sorted(
            {*modules, *(folder for file in modules for folder in file.parents if folder.is_relative_to(top))}
        )
        for path in named:
            if is_gerund(stem(path)):
                yield f"{path.relative_to(root)}: name it by a noun or noun_verb, not by a gerund"
        yield from _repeated(root, modules)


def stem(path: Path) -> str:
    """The name without what says which kind of file it is: a module, its test and its worker are one name."""
    return _ENDINGS.sub("", path.name)


def is_gerund(name: str) -> bool:
    words = [word.lower() for word in _WORDS.findall(name)]
    return bool(words) and bool(_GERUND.fullmatch(words[-1])) and words[-1] not in NOUNS


def _repeated(root: Path, modules: list[Path]) -> Iterator[str]:
    places: defaultdict[str, set[Path]] = defaultdict(set)
    for file in modules:
        places[stem(file)].add(file.parent.relative_to(root))
    for name, folders in sorted(places.items()):
        if len(folders) > AT_MOST and name not in SHAPE_OF_A_SLICE:
            yield f"{name} stands {len(folders)} times: {', '.join(map(str, sorted(folders)))}"


def main() -> int:
    found = list(complaints())
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
