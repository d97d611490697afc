"""Generate the command line's types of answers from the OpenAPI document, one module per group of verbs."""

import keyword
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = "src/satchel/cli/engine/api_types"
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_WIDTH = 112
_PLAIN = {"string": "str", "integer": "int", "boolean": "bool", "number": "float", "null": "None"}


@dataclass(frozen=True)
class Pattern:
    """A regular expression for names of fields, and what a string in such a field must look like."""

    fields: str
    text: str


@dataclass(frozen=True)
class Group:
    """The schemas of one module, by their names in the OpenAPI document, each after those that it refers to.

    Two slices may have a schema of the same name. Such a name is written `slice.Name`.
    `unread` lists fields that the command neither reads nor prints with `--json`.
    `patterns` are narrower types than the document has, by their names.
    """

    about: str
    schemas: str
    unread: Mapping[str, str] = field(default_factory=dict[str, str])
    patterns: Mapping[str, Pattern] = field(default_factory=dict[str, Pattern])


_NOT_SHOWN = "content_type expires_at folder_id picture previewable"
GROUPS = {
    "account_types": Group(
        "Accounts, sessions, guests, invitations and people.",
        "Tokens SignedInView GuestView PersonView InvitationView PersonEntry PeopleList PasswordResetView "
        "DeletionPreview DeletionView",
        unread={
            "Tokens": "access_expires_at",
            "DeletionPreview": "user_id",
            "SignedInView": "access_expires_at expires_at session_id user_id",
            "InvitationView": "invitation_id email note administrator invited_by created_at",
        },
    ),
    "shelf_types": Group(
        "The shelf and uploads.",
        "EntryView HitView EntryList HitList UploadState UploadList SignedPart PartsView KeptFile Kept VersionView "
        "VersionList",
        unread={
            "EntryView": _NOT_SHOWN,
            "HitView": _NOT_SHOWN,
            "EntryList": "folder",
            "UploadState": "expires_at",
            "KeptFile": "problem",
            "VersionView": "content_type",
            "VersionList": "kept_days",
        },
    ),
    "search_types": Group("The search over everything.", "SearchHit SearchHits"),
    "room_types": Group(
        "Rooms, who and what is in them, and their chat.",
        "OccupantView KnockView RoomView JoinView OwnedRoom OwnedRooms Message ChatView rooms.FileView FileList",
        unread={"OwnedRoom": "expires_at name people", "rooms.FileView": "content_type picture previewable"},
    ),
    "transfer_types": Group(
        "Transfers and their receipts.",
        "SenderView ReceiverView TransferFileView transfers.ReceiptView MissingView CountsView TransferView "
        "ChallengeView TransferList WaitingList SavedView ReceivingView BlockedView BlockedList",
        unread={
            "SenderView": "kind",
            "ReceiptView": "kind",
            "TransferFileView": "content_type picture",
            "SavedView": "files",
        },
    ),
    "link_types": Group(
        "Links, for those who give them and for those who open them.",
        "ThingView LinkView LinkList PlaceView PlaceList LandingView LinkedFileView LinkedFolderView LinkedFileList "
        "EnteredView",
        unread={
            "LandingView": "content_type downloads_left listing may_add entered expires_at files max_bytes size_bytes",
            "LinkedFileView": "content_type name picture preview photo",
            "EnteredView": "expires_at",
        },
    ),
    "stats_types": Group(
        "Clicks and statistics.",
        "FiguresView DayView MonthView SummaryView DaysView MonthsView "
        "PeopleView HostView DevicesView RangeView RankedView RankingView ClickView ClicksView "
        "StatView RecordedView RecordedClicksView CountView RebuiltView ErasedView "
        "CounterView CounterList TakenBackView",
        unread={"SummaryView": "so_far_until", "DaysView": "people_known_since"},
    ),
    "album_types": Group(
        "Albums, who sees them, and what changes of them do.",
        "ReaderView CoverView AlbumView AlbumList ActView ActList ActedView PlannedAlbum AlbumName KnownPerson "
        "MoveView OrphansView PlanView ClockSample ClockPlanView AlbumShareView PinView DriftView DriftList",
        unread={
            "CoverView": "placeholder ratio type version",
        },
    ),
    "photo_types": Group(
        "Photos: which are stored, and what is known of each.",
        "KnownView KnownList VerifiedView VerifiedList PartView PositionView GiverView PhotoView PhotoColumns "
        "FoundPhotos DuplicateGroup DuplicateList Resolved CameraView CameraList CopyList",
        unread={
            "PhotoColumns": "durations_ms guessed versions placeholders ratios",
            "FoundPhotos": "looked_at",
        },
    ),
    "set_list_types": Group(
        "Set lists.",
        "SetListCard SetListCards SetListEntryView SetListView",
    ),
    "score_types": Group(
        "Scores, their pages, movements and parts.",
        "ScoreItemView ScorePageView MovementView ScorePartView SnapshotView ImportView ScoreView ScoreCard ScoreUsage "
        "ScoreList ScoreShareView ScoreLayoutView ScoreItemList PageChangeView MarkChangeView ComparisonView",
        unread={
            "MarkChangeView": "before after",
            "ScoreItemView": "picture",
            "ScoreView": "jumps layers marks",
            "ScoreCard": "cover",
            "ScoreLayoutView": "bars layers marks pages",
        },
    ),
    # Ids become parts of paths and of what is computed, so nothing else is accepted in their place.
    "drop_types": Group(
        "Drop sessions, their members, files and requests.",
        "SessionOpened SessionJoined NameView MemberView drop.FileView AcknowledgementView RequestView "
        "drop.ReceiptView drop.SessionView",
        patterns={
            "Id": Pattern(r"\w+_id", r"\A[0-9a-f]{32}\Z"),
            "SessionName": Pattern("name", r"\A[a-z]+(-[a-z]+)*-[0-9]+\Z"),
        },
    ),
}


