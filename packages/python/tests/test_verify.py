"""Compares the verdict on every vector. VECTORS names the file of vectors."""

import base64
import datetime
import io
import json
import os
import pathlib
from http.client import HTTPMessage

import pytest
from partner_api_webhook import verify

CASES = json.loads(pathlib.Path(os.environ["VECTORS"]).read_text())["cases"]


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_vector(case):
    body = base64.b64decode(case["body"]) * case["repeat"]
    headers = [(name, value) for name, value in case["headers"]]
    assert verify(case["secrets"], headers=headers, body=body, now_ms=case["now"]) == case["verdict"]


@pytest.mark.parametrize("secrets", [[], [""], ["whsec_x", ""], [None], "whsec_x"])
def test_secret_is_missing(secrets):
    with pytest.raises(ValueError, match="secret"):
        verify(secrets, headers={}, body=b"")


def test_headers_of_a_framework():
    case = CASES[0]
    headers = {name.upper(): value for name, value in case["headers"]}
    body = base64.b64decode(case["body"])
    assert verify(case["secrets"], headers=headers, body=body, now_ms=case["now"]) == "valid"
    assert verify(case["secrets"], headers=headers, body=body) == "stale"


def test_headers_of_http_server():
    case = CASES[0]
    headers = HTTPMessage()
    for name, value in case["headers"]:
        headers[name] = value
    body = base64.b64decode(case["body"])
    assert verify(case["secrets"], headers=headers, body=body, now_ms=case["now"]) == "valid"
    headers["X-VC-Signature"] = "sha256=00"
    assert verify(case["secrets"], headers=headers, body=body, now_ms=case["now"]) == "malformed"


CASE = CASES[0]
BODY = base64.b64decode(CASE["body"])
GENUINE = {"headers": dict(CASE["headers"]), "body": BODY, "now_ms": CASE["now"]}


async def body_of_a_request():
    return BODY


class Request(dict):
    """As the Request of Starlette: a mapping that also has headers."""

    headers = GENUINE["headers"]


class Headers(dict):
    """As those of Sanic: every name is an attribute."""

    def __getattr__(self, name):
        return self.get(name, "")


def test_headers_with_the_names_of_wsgi():
    headers = {"HTTP_" + name.upper().replace("-", "_"): value for name, value in CASE["headers"]}
    assert verify(CASE["secrets"], **{**GENUINE, "headers": headers}) == "valid"
    with pytest.raises(ValueError, match="got 0 where 231 arrived"):
        verify(CASE["secrets"], **{**GENUINE, "headers": {**headers, "CONTENT_LENGTH": "231"}, "body": b""})
    doubled = {**headers, "X-VC-Signature": "sha256=00"}
    assert verify(CASE["secrets"], **{**GENUINE, "headers": doubled}) == "malformed"


def test_headers_whose_names_are_attributes():
    assert verify(CASE["secrets"], **{**GENUINE, "headers": Headers(GENUINE["headers"])}) == "valid"


@pytest.mark.parametrize(
    "change, says",
    [
        ({"headers": None}, "headers, but got NoneType"),
        ({"headers": "X-VC-Signature: sha256=00"}, "headers, but got str"),
        ({"headers": 7}, "headers, but got int"),
        ({"headers": GENUINE["headers"].items}, "headers, but got builtin_function_or_method"),
        ({"headers": Request()}, "whole request"),
        ({"headers": [(b"x-vc-signature", b"sha256=00")]}, "bytes of ASGI"),
        ({"headers": {"HTTP_X_VC_SIGNATURE": "sha256=00", "wsgi.input": io.BytesIO()}}, "request.META"),
        ({"headers": [b"a line"]}, "a list of bytes"),
        ({"headers": {"x-vc-signature": ["sha256=00"]}}, "is list"),
        ({"body": BODY.decode()}, "got text"),
        ({"body": json.loads(BODY)}, "already parsed, to dict"),
        ({"body": None}, "it is missing"),
        ({"body": io.BytesIO(BODY)}, "it was not read"),
        ({"body": iter([BODY])}, "it was not read"),
        ({"body": BODY.decode}, "got a function: call it"),
        ({"now_ms": datetime.datetime(2026, 1, 1)}, "but got datetime"),
        ({"now_ms": str(CASE["now"])}, "but got str"),
        ({"now_ms": float("nan")}, "but got nan"),
    ],
)
def test_an_argument_of_a_wrong_kind_is_explained(change, says):
    with pytest.raises(TypeError, match=f"^verify needs .*{says}"):
        verify(CASE["secrets"], **{**GENUINE, **change})


