"""A real nginx in front of a real server, set up as a test wants it, and what passed through it."""

import os
import re
import subprocess
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from tests.server.process import ServerProcess
from tests.services import running, tool

_SHIPPED = Path(__file__).parents[2] / "deploy"
_AROUND = """
daemon off; pid {folder}/pid; error_log {folder}/error.log; worker_processes 1; {user}
events {{}}
http {{
    log_format passed "$request_method $uri $status $upstream_status"; access_log {folder}/passed passed;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    {inside}
}}
"""
_PLAIN = """
server {{
    listen 127.0.0.1:{port};
    location / {{ proxy_pass {server}; }}
    location ~ /({upgraded})$ {{
        proxy_pass {server}; proxy_http_version 1.1;
        proxy_set_header Upgrade $http_upgrade; proxy_set_header Connection upgrade;
    }}
    {more}
}}
"""


@dataclass(frozen=True)
class Nginx:
    """A running nginx."""

    folder: Path
    process: "subprocess.Popen[bytes]"

    def passed(self, pattern: str) -> int:
        """How many requests looked so: method, path, status, and the status that the server gave, if it was asked."""
        return len(re.findall(f"(?m)^{pattern}$", (self.folder / "passed").read_text()))

    def passes(self, pattern: str) -> bool:
        """Perhaps it is not written down yet."""
        until = time.monotonic() + 10
        while not self.passed(pattern) and time.monotonic() < until:
            time.sleep(0.02)
        return self.passed(pattern) > 0


@contextmanager
def nginx(folder: Path, port: int, inside: str) -> Generator[Nginx]:
    """With this in the `http` of its settings, and for the rest as it is when nobody says otherwise."""
    folder.mkdir()
    user = "user root;" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(_AROUND.format(folder=folder, user=user, inside=inside))
    command = [tool("nginx"), "-c", str(folder / "nginx.conf"), "-e", str(folder / "error.log")]
    with running(command, port) as process:
        yield Nginx(folder, process)


def plain(port: int, server: ServerProcess, more: str = "", *, upgraded: str = "live|socket") -> str:
    """As somebody sets it up who knows of websockets, and of nothing else."""
    return _PLAIN.format(port=port, server=server.url, more=more.format(server=server.url), upgraded=upgraded)


def sample(port: int, port_without_tls: int, server: ServerProcess, certificate: Path, key: Path) -> str:
    """What we ship, for this machine."""
    return _here(
        "nginx.conf",
        {
            "listen 80;": f"listen 127.0.0.1:{port_without_tls};",
            "listen [::]:80;": "",
            "listen 443 ssl;": f"listen 127.0.0.1:{port} ssl;",
            "listen [::]:443 ssl;": "",
            "127.0.0.1:8400": urlsplit(server.url).netloc,
            "/etc/ssl/satchel.example.org.pem": str(certificate),
            "/etc/ssl/private/satchel.example.org.key": str(key),
        },
    )


def sample_of_two(port: int, one: int, two: int) -> str:
    """What we ship for several servers; they listen on these ports."""
    listening = {"listen 80;": f"listen 127.0.0.1:{port};", "listen [::]:80;": ""}
    return _here(
        "nginx.distributed.conf", {**listening, "one:8400": f"127.0.0.1:{one}", "two:8400": f"127.0.0.1:{two}"}
    )


def _here(name: str, changed: Mapping[str, str]) -> str:
    settings = (_SHIPPED / name).read_text()
    for shipped, here in changed.items():
        assert shipped in settings
        settings = settings.replace(shipped, here)
    return settings
