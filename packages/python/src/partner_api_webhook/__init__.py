"""Verifies the deliveries of Partner API."""

import base64
import hashlib
import hmac
import inspect
import math
import re
import time
from email.message import Message
from typing import Any, Iterable, Literal, Mapping, Optional, Sequence, Tuple, Union, cast

__all__ = ["REPLAY_WINDOW_MS", "Headers", "Verdict", "verify"]

Verdict = Literal["valid", "malformed", "stale", "forged"]

#: What frameworks and http.server have as headers, or the pairs of name and value as they arrived.
Headers = Union[Mapping[str, str], Message, Iterable[Tuple[str, str]]]

#: The raw bytes of a body.
Buffer = Union[bytes, bytearray, memoryview]

#: How far the timestamp of a delivery may lie from the receiver's clock, in either direction.
REPLAY_WINDOW_MS = 5 * 60 * 1000


def verify(
    secrets: Sequence[str], *, headers: Headers, body: Buffer, now_ms: Optional[float] = None
) -> Verdict:
    """Returns the verdict on a delivery.

    secrets: the signing secrets that may have signed: two while you rotate them.
    headers: those of the framework: request.headers. http.server: self.headers.
    body: the raw bytes, before any parsing.
    now_ms: your clock in milliseconds since the Unix epoch. For tests.
    Raises ValueError if a secret is empty or missing, because anybody could sign with it, and TypeError or ValueError for other
    mistakes of the receiving program. A delivery cannot cause one, except a genuine one that was sent again in base64.
    As a condition, only "valid" is true.
    """
    return cast(Verdict, _Verdict(_judge(secrets, headers, body, now_ms)))


class _Verdict(str):
    """Otherwise `if verify(…)` would accept every delivery, because any text is true."""

    def __bool__(self) -> bool:
        return self == "valid"


def _judge(secrets: Sequence[str], headers: Headers, body: Buffer, now_ms: Optional[float]) -> Verdict:
    keys, pairs = _keys(secrets), _pairs(headers)
    if not isinstance(body, (bytes, bytearray, memoryview)):
        raise TypeError(f"verify needs the raw bytes of the request body, but {_problem_of(body)}. {_READ_IT}")
    if not (now_ms is None or isinstance(now_ms, (int, float)) and math.isfinite(now_ms)):
        raise TypeError(f"verify needs now_ms as a number of milliseconds, but got {now_ms if isinstance(now_ms, float) else _kind(now_ms)}")
    signature, timestamp = _one(pairs, "x-vc-signature"), _one(pairs, "x-vc-timestamp")
    if signature is None or not re.fullmatch("sha256=[^,]*", signature):
        return "malformed"
    if timestamp is None or not re.fullmatch("[0-9]{1,15}", timestamp):
        return "malformed"
    now = time.time() * 1000 if now_ms is None else now_ms
    if abs(now - int(timestamp)) > REPLAY_WINDOW_MS:
        if abs(now * 1000 - int(timestamp)) <= REPLAY_WINDOW_MS:
            raise ValueError("verify needs now_ms in milliseconds, but got seconds: pass time.time() * 1000")
        return "stale"
    if _is_signed(keys, signature, timestamp, body):
        return "valid"
    _refuse_changed(pairs, body)
    decoded = _from_base64(body)
    if decoded is not None and _is_signed(keys, signature, timestamp, decoded):
        raise ValueError(f"verify needs the raw bytes of the request body, but got them in base64: decode them first")
    return "forged"


_READ_IT = "Flask: request.get_data(), Django: request.body, FastAPI and Starlette: await request.body()"
_PASS_THEM = "Pass request.headers of the framework, or pairs of text"


def _keys(secrets: Sequence[str]) -> Sequence[str]:
    keys = [] if secrets is None or isinstance(secrets, (str, bytes)) else list(secrets)
    if not keys or not all(keys):
        raise ValueError("verify needs a list of non-empty signing secrets")
    for key in keys:
        if not isinstance(key, str):
            raise TypeError(f"verify needs signing secrets as text (whsec_…), but got {_kind(key)}")
        if key != key.strip(" \t\r\n\"'`"):
            raise ValueError("verify needs the signing secret as issued, but white space or a quote surrounds it")
        if not re.fullmatch(r"whsec_[^\s,]+", key):
            raise ValueError("verify needs each signing secret as issued, from whsec_ to its end")
    return keys


