"""That no error of DynamoDB or of its client library gets through untranslated, whatever they add in future."""

import inspect
from typing import Any

import botocore.exceptions
import botocore.session
import pytest
from botocore.exceptions import BotoCoreError, ClientError

from satchel.edge.http.problems import problem_from
from satchel.kernel.errors import Conflict, Invalid, NotFound, TooLarge, Unavailable
from satchel.stores.distributed.dynamodb_errors import is_known, translated

KINDS = (Conflict, NotFound, Invalid, TooLarge, Unavailable)


def _services_errors() -> list[str]:
    session: Any = botocore.session.Session()
    models: list[Any] = [session.get_service_model(name) for name in ("dynamodb", "dynamodbstreams")]
    return sorted({shape.name for model in models for shape in model.error_shapes})


@pytest.mark.parametrize("code", _services_errors())
def test_every_error_that_the_service_declares_has_a_meaning_here(code: str) -> None:
    assert is_known(code)
    _check_sentence(translated(ClientError({"Error": {"Code": code, "Message": "secret words"}}, "PutItem")))


def _library_errors() -> list[type[Exception]]:
    classes = [kind for _, kind in inspect.getmembers(botocore.exceptions, inspect.isclass)]
    return [kind for kind in classes if issubclass(kind, Exception) and not issubclass(kind, Warning)]


@pytest.mark.parametrize("kind", _library_errors(), ids=lambda kind: kind.__name__)
def test_every_error_of_the_client_library_has_a_meaning_here(kind: type[Exception]) -> None:
    if not issubclass(kind, BotoCoreError | ClientError):
        # Only a damaged installation of the library lacks parts of its own model of DynamoDB.
        assert kind.__name__ in {"UndefinedModelAttributeError", "MissingServiceIdError"}
        return
    error = kind.__new__(kind)
    vars(error).update(kwargs={}, response={"Error": {}})
    _check_sentence(translated(error))


def _check_sentence(error: Exception) -> None:
    assert isinstance(error, KINDS)
    sentence = str(error)
    assert sentence.endswith(".")
    assert "secret" not in sentence
    assert "Exception" not in sentence


def test_a_refusal_that_our_rules_did_not_foresee_is_in_the_log_in_the_services_words(
    caplog: pytest.LogCaptureFixture,
) -> None:
    words = "The document path provided in the update expression is invalid for update"
    refused = ClientError({"Error": {"Code": "ValidationException", "Message": words}}, "UpdateItem")
    error = translated(refused)
    assert isinstance(error, Invalid)
    assert words in caplog.text
    error.__cause__ = refused
    told = problem_from(error, "1")
    assert (told.status, dict(told.headers)[b"retry-after"]) == (503, b"2")
    assert b"Dynamo" not in told.body
    assert words.encode() not in told.body
