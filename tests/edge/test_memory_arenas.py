"""Memory that threads have freed goes back to all of them."""

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
