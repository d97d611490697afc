"""A page in any engine: what a person finds on it by its words, presses, types into and reads."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar

PATIENCE_SECONDS = 30
# What a person sees by that name: the words in it, its label, or what it is called for those who listen.
FIND = """
const [selector, name] = arguments;
const named = (each) => [
  each.getAttribute('aria-label'), each.textContent, each.placeholder,
  ...[...(each.labels ?? [])].map((label) => label.textContent),
].some((words) => words?.replace(/\\s+/g, ' ').trim().includes(name));
const seen = (each) => each.type === 'file' || each.checkVisibility();
return [...document.querySelectorAll(selector)].find((each) => seen(each) && named(each) && !each.disabled) ?? null;
"""
BUTTONS = "button, a[href], [role=button], [role=menuitem], input[type=checkbox]"
FIELDS = "input:not([type=file], [type=checkbox]), textarea"
Found = TypeVar("Found")


class NotReady(Exception):
    """What was found moves, is covered or is gone; look again."""


class Engine(Protocol):
    """What a driver of an engine can do; an element is whatever that driver calls it."""

    def go(self, url: str) -> None: ...

    def run(self, script: str, *arguments: object) -> Any:
        """Run the body of a function in the page: its answer, or an element."""
        ...

    def press(self, element: Any) -> None: ...

    def write(self, element: Any, text: str) -> None: ...

    def choose(self, element: Any, file: Path) -> None: ...


class EnginePage:
    """One person's page; everything waits until it can be done."""

    def __init__(self, engine: Engine, base: str) -> None:
        self.engine, self.base = engine, base

    def go(self, path: str) -> None:
        self.engine.go(path if "://" in path else self.base + path)

    def press(self, name: str) -> None:
        def press() -> bool:
            try:
                self.engine.press(self._find(BUTTONS, name))
            except NotReady:
                return False
            return True

        until(press, f"way to press {name!r}", self)

    def write(self, name: str, text: str) -> None:
        self.engine.write(self._find(FIELDS, name), text)

    def choose(self, file: Path) -> None:
        """Choose a file in the page's first field for several."""
        self.engine.choose(self._find("input[type=file][multiple]", ""), file)

    def read(self, selector: str, holding: str = "") -> str:
        """The words of the first element that holds these."""

        def words() -> str | None:
            script = "return [...document.querySelectorAll(arguments[0])].map((each) => each.innerText)"
            return next((each for each in self.engine.run(script, selector) if each and holding in each), None)

        return until(words, f"{selector} with {holding!r}", self)

    def path(self) -> str:
        return str(self.engine.run("return location.pathname"))

    def wait_for_path(self, begins: str, *, exactly: bool = False) -> str:
        def path() -> str | None:
            found = self.path()
            return found if found == begins or (found.startswith(begins) and not exactly) else None

        return until(path, f"path {begins}", self)

    def value(self, name: str) -> str:
        """What stands in a field."""
        self._find(FIELDS, name)
        return str(self.engine.run(FIND.replace(" ?? null", ".value"), FIELDS, name))

    def called(self, selector: str, begins: str) -> str:
        """What something is called for those who listen."""
        self._find(selector, begins)
        return str(self.engine.run(FIND.replace(" ?? null", ".getAttribute('aria-label')"), selector, begins))

    def _find(self, selector: str, name: str) -> Any:
        return until(lambda: self.engine.run(FIND, selector, name), f"{selector} named {name!r}", self)


def until(look: Callable[[], Found | None], wanted: str, page: EnginePage) -> Found:
    """Look again and again until it is there; what the page shows instead is said."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not (found := look()):
        if time.monotonic() > deadline:
            shown = page.engine.run("return location.href + '\\n' + document.body.innerText")
            raise AssertionError(f"no {wanted} on {shown}")
        time.sleep(0.1)
    return found
