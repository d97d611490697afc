"""Every way in which DynamoDB or its client library can fail, as one of the few errors of the table contract.

Also says which failures are transient, and which of those certainly changed nothing: only such a write can be retried
without the risk that it happens twice.
"""

import logging
from collections.abc import Callable
from typing import Any, TypeAlias, cast

from aiohttp import ClientConnectorError
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    CredentialRetrievalError,
    EndpointConnectionError,
    EndpointProviderError,
    HTTPClientError,
    InvalidRegionError,
    LoginError,
    MetadataRetrievalError,
    NoAuthTokenError,
    NoCredentialsError,
    NoRegionError,
    PartialCredentialsError,
    ProfileNotFound,
    ProxyConnectionError,
    SSLError,
    SSOError,
    TokenRetrievalError,
    UnknownCredentialError,
)
from botocore.exceptions import ConnectionError as NotConnected

from satchel.kernel.errors import Conflict, Invalid, SatchelError, StoreRefused, Unavailable
from satchel.stores.ports.table import (
    ConditionFailed,
    ItemTooLarge,
    PositionLost,
    Reason,
    TableMissing,
    TransactionCancelled,
)

_log = logging.getLogger("satchel.stores")
VendorError: TypeAlias = BotoCoreError | ClientError

_REFUSED_FOR_NOW = frozenset(
    {
        "LimitExceededException",
        "PriorRequestNotComplete",
        "ProvisionedThroughputExceededException",
        "ReplicatedWriteConflictException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "SlowDown",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
        "TransactionConflictException",
        "TransactionInProgressException",
    }
)
_FAILED_INSIDE = frozenset(
    {"InternalFailure", "InternalServerError", "InternalServerException", "ServiceUnavailable"}
    | {"ServiceUnavailableException", "RequestTimeout", "RequestTimeoutException", "500", "502", "503", "504"}
)
_NOT_ALLOWED = frozenset(
    {
        "AccessDeniedException",
        "ExpiredTokenException",
        "IncompleteSignatureException",
        "InvalidAccessKeyId",
        "InvalidSignatureException",
        "MissingAuthenticationTokenException",
        "NotAuthorized",
        "OptInRequired",
        "RequestExpired",
        "SignatureDoesNotMatch",
        "UnrecognizedClientException",
    }
)
_MISSING = frozenset({"IndexNotFoundException", "ResourceNotFoundException", "TableNotFoundException"})
_TABLE_BUSY = frozenset({"ResourceInUseException", "TableAlreadyExistsException", "TableInUseException"})
_NOT_ACCEPTED = frozenset(
    {"DuplicateItemException", "ItemCollectionSizeLimitExceededException", "SerializationException"}
    | {"UnknownOperationException", "ValidationException"}
)
# Answers to questions that Satchel never asks: backups, exports, replicas, resource policies.
_NEVER_EXPECTED = frozenset(
    {
        "BackupInUseException",
        "BackupNotFoundException",
        "ContinuousBackupsUnavailableException",
        "ExportConflictException",
        "ExportNotFoundException",
        "GlobalTableAlreadyExistsException",
        "GlobalTableNotFoundException",
        "ImportConflictException",
        "ImportNotFoundException",
        "InvalidExportTimeException",
        "InvalidRestoreTimeException",
        "PointInTimeRecoveryUnavailableException",
        "PolicyNotFoundException",
        "ReplicaAlreadyExistsException",
        "ReplicaNotFoundException",
    }
)


def _unavailable(sentence: str) -> Callable[[str], SatchelError]:
    return lambda _message: Unavailable(sentence)


def _missing(_message: str) -> SatchelError:
    return TableMissing("A table, index or stream is missing. Create it with `satchel tables create`.")


def _not_accepted(message: str) -> SatchelError:
    if "does not have the specified index" in message:
        return _missing(message)
    if "exceeded the maximum allowed size" in message:
        return ItemTooLarge("An item can have at most 400 KB. Store large content as an object instead.")
    # What our own rules had let pass: whoever runs the server needs to know what DynamoDB says.
    _log.warning("DynamoDB refused what the rules of the table let pass: %s", message)
    return StoreRefused("The table store refused a write. The server's log has the details.")


