"""Settings: where they come from, which wins, and what is said when one is wrong."""

from dataclasses import fields
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest

from satchel.config import BadSetting, Settings, load_settings


def test_nothing_given_is_the_embedded_default_under_one_folder() -> None:
    settings = load_settings(environment={})
    assert settings == Settings()
    assert (settings.host, settings.port) == ("127.0.0.1", 8400)
    assert settings.table_url == f"sqlite://{Path('data').absolute()}/satchel.db"
    assert settings.objects_url == f"file://{Path('data').absolute()}/objects"
    assert settings.address == "http://127.0.0.1:8400"


def test_the_command_line_wins_over_the_environment_and_that_over_the_file(tmp_path: Path) -> None:
    file = tmp_path / "satchel.toml"
    file.write_text('port = 1\nhost = "file"\nlog_level = "debug"\ntrusted_proxies = ["10.0.0.0/8", "::1"]\n')
    environment = {"SATCHEL_CONFIG": str(file), "SATCHEL_PORT": "2", "SATCHEL_HOST": "environment"}
    settings = load_settings({"port": 3, "data": None}, environment)
    assert (settings.port, settings.host, settings.log_level) == (3, "environment", "debug")
    assert settings.trusted_proxies == (ip_network("10.0.0.0/8"), ip_network("::1/128"))


def test_an_empty_variable_counts_as_none() -> None:
    assert load_settings(environment={"SATCHEL_PORT": ""}).port == 8400


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("PORT", "http", "SATCHEL_PORT has to be a whole number from 0 up to 65535"),
        ("PORT", "70000", "from 0 up to 65535"),
        ("PORT", "-1", "whole number"),
        ("SIGN_UP", "everybody", "has to be one of open, invitation, closed"),
        ("LOG_LEVEL", "loud", "has to be one of debug, info, warning, error"),
        ("SECRET", "short", "32 characters or more"),
        ("TABLE", "mysql://x", "has to begin with one of sqlite:, dynamodb:"),
        ("EPHEMERAL", "localhost", "has to begin with one of memory:, redis:, rediss:"),
        ("OBJECTS", "ftp://x", "has to begin with one of file:, s3:"),
        ("PUBLIC_URL", "satchel.example.org", "has to be an address such as https://"),
        ("TABLE", "sqlite://relative/x.db", "three slashes"),
        ("OBJECTS", "file:here", "three slashes"),
        ("EPHEMERAL", "redis://[", "is no address"),
        ("PUBLIC_URL", "http://[", "is no address"),
        ("PUBLIC_URL", "https://me:pw@example.org", "has to be an address such as https://"),
        ("PUBLIC_URL", "https://example.org/?q", "has to be an address such as https://"),
        ("TRUSTED_PROXIES", "10.0.0.300", "has to be networks such as 10.0.0.0/8"),
        ("TABLE_PREFIX", "a/b", "may hold only letters"),
        ("UPLOAD_LIMIT", "much", "whole number"),
        ("QUIT_IT_TODAY", "https://shop.example", "the whole id of a counter"),
    ],
)
def test_a_wrong_setting_is_named_with_what_would_do(name: str, value: str, says: str) -> None:
    with pytest.raises(BadSetting) as caught:
        load_settings(environment={f"SATCHEL_{name}": value})
    assert f"SATCHEL_{name}" in str(caught.value)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("content", "says"),
    [("port = ", "not valid TOML"), ("prot = 1", "no setting called 'prot'"), (None, "cannot be read")],
)
def test_a_wrong_file_is_named_with_what_is_wrong(tmp_path: Path, content: str | None, says: str) -> None:
    file = tmp_path / "satchel.toml"
    if content is not None:
        file.write_text(content)
    with pytest.raises(BadSetting, match=says) as caught:
        load_settings(environment={}, file=file)
    assert str(file) in str(caught.value)


@pytest.mark.parametrize(
    ("chosen", "needed"),
    [
        ({}, True),
        ({"table": "dynamodb://x", "ephemeral": "redis://x", "objects": "s3://x"}, True),
        ({"table": "dynamodb://x", "ephemeral": "redis://x", "objects": "s3://x", "secret": "s" * 32}, False),
        ({"table": "dynamodb://x", "objects": "s3://x", "secret": "s" * 32}, True),
    ],
)
def test_a_data_folder_is_needed_only_if_something_is_kept_in_it(chosen: dict[str, Any], needed: bool) -> None:
    assert load_settings(chosen, {}).needs_data_folder is needed


@pytest.mark.parametrize("name", [each.name for each in fields(Settings) if each.type is int])
def test_every_number_is_read_as_one(name: str) -> None:
    variable = f"SATCHEL_{name.upper()}"
    number = 700 if name == "memory" else 70
    assert getattr(load_settings({}, {variable: str(number)}), name) == number
    with pytest.raises(BadSetting, match=variable):
        load_settings({}, {variable: "seven"})
