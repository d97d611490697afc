"""What comes is compared with what was announced: before the first byte, while it comes, and at the end."""

from satchel.cli.drop.crypto.session_keys import Sum
from satchel.cli.drop.session.description_text import counted
from satchel.cli.engine.terminal.output import CommandFailed


class NotAsOffered(CommandFailed):
    """What the owner sends has another size, or another number of files, than what was announced."""

    def __init__(self, offered: Sum, sent: Sum) -> None:
        super().__init__(f"It is not what was offered: {counted(sent)} instead of {counted(offered)}.")
