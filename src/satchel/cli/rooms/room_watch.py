"""Follow a room live: people, messages, files, transfers, and how much time is left."""

from contextlib import closing
from dataclasses import dataclass, field
from datetime import timedelta

import msgspec
from msgspec import to_builtins

from satchel.cli.engine.api_types.event_types import LiveEvent
from satchel.cli.engine.api_types.room_types import ChatView, FileView, Message, RoomView
from satchel.cli.engine.files.download import full_name
from satchel.cli.engine.http.client import Client
from satchel.cli.engine.http.failures import Refused, Unreachable
from satchel.cli.engine.http.live_events import Live
from satchel.cli.engine.http.retry import is_transient
from satchel.cli.engine.resources.room_join import files_in
from satchel.cli.engine.terminal.sizes import shown_bytes
from satchel.cli.rooms.narrator import Narrator
from satchel.cli.rooms.offers import Offers
from satchel.cli.rooms.room_changes import changes
from satchel.cli.rooms.room_save import Saver
from satchel.cli.rooms.room_text import named, time_left

_LOOK_AT_THE_CLOCK_SECONDS = 5.0
_WARNINGS = [timedelta(minutes=minutes) for minutes in (1, 5, 15, 60)]
_EARLIER_MESSAGES = 20
_CHAT_PAGE = 200
_ENDINGS = {
    "closed": "The room was closed. What was in it is deleted.",
    "expired": "The room has expired. What was in it is deleted.",
    "removed": "You were removed from the room.",
    "left": "You left the room.",
}


_GONE = (404, 409, 410)


class _Over(Exception):
    """The room is over for us."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(slots=True)
class Watch:
    """What is known of a room, compared with what it is at every sign of a change."""

    client: Client
    room: RoomView
    narrator: Narrator
    saver: Saver | None = None
    _files: dict[str, FileView] = field(default_factory=dict[str, FileView])
    _messages: set[str] = field(default_factory=set[str])
    _offers: Offers = field(init=False)
    _warned_of: timedelta | None = None
    _has_begun: bool = False
    # Something could not be read: everything is read again when nothing else is told for a while.
    _is_behind: bool = False

    def __post_init__(self) -> None:
        self._offers = Offers(self.client, self.narrator, self.saver)

    def follow(self) -> None:
        """Until the room is over for us."""
        live = Live(self.client, lambda sentence: self.narrator.tell("connection", sentence, state=sentence))
        with closing(live.events(_LOOK_AT_THE_CLOCK_SECONDS)) as events:
            for told in events:
                try:
                    self._hear(told)
                    self._warn_of_the_end()
                except (Refused, Unreachable) as error:
                    # Unless it passes, what one was told of was gone by the time one asked for it; perhaps the room.
                    if not is_transient(error) and not (isinstance(error, Refused) and error.status in _GONE):
                        raise
                    self._is_behind = True
                except _Over as over:
                    sentence = _ENDINGS.get(over.reason, _ENDINGS["closed"])
                    self.narrator.tell("closed", sentence, reason=over.reason)
                    return

    def _hear(self, told: LiveEvent | None) -> None:
        if told is None or told.asks_for_reload:
            if told or self._is_behind:
                self._read_everything()
        elif told.type == "room.closed" and told.room_id == self.room.room_id:
            raise _Over(told.reason)
        elif told.type.startswith("transfer."):
            self._offers.hear(told)
        elif told.room_id != self.room.room_id:
            return
        elif told.type == "room.chat":
            self._hear_message(msgspec.json.decode(told.message, type=Message))
        elif told.type == "room.file":
            self._see_file(msgspec.json.decode(told.file, type=FileView))
        elif told.type == "room.file-gone":
            self._miss_file(told.file_id)
        elif told.type == "room.changed":
            self._read_room()

    def _read_everything(self) -> None:
        self._read_room()
        files = files_in(self.client, self.room.room_id)
        if not self._has_begun:
            self.narrator.tell_machines("room", room=to_builtins(self.room), files=to_builtins(files))
        for file_id in self._files.keys() - {file.file_id for file in files}:
            self._miss_file(file_id)
        for file in files:
            self._see_file(file)
        self._read_chat()
        self._offers.read_waiting()
        self._has_begun, self._is_behind = True, False

    def _read_room(self) -> None:
        try:
            now = self.client.call("GET", self._path(""), RoomView)
        except Refused as refusal:
            if refusal.status != 404:
                raise
            raise _Over("closed") from refusal
        if now.expires_at != self.room.expires_at:
            self._warned_of = None
        before, self.room = self.room, now
        for change in changes(before, now):
            self.narrator.tell(change.kind, change.sentence, **change.facts)

    def _read_chat(self) -> None:
        """What was said since we last listened; at the beginning only the end of it."""
        unheard: list[Message] = []
        before = ""
        while True:
            page = self.client.call("GET", self._path(f"/chat?limit={_CHAT_PAGE}{before}"), ChatView)
            new = [message for message in page.messages if message.message_id not in self._messages]
            unheard[:0] = new
            if not self._has_begun or not page.more or len(new) < len(page.messages):
                break
            before = f"&before={page.messages[0].message_id}"
        self._messages.update(message.message_id for message in unheard)
        for message in unheard if self._has_begun else unheard[-_EARLIER_MESSAGES:]:
            self._tell_message(message)

    def _hear_message(self, message: Message) -> None:
        if message.message_id not in self._messages:
            self._messages.add(message.message_id)
            self._tell_message(message)

    def _tell_message(self, message: Message) -> None:
        who = "you" if message.person_id == self.room.you else named(message.person_id, message.name)
        self.narrator.tell("chat", message.text, at=message.at, who=who, message=to_builtins(message))

    def _see_file(self, file: FileView) -> None:
        is_new = file.file_id not in self._files
        self._files[file.file_id] = file
        is_own = file.by == self.room.you
        # One to one, a file is told of and saved as an offer.
        if file.to is None and self.saver and not is_own:
            self.saver.save_file(self.room.room_id, file)
        if file.to is None and is_new and self._has_begun:
            who = "You" if is_own else named(file.by, file.by_name)
            sentence = f"{who} added {full_name(file)} ({shown_bytes(file.size_bytes)})."
            self.narrator.tell("file", sentence, at=file.at, file=to_builtins(file))

    def _miss_file(self, file_id: str) -> None:
        file = self._files.pop(file_id, None)
        if file is not None:
            self.narrator.tell("file-gone", f"{full_name(file)} is not in the room any more.", file=to_builtins(file))

    def _warn_of_the_end(self) -> None:
        left = time_left(self.room)
        due = next((warning for warning in _WARNINGS if left <= warning), None)
        if due is None or left <= timedelta(0) or due == self._warned_of:
            return
        self._warned_of = due
        minutes = max(1, round(left / timedelta(minutes=1)))
        sentence = (
            f"The room closes in {minutes} {'minute' if minutes == 1 else 'minutes'}, and what is in it is deleted."
        )
        self.narrator.tell("time-left", sentence, seconds=round(left.total_seconds()))

    def _path(self, below: str) -> str:
        return f"/rooms/{self.room.room_id}{below}"
