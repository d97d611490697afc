"""The name on the local network, asked for by mDNS in a network namespace that has nothing but its loopback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from satchel.config import BadSetting, Settings, load_settings

RESOLVER = Path(__file__).with_name("lan_name_resolver.py")


def test_a_device_on_the_network_finds_the_server_by_its_name() -> None:
    alone = ["unshare", "--net"] if os.geteuid() == 0 else ["unshare", "--net", "--map-root-user"]
    command = [*alone, "sh", "-c", 'ip link set lo up && exec "$@"', "sh", sys.executable, str(RESOLVER)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stdout == "['127.0.0.1']\n", done.stderr


def test_only_a_server_for_the_network_has_a_name_there() -> None:
    assert Settings(lan=True).is_announced
    assert not Settings().is_announced
    assert not Settings(lan=True, lan_name="").is_announced
    assert not Settings(lan=True, public_url="https://satchel.example").is_announced
    with pytest.raises(BadSetting, match=r"\.local"):
        load_settings({"lan_name": "satchel.example"}, {})
