"""Compares the verdict on every vector. VECTORS names the file of vectors."""

import base64
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
