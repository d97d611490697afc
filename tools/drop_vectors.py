"""Write tests/vectors/drop.json, by which both halves of drop are held to one protocol: `python -m tools.drop_vectors`.

Bytes are hexadecimal, except where the protocol itself writes them as base64. Chance is replaced by drawing from a
fixed beginning, so that every run makes the same file.
"""

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import msgspec

from satchel.cli.drop.crypto import cpace
from satchel.cli.drop.crypto.codes import normalised, read_invitation, spoken
from satchel.cli.drop.crypto.sealed_records import Digest, Sealer, sealed_bytes
from satchel.cli.drop.crypto.session_keys import SUITE, Description, Have, Introduction, Keys, Secret, Stream, Sum, seal
from satchel.cli.engine.terminal.output import CommandFailed

VECTORS = Path(__file__).parent.parent / "tests" / "vectors" / "drop.json"

Vector = dict[str, Any]

SECRET = Secret(bytes(range(16)))
SESSION, OWNER, RECEIVER, FILE, KNOCK = (
    hashlib.sha256(what).hexdigest()[:32] for what in b"session owner receiver file knock".split()
)
NAME = "amber-otter-27"


class Drawn:
    """Bytes in place of chance; keeps what was drawn, in order."""

    def __init__(self, beginning: str) -> None:
        self.beginning = beginning
        self.drawn: list[str] = []

    def __call__(self, count: int) -> bytes:
        made = hashlib.sha512(f"{self.beginning} {len(self.drawn)}".encode()).digest()[:count]
        self.drawn.append(made.hex())
        return made


def vectors() -> Vector:
    return {
        "suite": SUITE,
        "keys": key_schedule(),
        "seals": [
            sealed_text(text)
            for text in ({}, {"name": "Ann", "device": "a laptop"}, {"name": "é" * 200}, {"": "x" * 249})
        ],
        "introduction": introduction(),
        "announcements": [announcement(description) for description in DESCRIPTIONS],
        "requests": [
            request("anew", have=None, length=1000, chunk=262144, first=0),
            request("of a pipe", have=None, length=None, chunk=64, first=0),
            request("of a folder", have=None, length=1000, chunk=64, first=0, announced=Sum(900, 7)),
            request(
                "resumed", have=Have.of(64, 3, hashlib.sha256(b"three chunks").digest()), length=1000, chunk=64, first=3
            ),
        ],
        "streams": [
            *(stream(length, chunk=32, first=0) for length in (0, 1, 31, 32, 33, 63, 64, 65, 96, 97, 130)),
            *(stream(130, chunk=32, first=first) for first in (1, 3, 4)),
            stream(64, chunk=32, first=2),
            stream(300, chunk=128, first=1),
        ],
        "codes": [{"typed": typed, "normalised": normalised(typed)} for typed in CODES],
        "refused_codes": [refused(normalised, typed) for typed in REFUSED_CODES],
        "spoken": [
            {"name": NAME, "code": code, "spoken": spoken(NAME, code)} for code in ("481902", "acorn-tulip-zigzag")
        ],
        "invitations": [invitation(typed) for typed in INVITATIONS],
        "refused_invitations": [refused(read_invitation, typed) for typed in REFUSED_INVITATIONS],
        "cpace": [knock("481902"), knock("Acorn, tulip zigzag")],
    }


DESCRIPTIONS = [
    Description(kind="file", name="a.txt", size=5, files=1, modified="2026-01-02T03:04:05Z", type="text/plain"),
    Description(kind="folder", name="Ünïcode 写真", size=2**40, files=10000, modified=None, type=""),
    Description(kind="text", name="", size=None, files=1, modified=None, type="text/plain"),
]

CODES = [
    "481902",
    "481 902",
    "481-902",
    " 4 8 1 9 0 2 ",
    "４８１９０２",
    "000000",
    "acorn-tulip-zigzag",
    "Acorn Tulip ZIGZAG",
    "ａｃｏｒｎ,  tulip_zigzag.",
]
REFUSED_CODES = [
    "",
    "48190",
    "4819023",
    "acorn-tulip",
    "acorn-tulip-zigzag-acorn",
    "acorn-tulip-zigzagg",
    "acorn-tulip-7",
]

