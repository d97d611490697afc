"""Handing files over: command line to command line beside magic-wormhole, the relay alone, and Chromium."""

import asyncio
import os
import time
from contextlib import ExitStack
from pathlib import Path

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from bench.drop import browser
from bench.drop.commands import Goods, by_satchel, by_wormhole, joining_by_code
from bench.drop.relay import Relay
from bench.drop.wormhole import wormhole_servers
from bench.figures import Figure, Sample, alone, at_least, below, compare
from bench.processes import scratch_folder
from bench.rounds import Effort, Measure, in_turn
from bench.satchel_server import satchel_server

# Both commands are measured on twice the file that others are: starting them takes as long as a part of it.
_FILES = 2
_SMALL_FILE_BYTES = 4096
_SMALL_FILES_PER_FOLDER = 100
_CHUNK_BYTES = 256 * 1024
_PARKED = 100
_AT_ONCE = 200
_AT_ONCE_BYTES = 8 * 1024**2


async def measure(effort: Effort) -> list[Figure]:
    with ExitStack() as opened:
        folder = opened.enter_context(scratch_folder())
        big = await asyncio.to_thread(_fill_file, folder / "big.bin", _FILES * effort.file_bytes)
        many = await asyncio.to_thread(_fill_folder, folder / "many", effort.small_requests)
        satchel = opened.enter_context(satchel_server(folder / "satchel"))
        wormhole = opened.enter_context(wormhole_servers(folder / "wormhole"))
        relay = Relay(satchel)
        large = await in_turn(
            "drop, one file",
            effort.rounds,
            {
                "satchel": by_satchel(satchel, big, folder),
                "magic-wormhole": by_wormhole(wormhole, big, folder),
                "bare pipe": relay.pipe(big.path, folder / "piped"),
                "AES-256-GCM": _cipher_alone(big),
            },
        )
        small = await in_turn(
            "drop, a folder",
            effort.rounds,
            {"satchel": by_satchel(satchel, many, folder), "magic-wormhole": by_wormhole(wormhole, many, folder)},
        )
        joins = [await joining_by_code(satchel, big, folder) for _ in range(effort.rounds)]
        chromium = await browser.measure(satchel, relay, big, folder, effort)
        fairness, parked = await relay.fairness(_AT_ONCE, _AT_ONCE_BYTES), await relay.parked_megabytes(_PARKED)
    size = f"{_FILES * effort.file_bytes // 1024**2} MiB"
    return [
        compare(f"{size} from file to file", "MB/s", large, peer="magic-wormhole", target=at_least(2)),
        compare("the same against curl at both ends of the relay", "MB/s", large, peer="bare pipe"),
        compare("the same against the cipher alone", "MB/s", large, peer="AES-256-GCM"),
        compare(
            f"a folder of {effort.small_requests:,} files of 4 KiB",
            "files/s",
            small,
            peer="magic-wormhole",
            target=at_least(3),
        ),
        *chromium,
        alone("joining by code", "s", joins, target=below(1)),
        alone("processor time of the relay per GB", "s", [1e3 * _cpu(each) for each in large["bare pipe"]]),
        alone(f"resident with {_PARKED} parked streams", "MB", [parked], target=below(150)),
        fairness,
    ]


def _cpu(sample: Sample) -> float:
    return (sample.cpu_seconds or 0) / sample.work


def _cipher_alone(goods: Goods) -> Measure:
    """All of it sealed in memory, chunk by chunk, by one process."""
    cipher, chunk = AESGCM(AESGCM.generate_key(256)), os.urandom(_CHUNK_BYTES)
    sealed = bytearray(_CHUNK_BYTES + 16)
    chunks = int(goods.work * 1e6) // _CHUNK_BYTES

    def seal() -> Sample:
        started = time.perf_counter()
        for number in range(chunks):
            cipher.encrypt_into(number.to_bytes(12, "big"), chunk, None, sealed)
        return Sample(chunks * _CHUNK_BYTES / 1e6, time.perf_counter() - started)

    async def run() -> Sample:
        return await asyncio.to_thread(seal)

    return run


def _fill_file(path: Path, size_bytes: int) -> Goods:
    with path.open("wb") as output:
        for _ in range(size_bytes // 1024**2):
            output.write(os.urandom(1024**2))
    return Goods(path, size_bytes / 1e6)


def _fill_folder(path: Path, files: int) -> Goods:
    for number in range(files):
        folder = path / f"{number // _SMALL_FILES_PER_FOLDER:03}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number:05}.bin").write_bytes(os.urandom(_SMALL_FILE_BYTES))
    return Goods(path, files)
