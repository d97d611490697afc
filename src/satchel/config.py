"""Every setting in one frozen value: from the command line, the environment, a TOML file or a default."""

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import Any, Literal, cast, get_args
from urllib.parse import SplitResult, urlsplit

from satchel.kernel.signature import MIN_SECRET_BYTES

SignUpMode = Literal["open", "invitation", "closed"]
LogFormat = Literal["text", "json"]
Network = IPv4Network | IPv6Network
ENVIRONMENT_PREFIX = "SATCHEL_"
_MOST = {"port": 65535, "clicks_kept": 100 * 366, "versions_kept": 100 * 366, "most_writes": 100}
# Somebody's first click of a month takes as many.
_LEAST = {"most_writes": 10, "memory": 512, "versions_kept": 1}
# As `features/clicks` makes them.
_COUNTER_ID = re.compile(r"[0-9a-f]{32}")
# What the bounds in the code are made for, in MiB.
MEMORY = 512


class BadSetting(Exception):
    """A setting that cannot be used; the message says which and what would do."""


def setting(default: Any, about: str) -> Any:
    return field(default=default, metadata={"about": about})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How this server runs. `satchel serve` alone is the embedded default under one data folder."""

    data: Path = setting(Path("data"), "The folder for everything the embedded stores keep, and for the secret.")
    host: str = setting("127.0.0.1", "The address to listen on; 0.0.0.0 or :: for every network of this machine.")
    lan: bool = setting(default=False, about="Listen on every network of this machine, whatever --host says.")
    port: int = setting(8400, "The port to listen on; 0 takes a free one.")
    lan_name: str = setting(
        "satchel.local",
        "The name that devices on the local network can use besides the addresses (mDNS); empty for none.",
    )
    tls: bool = setting(
        default=False,
        about="Speak HTTPS with a certificate of a local authority in the data folder. Phones trust it at /trust.",
    )
    tls_cert: str = setting("", "Speak HTTPS with this certificate: a PEM file, with those of its issuers.")
    tls_key: str = setting("", "The key of --tls-cert, a PEM file; else it stands in the same file.")
    public_url: str = setting("", "The address people use, such as https://satchel.example.org; else host and port.")
    allowed_hosts: tuple[str, ...] = setting(
        (),
        "Names of this server besides its public address, IP addresses and local names, split by commas; `*` for any.",
    )
    table: str = setting(
        "", "Tables: `sqlite:///path` or `dynamodb://region[?endpoint=…]`; else SQLite in the data folder."
    )
    ephemeral: str = setting("memory:", "Short-lived state: `memory:` or `redis://host:port/db`.")
    objects: str = setting(
        "", "Bytes: `file:///path` or `s3://bucket[?endpoint=…&region=…&public=…]`; else the data folder."
    )
    signed_links: bool = setting(
        default=True,
        about="Let large files go between people and an S3 bucket by signed links, and not through the server. With an"
        " endpoint of your own, `public=` names the address at which people reach it.",
    )
    single_server: bool = setting(
        default=False, about="Allow shared tables beside stores of this machine: no other server uses these tables."
    )
    most_writes: int = setting(
        100, "The most writes in one transaction. DynamoDB takes 100; an old DynamoDB Local takes 10, for trials only."
    )
    table_prefix: str = setting("", "Put before every table name, to keep several installations apart.")
    secret: str = setting("", "What signs tokens and links, 32 characters or more; else made once in the data folder.")
    sign_up: SignUpMode = setting(
        "invitation",
        "Who may sign up until an administrator decides otherwise: `open`, `invitation` or `closed`.",
    )
    trusted_proxies: tuple[Network, ...] = setting((), "Proxies whose X-Forwarded-For and -Proto are believed.")
    metrics_from: tuple[Network, ...] = setting(
        (ip_network("127.0.0.0/8"), ip_network("::1/128")), "Networks that may read /metrics."
    )
    memory: int = setting(
        MEMORY, "How many MiB of memory the server takes at most, however many strangers come; from 512. See limits."
    )
    upload_limit: int = setting(64 * 1024**3, "The largest single upload, in bytes.")
    quota: int = setting(0, "How many bytes each person may keep on their shelf; 0 for no limit.")
    versions_kept: int = setting(30, "For how many days what was replaced on a shelf is kept as a version.")
    photo_quota: int = setting(0, "How many bytes each person's photos may take, the bin included; 0 for no limit.")
    map_tiles: str = setting(
        "",
        "Tiles of the map that shows where a photo was taken, such as https://tile.example.org/{z}/{x}/{y}.png."
        " Whoever opens the map tells that server the place. Empty for no map.",
    )
    map_attribution: str = setting(
        "", "Who made the map, as its makers ask for. An address at the end becomes a link, such as to their terms."
    )
    room_quota: int = setting(10_000_000_000, "How many bytes the files of a room may take; 0 for no limit.")
    score_limit: int = setting(1000, "How many scores each person may have; 0 for no limit.")
    score_quota: int = setting(
        10_000_000_000, "How many bytes the pages of a person's scores may take; 0 for no limit."
    )
    drop_daily_limit: int = setting(0, "How many bytes a network may hand over by drop in a day; 0 for no limit.")
    clicks_kept: int = setting(0, "For how many days clicks are kept one by one; figures stay for good. 0 for no end.")
    quit_it_today: str = setting(
        "", "The id of a counter. Pages of its sites may then send presses to /api/v1/quitItToday without a token."
    )
    backup_to: str = setting(
        "", "A folder on another disk, or s3://bucket/folder, for backups of everything; without it none are made."
    )
    backup_every: int = setting(24, "How many hours after a backup the next one is made.")
    backup_keep: int = setting(14, "How many backups are kept; older ones are deleted.")
    log_format: LogFormat = setting("text", "`text` for people, `json` for machines.")
    log_level: str = setting("info", "`debug`, `info`, `warning` or `error`.")

    @property
    def table_url(self) -> str:
        return self.table or f"sqlite://{self.data.absolute() / 'satchel.db'}"

    def share(self, number: int) -> int:
        """So much of what is bounded by memory, where the bound is this number by default."""
        return number * self.memory // MEMORY

    @property
    def has_one_writer(self) -> bool:
        """Whether all writes go through one server, which can then do more in one step than any that share tables."""
        return self.table_url.startswith("sqlite:")

    @property
    def shares_all_stores(self) -> bool:
        """Whether another program can reach every store, and so do work for the servers."""
        urls = (self.table_url, self.objects_url, self.ephemeral)
        return not any(url.startswith(("sqlite:", "file:", "memory:")) for url in urls)

    @property
    def keeps_all_here(self) -> bool:
        """Whether every store is on this machine, in files or in memory."""
        return self.has_one_writer and self.objects_url.startswith("file:") and self.ephemeral.startswith("memory:")

    @property
    def objects_url(self) -> str:
        return self.objects or f"file://{self.data.absolute() / 'objects'}"

    @property
    def map_origin(self) -> str:
        """Where pages may load images from besides this server; empty for nowhere."""
        parts = urlsplit(self.map_tiles)
        return f"{parts.scheme}://{parts.netloc}" if self.map_tiles else ""

    @property
    def listens_on(self) -> str:
        return "0.0.0.0" if self.lan else self.host  # noqa: S104  # asked for by --lan

    @property
    def is_announced(self) -> bool:
        """Whether the local network learns the name. A port that is drawn at random is for trials."""
        return bool(self.lan_name and self.lan and self.port and not self.public_url)

    @property
    def speaks_tls(self) -> bool:
        return self.tls or bool(self.tls_cert)

    @property
    def address(self) -> str:
        if self.public_url:
            return self.public_url
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}"

    @property
    def needs_data_folder(self) -> bool:
        return not self.secret or not self.shares_all_stores


_NUMBERS = {each.name for each in fields(Settings) if each.type is int}


def load_settings(
    chosen: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] = os.environ,
    file: Path | None = None,
) -> Settings:
    """Settings from `chosen` (those that are not None), then the environment, then the file, then defaults."""
    if file is None and environment.get("SATCHEL_CONFIG"):
        file = Path(environment["SATCHEL_CONFIG"])
    values: dict[str, Any] = {}
    known = {each.name for each in fields(Settings)}
    for name, value in _read_file(file, known).items():
        values[name] = _parse(name, value, f"{file}: {name}")
    for name in known:
        variable = ENVIRONMENT_PREFIX + name.upper()
        if environment.get(variable):
            values[name] = _parse(name, environment[variable], variable)
    for name, value in (chosen or {}).items():
        if value is not None:
            values[name] = _parse(name, value, "--" + name.replace("_", "-"))
    settings = Settings(**values)
    if settings.lan_name and not settings.lan_name.endswith(".local"):
        raise BadSetting("--lan-name has to end with .local, as all names do that are found by mDNS.")
    if settings.tls and settings.tls_cert:
        raise BadSetting("--tls makes a certificate, and --tls-cert gives one. Choose one of them.")
    if settings.tls_key and not settings.tls_cert:
        raise BadSetting("--tls-key is the key of a certificate: give that with --tls-cert.")
    return settings


def _read_file(file: Path | None, known: set[str]) -> dict[str, Any]:
    if file is None:
        return {}
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise BadSetting(f"The settings file {file} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BadSetting(f"The settings file {file} is not valid TOML: {error}.") from error
    for name in content:
        if name not in known:
            raise BadSetting(f"{file}: there is no setting called {name!r}. Known are: {', '.join(sorted(known))}.")
    return content


def _parse(name: str, value: Any, where: str) -> Any:
    """Turn what a person wrote into the type of the setting, or say what would have been right."""
    match name:
        case "data":
            return Path(str(value)).expanduser()
        case _ if name in _NUMBERS:
            return _whole_number(value, where, least=_LEAST.get(name, 0), most=_MOST.get(name))
        case "lan" | "signed_links" | "single_server" | "tls":
            return _yes_or_no(value, where)
        case "trusted_proxies" | "metrics_from":
            return _networks(value, where)
        case "allowed_hosts":
            return _names(value)
        case "sign_up" | "log_format":
            choices = get_args(SignUpMode if name == "sign_up" else LogFormat)
            return _one_of(str(value).lower(), choices, where)
        case "quit_it_today":
            return _counter_id(str(value), where)
        case "log_level":
            return _one_of(str(value).lower(), ("debug", "info", "warning", "error"), where)
        case "secret":
            if len(str(value)) < MIN_SECRET_BYTES:
                raise BadSetting(
                    f"{where} is too short: give {MIN_SECRET_BYTES} characters or more, as `openssl rand -hex 32` does."
                )
            return str(value)
        case "table":
            return _store_url(str(value), ("sqlite", "dynamodb"), where)
        case "ephemeral":
            return _store_url(str(value), ("memory", "redis", "rediss"), where)
        case "objects":
            return _store_url(str(value), ("file", "s3"), where)
        case "public_url":
            return _public_url(str(value), where)
        case "map_tiles":
            return _map_tiles(str(value), where)
        case "table_prefix":
            if not all(letter.isascii() and (letter.isalnum() or letter in "-_.") for letter in str(value)):
                raise BadSetting(f"{where} may hold only letters, digits, `-`, `_` and `.`, not {value!r}.")
            return str(value)
        case _:
            return str(value)


def _counter_id(value: str, where: str) -> str:
    if value and not _COUNTER_ID.fullmatch(value):
        raise BadSetting(f"{where} has to be the whole id of a counter, as `satchel counter list --json` shows it.")
    return value


def _whole_number(value: Any, where: str, *, least: int, most: int | None) -> int:
    try:
        number = int(str(value))
    except ValueError:
        number = -1
    if number < least or (most is not None and number > most):
        limit = f" up to {most}" if most is not None else ""
        raise BadSetting(f"{where} has to be a whole number from {least}{limit}, not {value!r}.")
    return number


def _yes_or_no(value: Any, where: str) -> bool:
    known = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
    if str(value).lower() not in known:
        raise BadSetting(f"{where} has to be true or false, not {value!r}.")
    return known[str(value).lower()]


def _one_of(value: str, choices: tuple[str, ...], where: str) -> str:
    if value not in choices:
        raise BadSetting(f"{where} has to be one of {', '.join(choices)}, not {value!r}.")
    return value


def _split(value: str, where: str) -> SplitResult:
    try:
        return urlsplit(value)
    except ValueError as error:
        raise BadSetting(f"{where} is no address: {value!r}.") from error


def _public_url(value: str, where: str) -> str:
    parts = _split(value, where)
    only_a_place = not (parts.username or parts.password or parts.query or parts.fragment or parts.path.strip("/"))
    if parts.scheme not in ("http", "https") or not parts.hostname or not only_a_place or not value.isascii():
        raise BadSetting(f"{where} has to be an address such as https://satchel.example.org, not {value!r}.")
    return value.rstrip("/")


def _map_tiles(value: str, where: str) -> str:
    """The host goes into a header, so it is one host and nothing else."""
    parts = _split(value, where)
    has_places = all(f"{{{name}}}" in parts.path + parts.query for name in "zxy")
    is_host = re.fullmatch(r"[A-Za-z0-9.-]+(:[0-9]+)?", parts.netloc) is not None
    if value and (parts.scheme not in ("http", "https") or not is_host or not has_places):
        raise BadSetting(f"{where} has to be like https://tile.example.org/{{z}}/{{x}}/{{y}}.png, not {value!r}.")
    return value


def _store_url(value: str, schemes: tuple[str, ...], where: str) -> str:
    parts = _split(value, where)
    if parts.scheme in ("sqlite", "file") and (parts.netloc or not parts.path.startswith("/")):
        raise BadSetting(f"{where} needs a whole path after three slashes: {parts.scheme}:///path, not {value!r}.")
    if parts.scheme not in schemes:
        raise BadSetting(f"{where} has to begin with one of {', '.join(s + ':' for s in schemes)}, not be {value!r}.")
    return value


def _names(value: Any) -> tuple[str, ...]:
    given: Sequence[object] = (
        cast("Sequence[object]", value) if isinstance(value, list | tuple) else str(value).split(",")
    )
    return tuple(str(each).strip() for each in given if str(each).strip())


def _networks(value: Any, where: str) -> tuple[Network, ...]:
    given: Sequence[object] = (
        cast("Sequence[object]", value) if isinstance(value, list | tuple) else str(value).split(",")
    )
    try:
        return tuple(ip_network(str(each).strip(), strict=False) for each in given if str(each).strip())
    except ValueError as error:
        raise BadSetting(f"{where} has to be networks such as 10.0.0.0/8, split by commas: {error}.") from error
