"""Many live connections in a process of their own: `python -m bench.rooms_listener URL`.

The tokens come as one line of JSON. Says `ready` once all are connected; what each has heard is printed when the input
ends.
"""

import asyncio
import sys
import time
from typing import Any

import msgspec
import uvloop
from websockets.asyncio.client import ClientConnection, connect

_AT_ONCE = 20


async def main(url: str) -> None:
    tokens: list[str] = msgspec.json.decode(await asyncio.to_thread(sys.stdin.readline))
    turns = asyncio.Semaphore(_AT_ONCE)

    async def dial(token: str) -> ClientConnection:
        async with turns:
            address = f"{url.replace('http', 'ws')}/api/v1/live"
            headers = {"authorization": f"Bearer {token}"}
            connection = await connect(address, additional_headers=headers, proxy=None, compression=None)
            await connection.recv()
            return connection

    connections = await asyncio.gather(*map(dial, tokens))
    heard: list[list[tuple[str, float]]] = [[] for _ in tokens]
    hearing = [
        asyncio.create_task(_hear(connection, each)) for connection, each in zip(connections, heard, strict=True)
    ]
    print("ready", flush=True)
    await asyncio.to_thread(sys.stdin.read)
    for task in hearing:
        # One that has broken meanwhile shows in what it did not hear.
        task.cancel()
    sys.stdout.buffer.write(msgspec.json.encode(heard))


async def _hear(connection: ClientConnection, heard: list[tuple[str, float]]) -> None:
    async for frame in connection:
        heard_at = time.monotonic()
        event: dict[str, Any] = msgspec.json.decode(frame)
        if event["type"] == "room.chat":
            heard.append((event["message"]["message_id"], heard_at))


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1]))
