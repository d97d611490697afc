"""Ties tests to the words of the contract: no promise without a test, no test of a promise that is not made."""

import re
from collections.abc import Callable
from inspect import cleandoc, getmembers, isclass, isfunction
from types import ModuleType
from typing import TypeVar

from satchel.stores.ports import expressions, table

T = TypeVar("T", bound=Callable[..., object])
_quoted: set[str] = set()
# These only say what something is for; there is nothing in them to prove.
_DESCRIPTIONS = {"Attr", "Condition", "KeyAttribute", "KeyKind", "TableSpec"}


def quotes(*words: str) -> Callable[[T], T]:
    """Say which words of the contract a test proves."""
    _quoted.update(map(_plain, words))

    def unchanged(test: T) -> T:
        return test

    return unchanged


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _passages() -> list[str]:
    clauses = re.split(r"\n- ", cleandoc(table.__doc__ or ""))[1:]
    methods = [function.__doc__ for _, function in getmembers(table.Tables, isfunction)]
    return [_plain(text) for text in (*clauses, *(text for text in methods if text), *_types(table, expressions))]


def _types(*modules: ModuleType) -> list[str]:
    """What the classes of the contract say of themselves: writes, conditions, actions, answers and errors."""
    classes = [(module, kind) for module in modules for _, kind in getmembers(module, isclass)]
    return [
        kind.__doc__ or ""
        for module, kind in classes
        if kind.__module__ == module.__name__ and kind.__name__ not in _DESCRIPTIONS
    ]


def unknown_quotes() -> set[str]:
    """Quoted words that the contract does not say (any more)."""
    passages = _passages()
    return {words for words in _quoted if not any(words in passage for passage in passages)}


def unproven_words() -> list[str]:
    """What of the contract no test quotes."""
    left = _passages()
    for words in sorted(_quoted, key=len, reverse=True):
        left = [passage.replace(words, "\n") for passage in left]
    return [words.strip() for passage in left for words in passage.split("\n") if re.search(r"\w", words)]