def test_a_coroutine_in_place_of_the_body_is_explained():
    body = body_of_a_request()
    with pytest.raises(TypeError, match="await it"):
        verify(CASE["secrets"], **{**GENUINE, "body": body})
    body.close()


@pytest.mark.parametrize("secret", ["{}\n", " {}", '"{}"', "'{}'", "{}\r\n"])
def test_white_space_or_quotes_around_the_secret_are_explained(secret):
    with pytest.raises(ValueError, match="as issued"):
        verify([secret.format(CASE["secrets"][0])], **GENUINE)


@pytest.mark.parametrize("secret", [CASE["secrets"][0][6:], ",".join(CASE["secrets"] * 2), "vck_id.secret", "None"])
def test_a_secret_that_is_not_as_issued_is_explained(secret):
    with pytest.raises(ValueError, match="from whsec_ to its end"):
        verify([secret], **GENUINE)


def test_a_body_in_base64_is_explained():
    with pytest.raises(ValueError, match="in base64: decode them first"):
        verify(CASE["secrets"], **{**GENUINE, "body": base64.b64encode(BODY)})
    assert verify(CASE["secrets"], **{**GENUINE, "body": base64.b64encode(BODY + b" ")}) == "forged"


def test_only_a_valid_verdict_is_true():
    assert verify(CASE["secrets"], **GENUINE)
    for wrong in [{"body": b"{}"}, {"headers": {}}, {"now_ms": CASE["now"] + 300_001}]:
        assert not verify(CASE["secrets"], **{**GENUINE, **wrong})


def test_a_secret_of_bytes_is_explained_and_a_generator_of_secrets_works():
    with pytest.raises(TypeError, match="as text"):
        verify([CASE["secrets"][0].encode()], **GENUINE)
    assert verify((one for one in CASE["secrets"]), **GENUINE) == "valid"


def test_a_clock_in_seconds_is_explained():
    with pytest.raises(ValueError, match="got seconds"):
        verify(CASE["secrets"], **{**GENUINE, "now_ms": CASE["now"] / 1000})


def test_a_body_that_was_read_before_is_explained():
    read = {**GENUINE, "body": b""}
    with pytest.raises(ValueError, match="got 0 where 231 arrived.*Read it once"):
        verify(CASE["secrets"], **{**read, "headers": {**GENUINE["headers"], "Content-Length": "231"}})
    for more in [{}, {"Content-Length": "0"}, {"Content-Length": "20", "Content-Encoding": "gzip"}, {"Content-Length": "x"}]:
        assert verify(CASE["secrets"], **{**read, "headers": {**GENUINE["headers"], **more}}) == "forged"


def test_a_body_that_was_parsed_and_serialized_is_explained():
    arrived = {**GENUINE["headers"], "Content-Length": str(len(BODY))}
    again = json.dumps(json.loads(BODY), indent=1).encode()
    with pytest.raises(ValueError, match=f"got {len(again)} where {len(BODY)} arrived: it was read or parsed before"):
        verify(CASE["secrets"], headers=arrived, body=again, now_ms=CASE["now"])
    assert verify(CASE["secrets"], headers=arrived, body=BODY[:-1], now_ms=CASE["now"]) == "forged"


def test_a_delivery_without_the_headers_is_malformed():
    assert verify(CASE["secrets"], headers={"X-VC-Signature": None}, body=BODY) == "malformed"
    assert verify(CASE["secrets"], headers={}, body=BODY) == "malformed"


def test_any_bytes_verify():
    for body in [BODY, bytearray(BODY), memoryview(BODY)]:
        assert verify(CASE["secrets"], **{**GENUINE, "body": body}) == "valid"