_OVERLOADED = _unavailable("The table store is overloaded. Try again in a moment.")
_UNEXPECTED = _unavailable("DynamoDB gave an unexpected answer. The server's log has the details.")
_BY_CODE: dict[str, Callable[[str], SatchelError]] = {
    **dict.fromkeys(_REFUSED_FOR_NOW, _OVERLOADED),
    **dict.fromkeys(_FAILED_INSIDE, _unavailable("The table store failed. Try again in a moment.")),
    **dict.fromkeys(
        _NOT_ALLOWED,
        _unavailable("DynamoDB refuses the credentials of this server. Check its keys, its clock and its policy."),
    ),
    **dict.fromkeys(_MISSING, _missing),
    **dict.fromkeys(_TABLE_BUSY, lambda _message: Conflict("The table is still being changed. Try again in a minute.")),
    **dict.fromkeys(_NOT_ACCEPTED, _not_accepted),
    **dict.fromkeys(_NEVER_EXPECTED, _UNEXPECTED),
    "ConditionalCheckFailedException": lambda _message: ConditionFailed("The item is not as expected. Read it again."),
    "ExpiredIteratorException": _unavailable("The place in the stream has expired. Continue from the position."),
    "IdempotentParameterMismatchException": lambda _message: Invalid(
        "This token was already used for other writes. Use a new token for new writes."
    ),
    "TrimmedDataAccessException": lambda _message: PositionLost(
        "The stream no longer reaches back to this position. Rebuild from the items themselves."
    ),
}

_CANCELLED = "TransactionCanceledException"
_CANCELLED_AS: dict[str, Reason] = {"ConditionalCheckFailed": "condition", "TransactionConflict": "contention"}
_CANCELLED_AS_INVALID = frozenset({"DuplicateItem", "ItemCollectionSizeLimitExceeded", "ValidationError"})
_CANCELLED_FOR_LOAD = frozenset({"ProvisionedThroughputExceeded", "ThrottlingError"})

_UNREACHABLE = (NotConnected, HTTPClientError)
_MISCONFIGURED = (
    CredentialRetrievalError,
    EndpointProviderError,
    InvalidRegionError,
    LoginError,
    MetadataRetrievalError,
    NoAuthTokenError,
    NoCredentialsError,
    NoRegionError,
    PartialCredentialsError,
    ProfileNotFound,
    SSOError,
    TokenRetrievalError,
    UnknownCredentialError,
)


def code_of(error: VendorError) -> str:
    return str(_answer(error).get("Code", "")) if isinstance(error, ClientError) else ""


def _answer(error: ClientError) -> dict[str, Any]:
    return cast("dict[str, Any]", cast("Any", error).response.get("Error", {}))


def translated(error: VendorError) -> SatchelError:
    """The error that a caller of the table store sees; raise it `from` this one."""
    if isinstance(error, ClientError):
        if code_of(error) == _CANCELLED:
            return _cancelled(_cancellation(error))
        return _BY_CODE.get(code_of(error), _UNEXPECTED)(str(_answer(error).get("Message", "")))
    if isinstance(error, _UNREACHABLE):
        return Unavailable("The table store cannot be reached. Check its address and the network, then try again.")
    if isinstance(error, _MISCONFIGURED):
        return Unavailable("The table store has no usable AWS credentials or region. Set them and start again.")
    return Unavailable("The table store's client failed. The server's log has the details.")


def _cancellation(error: VendorError) -> list[dict[str, str]]:
    """Why each write of a transaction was refused, in DynamoDB's words."""
    return cast("Any", error).response.get("CancellationReasons", []) if code_of(error) == _CANCELLED else []


def _cancelled(causes: list[dict[str, str]]) -> SatchelError:
    for cause in causes:
        if cause["Code"] in _CANCELLED_AS_INVALID:
            return _not_accepted(cause.get("Message", ""))
    if any(cause["Code"] in _CANCELLED_FOR_LOAD for cause in causes):
        return _OVERLOADED("")
    return TransactionCancelled([_CANCELLED_AS.get(cause["Code"]) for cause in causes])


def is_known(code: str) -> bool:
    return code in _BY_CODE or code == _CANCELLED


def changed_nothing(error: VendorError) -> bool:
    """Whether a request with a transient failure was certainly not carried out: throttled, or never sent."""
    if isinstance(error, EndpointConnectionError):
        # aiobotocore uses this one class both for a connection refused and for one torn amid the answer.
        return isinstance(cast("Any", error).kwargs.get("error"), ClientConnectorError)
    return isinstance(error, ConnectTimeoutError | ProxyConnectionError) or code_of(error) in _REFUSED_FOR_NOW


def may_pass(error: VendorError) -> bool:
    """Whether the same request may succeed a little later; it may also have been carried out already."""
    if causes := {cause["Code"] for cause in _cancellation(error)}:
        return causes <= _CANCELLED_FOR_LOAD | {"None", "TransactionConflict"}
    if isinstance(error, ClientError):
        return code_of(error) in _REFUSED_FOR_NOW | _FAILED_INSIDE
    return isinstance(error, _UNREACHABLE) and not isinstance(error, SSLError)
