"""Something worth counting on its way from one slice to another, so that whoever shares need not know who counts."""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["press", "open", "view", "download", "upload"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """Who did what with what was whose: `target` is the link, `thing` what it leads to, such as "file:…"."""

    user_id: str
    kind: Kind
    owner: str
    target: str | None = None
    thing: str | None = None
