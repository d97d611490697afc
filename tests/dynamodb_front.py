"""DynamoDB Local as it is installed here takes 10 writes a transaction and no empty text; DynamoDB takes 100, and them.

`python -m tests.dynamodb_front PORT UPSTREAM LOCK` listens before it and does what it lacks. A transaction of more than
10 writes becomes several, while no other write passes: first all conditions, then all writes. Whoever kills DynamoDB
Local holds the lock of the file LOCK, so that none is left half done.
"""

import asyncio
import fcntl
import json
import re
import sys
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import uvloop

_MOST = 10
_WRITES = {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"}
_CANCELLED = "com.amazonaws.dynamodb.v20120810#TransactionCanceledException"
# No text of ours has it. As the value of an attribute it is what an empty text is outside.
_EMPTY_IN, _EMPTY_OUT = re.compile(rb'"S": ?""'), re.compile(b'"S": ?"\xee\x80\x80"')
_KINDS = ("Put", "Update", "Delete", "ConditionCheck")
Message = tuple[bytes, bytes]


class Front:
    """Passes requests on, one line there for each line here."""

    def __init__(self, upstream: int, lock: Path) -> None:
        self._upstream = upstream
        self._lock_file = lock.open("w")
        self._writes = asyncio.Lock()
        self._keys: dict[str, list[str]] = {}
        self._done: set[str] = set()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError), closing(writer):
            there, back = await asyncio.open_connection("127.0.0.1", self._upstream, limit=2**20)
            with closing(back):
                line = _Line(there, back)
                while True:
                    head, body = await _message(reader)
                    body = _EMPTY_IN.sub(b'"S": "\xee\x80\x80"', body)
                    writer.write(_joined(*await self._answer(line, head, body)))
                    await writer.drain()

    async def _answer(self, line: "_Line", head: bytes, body: bytes) -> Message:
        operation = (re.search(rb"(?i)^x-amz-target: *\S+\.(\w+)", head, re.MULTILINE) or [b"", b""])[1].decode()
        if operation not in _WRITES:
            return await line.ask(head, body)
        async with self._writes:
            asked: Any = json.loads(body)
            if operation == "TransactWriteItems" and len(asked["TransactItems"]) > _MOST:
                return await self._in_steps(line, head, asked)
            return await line.ask(head, body)

    async def _in_steps(self, line: "_Line", head: bytes, asked: Any) -> Message:
        token: str | None = asked.get("ClientRequestToken")
        if token in self._done:
            return _OK, b"{}"
        await asyncio.to_thread(fcntl.flock, self._lock_file, fcntl.LOCK_EX)
        try:
            writes: list[Any] = asked["TransactItems"]
            checks = [await self._check_of(line, head, each) for each in writes]
            if (refused := await self._check(line, head, checks)) is not None:
                return refused
            changes = [_without_condition(each) for each in writes if "ConditionCheck" not in each]
            for start in range(0, len(changes), _MOST):
                answer = await line.transact(head, changes[start : start + _MOST])
                if not _is_ok(answer):
                    raise RuntimeError(f"half of a transaction is done: {answer}")
            if token is not None:
                self._done.add(token)
            return _OK, b"{}"
        finally:
            fcntl.flock(self._lock_file, fcntl.LOCK_UN)

    async def _check(self, line: "_Line", head: bytes, checks: Sequence[Any]) -> Message | None:
        """The refusal, with a reason for every write, if one of the conditions does not hold."""
        reasons: list[Any] = [{"Code": "None"} for _ in checks]
        numbers = [number for number, check in enumerate(checks) if check is not None]
        for start in range(0, len(numbers), _MOST):
            some = numbers[start : start + _MOST]
            answer = await line.transact(head, [checks[number] for number in some])
            if _is_ok(answer):
                continue
            said: Any = json.loads(answer[1])
            if "CancellationReasons" not in said:
                return answer
            for number, reason in zip(some, said["CancellationReasons"], strict=True):
                reasons[number] = reason
        codes = [reason["Code"] for reason in reasons]
        if set(codes) == {"None"}:
            return None
        told = f"Transaction cancelled, please refer cancellation reasons for specific reasons [{', '.join(codes)}]"
        refusal = {"__type": _CANCELLED, "CancellationReasons": reasons, "Message": told}
        return _REFUSED, json.dumps(refusal).encode()

    async def _check_of(self, line: "_Line", head: bytes, write: Any) -> Any:
        """The condition of a write alone."""
        kind, about = _kind(write)
        if "ConditionExpression" not in about:
            return None
        if kind == "ConditionCheck":
            return write
        key = about.get("Key")
        if key is None:
            names = await self._key_names(line, head, about["TableName"])
            key = {name: about["Item"][name] for name in names}
        checked = {"TableName": about["TableName"], "Key": key, "ConditionExpression": about["ConditionExpression"]}
        return {"ConditionCheck": {**checked, **_used(about, about["ConditionExpression"])}}

    async def _key_names(self, line: "_Line", head: bytes, table: str) -> list[str]:
        if table not in self._keys:
            describing = re.sub(rb"TransactWriteItems", b"DescribeTable", head)
            _, said = await line.ask(describing, json.dumps({"TableName": table}).encode())
            schema: Any = json.loads(said)["Table"]["KeySchema"]
            self._keys[table] = [part["AttributeName"] for part in schema]
        return self._keys[table]