def _pairs(headers: Headers) -> Sequence[Tuple[str, Optional[str]]]:
    """The names and values of headers are texts, so that no delivery can look like one of these mistakes."""
    if headers is None or isinstance(headers, (str, bytes)) or callable(headers):
        raise TypeError(f"verify needs the request's headers, but got {_kind(headers)}. {_PASS_THEM}")
    # Sanic's headers have any name as an attribute: a header's text.
    if not isinstance(getattr(headers, "headers", ""), str):
        raise TypeError(f"verify needs the request's headers, but got the whole request. {_PASS_THEM}")
    if not hasattr(headers, "items") and not hasattr(headers, "__iter__"):
        raise TypeError(f"verify needs the request's headers, but got {_kind(headers)}. {_PASS_THEM}")
    pairs: Sequence[Any] = list(headers.items() if hasattr(headers, "items") else headers)
    for pair in pairs:
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(f"verify needs the request's headers, but got a list of {_kind(pair)}. {_PASS_THEM}")
        if not isinstance(pair[0], str) or not (pair[1] is None or isinstance(pair[1], str)):
            raise TypeError(
                f"verify needs the request's headers, but {pair[0]!r} is {_kind(pair[1])}: this is no request.headers, but the "
                f"bytes of ASGI or the environment of WSGI (request.META). {_PASS_THEM}"
            )
    return pairs


def _problem_of(body: object) -> str:
    if isinstance(body, str):
        return "got text: decoding and encoding may change it"
    if inspect.isawaitable(body):
        return "got an awaitable: await it"
    if callable(body):
        return "got a function: call it"
    if any(hasattr(body, name) for name in ("read", "__aiter__", "__next__")):
        return "it was not read"
    return "it is missing" if body is None else f"it was already parsed, to {_kind(body)}"


def _refuse_changed(pairs: Sequence[Tuple[str, Optional[str]]], body: Buffer) -> None:
    """A server passes as many bytes as arrived. Fewer may be a limit of the program; none, or more, are its mistake."""
    length = _one(pairs, "content-length")
    is_encoded = any(_one(pairs, name) for name in ("content-encoding", "transfer-encoding"))
    if is_encoded or not re.fullmatch("[0-9]{1,15}", length or ""):
        return
    size, arrived = memoryview(body).nbytes, int(length or "0")
    if size > arrived or (size == 0 and arrived > 0):
        raise ValueError(
            f"verify needs the raw bytes of the request body, but got {size} where {arrived} arrived: it was read or parsed before. "
            f"Read it once. {_READ_IT}"
        )


def _kind(value: object) -> str:
    return type(value).__name__


def _is_signed(secrets: Sequence[str], signature: str, timestamp: str, body: Buffer) -> bool:
    message = timestamp.encode() + b"." + body
    macs = [hmac.new(secret.encode(), message, hashlib.sha256).hexdigest() for secret in secrets]
    return any([hmac.compare_digest(signature.encode(), f"sha256={mac}".encode()) for mac in macs])


def _from_base64(body: Buffer) -> Optional[bytes]:
    """Returns None if the body is not base64. A JSON object begins with `e` there."""
    is_base64 = len(body) % 4 == 0 and re.fullmatch(b"e[A-Za-z0-9+/]+={0,2}", body)
    return base64.b64decode(body) if is_base64 else None


def _one(pairs: Sequence[Tuple[str, Optional[str]]], name: str) -> Optional[str]:
    """Returns the value of a header, or of all headers of this name with commas between them, as servers join them."""
    of_wsgi = name.replace("-", "_")
    names = (name, of_wsgi, f"http_{of_wsgi}")
    values = [value for key, value in pairs if key.lower() in names and value is not None]
    return ", ".join(values) if values else None
