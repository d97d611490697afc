"""Fail when a message of the web app is missing in a language, unused, or has other gaps to fill than in English."""

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

WEB = Path(__file__).parent.parent / "web" / "src"
LANGUAGES = ("en", "zh-Hant", "ja")
# `t('key')`, `tryTo('key')`, a Key in a table of places, or the fixed start of a key that is put together.
_QUOTED = re.compile(r"""['"]([a-z][\w-]*(?:\.[\w-]+)+)['"]""")
_PUT_TOGETHER = re.compile(r"`([a-z][\w-]*(?:\.[\w-]+)*\.)\$\{")
_GAP = re.compile(r"\{(\w+)\}")
_SLUG = re.compile(r'<a id="([\w-]+)"></a>')

Message = str | dict[str, str]


def read(language: str) -> dict[str, Message]:
    return json.loads((WEB / "lib" / "i18n" / f"{language}.json").read_text(encoding="utf-8"))


def complaints() -> Iterator[str]:
    english = read("en")
    for language in LANGUAGES:
        messages = read(language)
        for key in english.keys() - messages.keys():
            yield f"{language}: {key} is missing"
        for key in messages.keys() - english.keys():
            yield f"{language}: {key} is not in English"
        for key in english.keys() & messages.keys():
            yield from _compared(language, key, english[key], messages[key])
    yield from _unused(english)
    yield from _untold_problems(english)


def _compared(language: str, key: str, english: Message, translated: Message) -> Iterator[str]:
    for form in _forms(translated):
        if not form.strip():
            yield f"{language}: {key} is empty"
        if _gaps(form) - _gaps(english):
            yield f"{language}: {key} has gaps that nobody fills: {sorted(_gaps(form) - _gaps(english))}"
    # A plural may say “one” without its number.
    if _gaps(english) - _gaps(translated):
        yield f"{language}: {key} leaves out {sorted(_gaps(english) - _gaps(translated))}"


def _forms(message: Message) -> list[str]:
    return [message] if isinstance(message, str) else list(message.values())


def _gaps(message: Message) -> set[str]:
    return {gap for form in _forms(message) for gap in _GAP.findall(form)}


def _unused(english: dict[str, Message]) -> Iterator[str]:
    used, starts = set[str](), set[str]()
    for file in WEB.rglob("*"):
        if file.suffix in (".svelte", ".ts") and not file.name.endswith(".test.ts"):
            text = file.read_text(encoding="utf-8")
            used |= set(_QUOTED.findall(text))
            starts |= set(_PUT_TOGETHER.findall(text))
    for key in english.keys() - used:
        if not key.startswith(tuple(starts)):
            yield f"{key} is used nowhere"


def _untold_problems(english: dict[str, Message]) -> Iterator[str]:
    documented = (Path(__file__).parent.parent / "docs" / "problems.md").read_text(encoding="utf-8")
    for slug in _SLUG.findall(documented):
        if f"problem.{slug}" not in english:
            yield f"problem.{slug}, which the server can answer with, has no words"


def main() -> int:
    found = sorted(complaints())
    print("\n".join(found), end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
