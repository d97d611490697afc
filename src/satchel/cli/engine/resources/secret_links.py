"""Links into the web app whose secret stands behind the `#`, where no server and no log sees it."""

from urllib.parse import urlencode


def invitation_link(server: str, token: str, email: str | None = None) -> str:
    """With the address of whom it is for, if it is for one."""
    return f"{server}/sign-up#{urlencode({'invitation': token} | ({'email': email} if email else {}))}"


def password_reset_link(server: str, token: str) -> str:
    return f"{server}/reset#token={token}"