def modules(document: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The path of each generated module, and its text."""
    schemas: Mapping[str, Any] = document["components"]["schemas"]
    for name, group in GROUPS.items():
        path = f"{FOLDER}/{name}.py"
        yield path, _formatted(path, "\n".join(_module(schemas, group)))


def _module(schemas: Mapping[str, Any], group: Group) -> Iterator[str]:
    known = {_full_name(schemas, short): _bare(short) for short in group.schemas.split()}
    aliases = [
        f'{name}: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"{pattern.text}")]'
        for name, pattern in group.patterns.items()
    ]
    classes = [line for short in group.schemas.split() for line in _struct(schemas, short, group, known)]
    text = "\n".join([*aliases, "", *classes])
    yield f'"""{group.about}\n\nGenerated by `make fix` from the OpenAPI document; see `tools/cli_types.py`.\n"""\n'
    needed = [each for each in ("Annotated", "Literal", "TypeAlias") if re.search(rf"\b{each}\b", text)]
    if needed:
        yield f"from typing import {', '.join(needed)}\n"
    yield "import msgspec\n"
    yield text


def _struct(schemas: Mapping[str, Any], short: str, group: Group, known: Mapping[str, str]) -> Iterator[str]:
    schema = schemas[_full_name(schemas, short)]
    properties: dict[str, Any] = dict(schema["properties"])
    for unread in group.unread.get(short, "").split():
        del properties[unread]  # fails if the server no longer has it
    required = set(schema.get("required", ()))
    traits = ["frozen=True", "kw_only=True"]
    if any(_snake(name) != name for name in properties):
        traits.append('rename="camel"')
    if not properties.keys() <= required:
        traits.append("omit_defaults=True")  # as the server does with them
    yield f"class {_bare(short)}(msgspec.Struct, {', '.join(traits)}):"
    yield from _docstring(schema["description"])
    for name, about in properties.items():
        written = _type(about, known, _pattern(name, short, group))
        yield f"    {_field(name, written, about, is_required=name in required)}"
    yield ""


def _docstring(description: str) -> Iterator[str]:
    first = " ".join(description.strip().split("\n\n")[0].split())
    # A single line has quotes at both of its ends.
    fits = len(first) <= _WIDTH - 2
    wrapped = [first] if fits else textwrap.wrap(first, min(_WIDTH, len(first) - 1))
    yield f'    """{wrapped[0]}' + ('"""' if len(wrapped) == 1 else "")
    yield from (f"    {line}" for line in wrapped[1:])
    if len(wrapped) > 1:
        yield '    """'
    yield ""


def _field(name: str, written: str, about: Mapping[str, Any], *, is_required: bool) -> str:
    python_name = _snake(name) + ("_" if keyword.iskeyword(name) else "")
    # An older server may not have a field that can be null.
    default = None if is_required and not written.endswith("| None") else repr(about.get("default"))
    if python_name != _snake(name):
        given = "" if default is None else f"default={default}, "
        return f'{python_name}: {written} = msgspec.field({given}name="{name}")'
    return f"{python_name}: {written}" + ("" if default is None else f" = {default}")


def _type(about: Mapping[str, Any], known: Mapping[str, str], pattern: str | None) -> str:
    if "anyOf" in about:
        members = [_type(each, known, pattern) for each in about["anyOf"]]
        words = [member[len("Literal[") : -1] for member in members if member.startswith("Literal[")]
        if len(words) > 1:
            others = [member for member in members if not member.startswith("Literal[")]
            members = [f"Literal[{', '.join(words)}]", *others]
        return " | ".join(sorted(members, key=lambda member: member == "None"))
    if "$ref" in about:
        return known[about["$ref"].rpartition("/")[2]]
    if "enum" in about:
        return f"Literal[{', '.join(repr(each) for each in about['enum'])}]"
    if about["type"] == "array":
        return f"list[{_type(about['items'], known, pattern)}]"
    if pattern and about["type"] == "string":
        return pattern
    return _PLAIN[about["type"]]


def _pattern(name: str, short: str, group: Group) -> str | None:
    """The name of the narrower type."""
    # A session view repeats the name only to be shown.
    if short == "drop.SessionView" and name == "name":
        return None
    return next((alias for alias, pattern in group.patterns.items() if re.fullmatch(pattern.fields, name)), None)


def _full_name(schemas: Mapping[str, Any], short: str) -> str:
    if short in schemas:
        return short
    slice_, _, name = short.partition(".")
    found = [each for each in schemas if each.startswith(f"satchel.features.{slice_}.") and each.endswith(f".{name}")]
    # Only where two slices use the same name does the document say whose it is.
    return found[0] if found else name


def _bare(short: str) -> str:
    return short.rpartition(".")[2]


def _snake(name: str) -> str:
    return _CAMEL.sub("_", name).lower()


def _formatted(path: str, text: str) -> str:
    ruff = Path(sys.executable).parent / "ruff"
    arguments = [str(ruff), "format", "--stdin-filename", path, "-"]
    return subprocess.run(arguments, input=text, capture_output=True, text=True, check=True).stdout
