"""What each error of redis-py means to us, so that none of them leaves this folder."""

from redis import exceptions

from satchel.kernel.errors import OutOfSpace, SatchelError, Unavailable
from satchel.stores.ports.ephemeral import WrongKind

_ASK_FOR_ONE_SERVER = "it is part of a cluster; give the address of a server that holds all keys"
_ASK_FOR_A_PRIMARY = "it only reads; give the address of the primary server"
_ASK_FOR_RIGHTS = "it refuses this user; correct the name, the password or the user's rights"
_TRY_LATER = "it is not ready; try again in a moment"
_UNEXPECTED = "it answered in a way that this version does not expect; see its log"

# Every exception of redis-py, and what to do about it. A test fails when the library brings a new one.
REMEDIES: dict[type[Exception], str] = {
    exceptions.AskError: _ASK_FOR_ONE_SERVER,
    exceptions.AuthenticationError: _ASK_FOR_RIGHTS,
    exceptions.AuthenticationWrongNumberOfArgsError: _ASK_FOR_RIGHTS,
    exceptions.AuthorizationError: _ASK_FOR_RIGHTS,
    exceptions.BusyLoadingError: _TRY_LATER,
    exceptions.ChildDeadlockedError: _UNEXPECTED,
    exceptions.ClusterCrossSlotError: _ASK_FOR_ONE_SERVER,
    exceptions.ClusterDownError: _ASK_FOR_ONE_SERVER,
    exceptions.ClusterError: _ASK_FOR_ONE_SERVER,
    exceptions.ConnectionError: "it cannot be reached; start it, or correct its address",
    exceptions.CrossSlotTransactionError: _ASK_FOR_ONE_SERVER,
    exceptions.DataError: _UNEXPECTED,
    exceptions.ExecAbortError: _UNEXPECTED,
    exceptions.ExternalAuthProviderError: _ASK_FOR_RIGHTS,
    exceptions.IncorrectPolicyType: _ASK_FOR_ONE_SERVER,
    exceptions.InvalidPipelineStack: _ASK_FOR_ONE_SERVER,
    exceptions.InvalidResponse: "what answers there is no Redis; correct its address",
    exceptions.LockError: _UNEXPECTED,
    exceptions.LockNotOwnedError: _UNEXPECTED,
    exceptions.MasterDownError: _TRY_LATER,
    exceptions.MaxConnectionsError: "too many are waiting for values at once; try again in a moment",
    exceptions.ModuleError: _UNEXPECTED,
    exceptions.MovedError: _ASK_FOR_ONE_SERVER,
    exceptions.NoPermissionError: _ASK_FOR_RIGHTS,
    exceptions.NoScriptError: _UNEXPECTED,
    exceptions.NoSuchFieldsetError: _UNEXPECTED,
    exceptions.OutOfMemoryError: "its memory is full",
    exceptions.PubSubError: _UNEXPECTED,
    exceptions.ReadOnlyError: _ASK_FOR_A_PRIMARY,
    exceptions.RedisClusterException: _ASK_FOR_ONE_SERVER,
    exceptions.RedisError: _UNEXPECTED,
    exceptions.ResponseError: _UNEXPECTED,
    exceptions.SlotNotCoveredError: _ASK_FOR_ONE_SERVER,
    exceptions.TimeoutError: "it does not answer in time; see whether it is overloaded or the network is slow",
    exceptions.TryAgainError: _ASK_FOR_ONE_SERVER,
    exceptions.WatchError: _UNEXPECTED,
}

# Refusals that redis-py has no class for, by the word they begin with.
_REFUSALS = {
    "MISCONF": "it cannot save to its disk; make room there, or see its log",
    "NOREPLICAS": "too few of its replicas are reachable; see its log",
    "UNBLOCKED": "waiting was ended there",
}


def translated(error: Exception, server: str = "Redis") -> SatchelError:
    """The error of redis-py as one of our own."""
    words = str(error)
    if isinstance(error, exceptions.OutOfMemoryError):
        return OutOfSpace(f"{server} is out of memory. Delete keys, wait until some expire, or raise its maxmemory.")
    if words.startswith("WRONGTYPE"):
        return WrongKind("This key holds a value of another kind. Delete it first, or use another key.")
    if "is not an integer" in words or "would overflow" in words:
        return WrongKind(
            "This is not a whole number, or the sum does not fit into 64 bits. Store a number there first."
        )
    known = next(REMEDIES[kind] for kind in type(error).__mro__ if kind in REMEDIES)
    remedy = _REFUSALS.get(words.partition(" ")[0], known)
    return Unavailable(f"{server} cannot be used: {remedy}.")
