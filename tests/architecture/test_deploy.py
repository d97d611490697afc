"""What `deploy/` ships fits the program: settings that exist, locked tools, a configuration that nginx takes."""

import dataclasses
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from satchel.config import Settings
from tests.services import tool

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
CONTAINERFILE = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
COMPOSE = [DEPLOY / "compose.yaml", DEPLOY / "compose.distributed.yaml"]
# What the compose files ask of whoever starts them, and no setting of the program.
ASKED = {"SATCHEL_NAME"}


def services(file: Path) -> dict[str, Any]:
    return yaml.safe_load(file.read_text(encoding="utf-8"))["services"]


def test_every_setting_that_is_shipped_exists() -> None:
    known = {f"SATCHEL_{field.name.upper()}" for field in dataclasses.fields(Settings)}
    shipped = {
        file.name: set(re.findall(r"SATCHEL_[A-Z_]+", file.read_text(encoding="utf-8"))) for file in DEPLOY.iterdir()
    }
    assert {name: names - known - ASKED for name, names in shipped.items() if names - known - ASKED} == {}
    assert shipped["compose.distributed.yaml"] >= {"SATCHEL_TABLE", "SATCHEL_EPHEMERAL", "SATCHEL_OBJECTS"}


def test_the_image_is_built_by_the_locked_tools_and_runs_without_rights() -> None:
    [installed] = re.findall(r"uv==[\d.]+", CONTAINERFILE)
    assert installed in (ROOT / "tools" / "environment").read_text(encoding="utf-8")
    final = CONTAINERFILE.rpartition("\nFROM ")[2]
    assert re.search(r"^USER (?!0$|root$)\S+$", final, re.MULTILINE)
    assert f"EXPOSE {Settings().port}" in final
    assert "HEALTHCHECK" in final and f":{Settings().port}/healthz" in final


@pytest.mark.parametrize("file", COMPOSE, ids=lambda file: file.name)
def test_containers_of_ours_write_to_their_volumes_alone(file: Path) -> None:
    ours = {name: each for name, each in services(file).items() if each["image"] == "satchel"}
    assert ours
    for name, each in ours.items():
        assert each["read_only"] is True, name
        assert each["cap_drop"] == ["ALL"], name
        assert each["security_opt"] == ["no-new-privileges:true"], name


@pytest.mark.parametrize("file", COMPOSE, ids=lambda file: file.name)
def test_the_proxy_is_the_one_whose_word_counts(file: Path) -> None:
    all_of_it = services(file)
    [address] = [network["ipv4_address"] for network in all_of_it["proxy"]["networks"].values()]
    trusting = [each["environment"] for each in all_of_it.values() if each["image"] == "satchel"]
    assert {each["SATCHEL_TRUSTED_PROXIES"] for each in trusting} == {address}


@pytest.mark.services
@pytest.mark.parametrize("name", ["nginx.conf", "nginx.distributed.conf"])
def test_nginx_takes_the_configurations_and_bounds_the_connections_of_a_network(tmp_path: Path, name: str) -> None:
    inside = re.sub(r"server (one|two):8400", "server 127.0.0.1:8400", (DEPLOY / name).read_text(encoding="utf-8"))
    assert re.search(r"^    limit_conn satchel_network \d+;$", inside, re.MULTILINE)
    # There is no certificate here.
    inside = "\n".join(line.replace("443 ssl", "443") for line in inside.splitlines() if "ssl_certificate" not in line)
    conf = tmp_path / "nginx.conf"
    conf.write_text(f"pid {tmp_path}/pid; error_log {tmp_path}/error.log;\nevents {{}}\nhttp {{\n{inside}\n}}\n")
    done = subprocess.run(
        [tool("nginx"), "-t", "-c", str(conf), "-e", str(tmp_path / "error.log")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
