"""Links into the web app whose secret stands behind the `#`, where no server and no log sees it."""


def invitation_link(server: str, token: str) -> str:
    return f"{server}/sign-up#invitation={token}"


def password_reset_link(server: str, token: str) -> str:
    return f"{server}/reset#token={token}"