class _Line:
    """A connection to DynamoDB Local."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def ask(self, head: bytes, body: bytes) -> Message:
        self._writer.write(_joined(head, body))
        await self._writer.drain()
        answer, said = await _message(self._reader)
        # Its checksum is of what is not there any more.
        answer = re.sub(rb"(?i)x-amz-crc32:[^\r]*\r\n", b"", answer)
        return answer, _EMPTY_OUT.sub(b'"S":""', said)

    async def transact(self, head: bytes, writes: Sequence[Any]) -> Message:
        return await self.ask(head, json.dumps({"TransactItems": writes}).encode())


_OK = b"HTTP/1.1 200 OK\r\nContent-Type: application/x-amz-json-1.0\r\n\r\n"
_REFUSED = _OK.replace(b"200 OK", b"400 Bad Request")


def _kind(write: Any) -> tuple[str, Any]:
    kind = next(kind for kind in _KINDS if kind in write)
    return kind, write[kind]


def _without_condition(write: Any) -> Any:
    kind, about = _kind(write)
    kept = {name: about[name] for name in ("TableName", "Key", "Item", "UpdateExpression") if name in about}
    return {kind: {**kept, **_used(about, about.get("UpdateExpression", ""))}}


def _used(about: Any, expression: str) -> dict[str, Any]:
    """The names and values of an expression; others are not taken."""
    used = set(re.findall(r"[#:]\w+", expression))
    parts = ("ExpressionAttributeNames", "ExpressionAttributeValues")
    kept = {part: {name: value for name, value in about.get(part, {}).items() if name in used} for part in parts}
    return {part: values for part, values in kept.items() if values}


def _is_ok(answer: Message) -> bool:
    return answer[0].startswith(b"HTTP/1.1 200")


async def _message(reader: asyncio.StreamReader) -> Message:
    """A request or an answer, in one piece."""
    head = await reader.readuntil(b"\r\n\r\n")
    if re.search(rb"(?i)\r\ntransfer-encoding: *chunked", head):
        body = b""
        while size := int((await reader.readuntil(b"\r\n")).split(b";")[0], 16):
            body += (await reader.readexactly(size + 2))[:-2]
        await reader.readexactly(2)
        return head, body
    length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
    return head, await reader.readexactly(int(length[1])) if length else b""


def _joined(head: bytes, body: bytes) -> bytes:
    plain = re.sub(rb"(?i)\r\n(content-length|transfer-encoding):[^\r]*", b"", head)
    return plain[:-2] + b"Content-Length: %d\r\n\r\n" % len(body) + body


async def main(port: int, upstream: int, lock: Path) -> None:
    front = Front(upstream, lock)
    async with await asyncio.start_server(front.serve, "127.0.0.1", port, limit=2**20) as server:
        await server.serve_forever()


if __name__ == "__main__":
    uvloop.run(main(int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])))
