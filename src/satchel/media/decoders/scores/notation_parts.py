"""Which parts music has and on which staves they stand, read from the MEI that Verovio makes of every format."""

from collections.abc import Sequence
from typing import Any
from xml.etree import ElementTree

_SPACE = "{http://www.music-encoding.org/ns/mei}"
_ID = "{http://www.w3.org/XML/1998/namespace}id"


def parts_of(toolkit: Any, known: Sequence[tuple[str, str]]) -> tuple[list[str], dict[int, int]]:
    """The names of the parts, and the place of its part for the number of each staff.

    `known` are the ids and names of MusicXML's parts. Elsewhere every staff is a part, unless several share a name.
    """
    root = ElementTree.fromstring(toolkit.getMEI({"pageNo": 1, "scoreBased": True}))  # noqa: S314 -- made by Verovio
    group = root.find(f".//{_SPACE}scoreDef/{_SPACE}staffGrp")
    if group is None:
        return [], {}
    found = _by_ids(group, known) if known else _by_labels(group)
    names = [name or f"{place + 1}" for place, (name, _) in enumerate(found)]
    return names, {number: place for place, (_, numbers) in enumerate(found) for number in numbers}


def without_others(mei: str, staves: set[int]) -> str:
    """The music of some staves."""
    root = ElementTree.fromstring(mei)  # noqa: S314 -- made by Verovio
    ElementTree.register_namespace("", _SPACE.strip("{}"))
    for parent in root.iter():
        for child in list(parent):
            if _is_of_others(child, staves):
                parent.remove(child)
    return ElementTree.tostring(root, encoding="unicode")


def _is_of_others(element: ElementTree.Element, staves: set[int]) -> bool:
    tag = element.tag.removeprefix(_SPACE)
    named = element.get("n", "") if tag in ("staff", "staffDef") else element.get("staff", "")
    numbers = {int(each) for each in named.split() if each.isdecimal()}
    if tag == "staffGrp":
        inside = {_number(each) for each in element.iter(f"{_SPACE}staffDef")}
        return not inside & staves
    return bool(numbers) and not numbers & staves


def _by_ids(group: ElementTree.Element, known: Sequence[tuple[str, str]]) -> list[tuple[str, list[int]]]:
    elements = {element.get(_ID): element for element in group.iter()}
    found: list[tuple[str, list[int]]] = []
    for part_id, name in known:
        element = elements.get(part_id)
        numbers = [] if element is None else [_number(each) for each in element.iter(f"{_SPACE}staffDef")]
        found.append((name or part_id, numbers))
    return found


def _by_labels(group: ElementTree.Element) -> list[tuple[str, list[int]]]:
    found: list[tuple[str, list[int]]] = []
    for child in group:
        tag = child.tag.removeprefix(_SPACE)
        if tag == "staffDef":
            found.append((_label(child), [_number(child)]))
        elif tag == "staffGrp":
            inside = _by_labels(child)
            if _label(child) and not any(name for name, _ in inside):
                found.append((_label(child), [number for _, numbers in inside for number in numbers]))
            else:
                found.extend(inside)
    return found


def _label(element: ElementTree.Element) -> str:
    label = element.find(f"{_SPACE}label")
    return "" if label is None else " ".join("".join(label.itertext()).split())


def _number(element: ElementTree.Element) -> int:
    number = element.get("n", "0")
    return int(number) if number.isdecimal() else 0
