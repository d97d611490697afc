"""Memory that threads have freed goes back to all of them, and what is large to the machine."""

import subprocess
import sys

# `malloc_info` writes each arena as a `heap`. Threads that are alive at once would have one each.
_THREADS = """
import ctypes, os, sys, threading
from satchel.edge.http.server import keep_few_arenas

if sys.argv[1] == "few":
    keep_few_arenas()
libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
together = threading.Barrier(8)

def allocate():
    together.wait()
    libc.malloc(100_000)
    together.wait()

threads = [threading.Thread(target=allocate) for _ in range(8)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
libc.fdopen.restype = ctypes.c_void_p
libc.malloc_info(0, ctypes.c_void_p(libc.fdopen(1, b"w")))
libc.fflush(None)
"""


def arenas(how: str) -> int:
    done = subprocess.run([sys.executable, "-c", _THREADS, how], capture_output=True, text=True, check=True)
    return done.stdout.count("<heap nr=")


def test_threads_share_two_arenas() -> None:
    assert arenas("many") > 2
    assert arenas("few") <= 2


_PASSWORDS = """
import ctypes, sys
from argon2 import PasswordHasher
from satchel.edge.http.server import keep_few_arenas

if sys.argv[1] == "few":
    keep_few_arenas()
for _ in range(3):
    PasswordHasher(time_cost=1, memory_cost=19 * 1024, parallelism=1).hash("secret")

class Kept(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in "a b c d mapped f g used free top".split()]

libc = ctypes.CDLL(None)
libc.mallinfo2.restype = Kept
print(libc.mallinfo2().free)
"""


def kept_after_passwords(how: str) -> int:
    done = subprocess.run([sys.executable, "-c", _PASSWORDS, how], capture_output=True, text=True, check=True)
    return int(done.stdout)


def test_what_a_password_took_while_it_was_hashed_is_not_kept() -> None:
    assert kept_after_passwords("many") > 10_000_000
    assert kept_after_passwords("few") < 5_000_000