INVITATIONS = [
    "amber-otter-27-481902",
    "Amber Otter 27 481 902",
    "amber otter 27481902",
    "ａｍｂｅｒ－ｏｔｔｅｒ－２７－４８１９０２",
    "amber-otter-27-acorn-tulip-zigzag",
    "AMBER OTTER 27 ACORN TULIP ZIGZAG",
    "amber-otter-27",
    f"https://satchel.example/drop/{NAME}#{SECRET.fragment}",
    f"  http://127.0.0.1:8400/drop/{NAME}#{SECRET.fragment}\n",
    f"https://satchel.example/some/where/drop/{NAME}#{SECRET.fragment}",
]
REFUSED_INVITATIONS = [
    "",
    "481902",
    "amber-otter",
    "amber-otter-27-4819",
    "amber-otter-27-4819023",
    "amber-otter-48190",
    "amber-otter-274819022222",
    "amber-otter-27-acorn-tulip-7",
    "amber-otter-27-acorn-tulip",
    "amber-otter-27-acorn-tulip-zagzig",
    f"https://satchel.example/drop/{NAME}",
    f"https://satchel.example/drop/{NAME}#{SECRET.fragment[:-2]}",
    f"https://satchel.example/drop/{NAME}#{SECRET.fragment[:-1]}/",
    f"https://satchel.example/drop/{NAME}#Aw{SECRET.fragment[2:]}",
    f"https://satchel.example/rooms/{NAME}#{SECRET.fragment}",
    f"https://satchel.example/drop/..#{SECRET.fragment}",
    f"https://[::1/drop/{NAME}#{SECRET.fragment}",
    f"ftp://satchel.example/drop/{NAME}#{SECRET.fragment}",
]


def key_schedule() -> Vector:
    keys = Keys(SECRET, SESSION)
    digest = Digest(keys.digest_key(FILE))
    digest.add(b"a chunk")
    return {
        "secret": SECRET.value.hex(),
        "fragment": SECRET.fragment,
        "session_id": SESSION,
        "admission": keys.admission.hex(),
        "admission_digest": keys.admission_digest.hex(),
        "meta": keys.meta.hex(),
        "auth": keys.auth.hex(),
        "psk": keys.psk.hex(),
        "file_id": FILE,
        "digest_key": keys.digest_key(FILE).hex(),
        "digest_of_a_chunk": digest.value.hex(),
    }


def sealed_text(text: dict[str, str]) -> Vector:
    draw, key, aad = Drawn("seal"), hashlib.sha256(b"seal").digest(), b"about this"
    sealed = seal(key, aad, text, draw)
    return {"key": key.hex(), "aad": aad.hex(), "text": _json(text), "nonce": draw.drawn[0], "sealed": sealed.hex()}


def introduction() -> Vector:
    draw, said = Drawn("introduction"), Introduction(name="Ann", device="satchel on debian")
    sealed = Keys(SECRET, SESSION, draw).introduce(OWNER, said)
    return {"member_id": OWNER, "text": _json(said), "nonce": draw.drawn[0], "sealed": sealed.hex()}


def announcement(description: Description) -> Vector:
    draw = Drawn(f"announcement of {description.name}")
    sealed = Keys(SECRET, SESSION, draw).announce(FILE, OWNER, description)
    return {
        "file_id": FILE,
        "owner_id": OWNER,
        "text": _json(description),
        "nonce": draw.drawn[0],
        "sealed": sealed.hex(),
    }


def request(
    label: str, *, have: Have | None, length: int | None, chunk: int, first: int, announced: Sum | None = None
) -> Vector:
    asking, answering = Drawn(f"receiver {label}"), Drawn(f"owner {label}")
    asked = Keys(SECRET, SESSION, asking).ask(FILE, RECEIVER, OWNER, have)
    owner = Keys(SECRET, SESSION, answering)
    answer = owner.acknowledge(asked.request, length=length, chunk=chunk, first=first, announced=announced)
    shared = cpace.scalar_mult(bytes.fromhex(asking.drawn[1]), answer.public_key)
    key, commit, receipt_key = owner.stream_keys(asked.request, answer.public_key, shared)
    return {
        "label": label,
        "request_id": asked.request_id,
        "file_id": FILE,
        "receiver_id": RECEIVER,
        "owner_id": OWNER,
        "have": None if have is None else msgspec.to_builtins(have),
        "receiver_private": asking.drawn[1],
        "receiver_public": asked.public_key.hex(),
        "request_nonce": asking.drawn[2],
        "request": asked.sealed.hex(),
        "owner_private": answering.drawn[0],
        "owner_public": answer.public_key.hex(),
        "acknowledgement_nonce": answering.drawn[1],
        "acknowledgement": answer.sealed.hex(),
        "length": length,
        "chunk": chunk,
        "first": first,
        "sum": None if announced is None else msgspec.to_builtins(announced),
        "shared": shared.hex(),
        "key": key.hex(),
        "commit": commit.hex(),
        "receipt_key": receipt_key.hex(),
    }


def stream(length: int, *, chunk: int, first: int) -> Vector:
    keys = hashlib.sha512(f"stream of {length} from {first}".encode()).digest()
    digest_key = hashlib.sha256(f"digest of {length} from {first}".encode()).digest()
    content = bytes(index * 7 % 256 for index in range(length))
    agreed = Stream(key=keys[:32], receipt_key=keys[32:], chunk=chunk, first=first, length=length)
    chunks = [content[start : start + chunk] for start in range(0, length, chunk)]
    digest, digests, records = Digest(digest_key), [bytes(32).hex()], list[str]()
    for each in chunks[:first]:
        digest.add(each)
        digests.append(digest.value.hex())
    sealer = Sealer(agreed, digest)
    for each in chunks[first:]:
        record = bytearray(len(each) + 16)
        sealer.seal_into(memoryview(each), record)
        records.append(record.hex())
        digests.append(digest.value.hex())
    return {
        "key": agreed.key.hex(),
        "receipt_key": agreed.receipt_key.hex(),
        "digest_key": digest_key.hex(),
        "length": length,
        "chunk": chunk,
        "first": first,
        "content": content.hex(),
        "digests": digests,
        "records": records,
        "last": sealer.final(length).hex(),
        "sealed_bytes": sealed_bytes(length, chunk, first),
        "receipt": agreed.receipt(digest.value).hex(),
        "refusal": agreed.refusal.hex(),
    }


def invitation(typed: str) -> Vector:
    read = asdict(read_invitation(typed))
    return {"typed": typed, **read, "secret": read["secret"] and read["secret"]["value"].hex()}


def refused(reader: Any, typed: str) -> str:
    try:
        reader(typed)
    except CommandFailed:
        return typed
    raise AssertionError(f"{typed!r} was to be refused")


def knock(code: str) -> Vector:
    guest_draw, door_draw = Drawn("guest"), Drawn("door")
    guest = cpace.Guest(code, NAME, SESSION, KNOCK, guest_draw)
    door = cpace.Door(code, NAME, SESSION, KNOCK, SECRET, guest.share, door_draw)
    guest_tag = guest.tag(door.share)
    door_tag, box = door.verdict(guest_tag)
    return {
        "code": code,
        "name": NAME,
        "session_id": SESSION,
        "knock_id": KNOCK,
        "prs": normalised(code).encode().hex(),
        "ci": cpace.lv_cat(b"drop/1", NAME.encode()).hex(),
        "sid": guest.sid.hex(),
        "generator": guest.generator.hex(),
        "guest_scalar": guest_draw.drawn[0],
        "guest_share": guest.share.hex(),
        "door_scalar": door_draw.drawn[0],
        "door_share": door.share.hex(),
        "shared": cpace.scalar_mult(guest.scalar, door.share).hex(),
        "isk": door.isk.hex(),
        "guest_tag": guest_tag.hex(),
        "door_tag": door_tag.hex(),
        "box_key": door.box_key(door.isk).hex(),
        "box_nonce": door_draw.drawn[1],
        "box": box.hex(),
        "secret": guest.open(door_tag, box).value.hex(),
    }


def _json(text: object) -> str:
    return msgspec.json.encode(text).decode()


def written() -> str:
    return json.dumps(vectors(), indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    VECTORS.write_text(written(), encoding="utf-8")
