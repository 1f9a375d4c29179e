"""Verifies the deliveries of Partner API."""

import hashlib
import hmac
import re
import time
from email.message import Message
from typing import Iterable, Literal, Mapping, Optional, Sequence, Tuple, Union

__all__ = ["REPLAY_WINDOW_MS", "Headers", "Verdict", "verify"]

Verdict = Literal["valid", "malformed", "stale", "forged"]

#: What frameworks and http.server have as headers, or the pairs of name and value as they arrived.
Headers = Union[Mapping[str, str], Message, Iterable[Tuple[str, str]]]

#: How far the timestamp of a delivery may lie from the receiver's clock, in either direction.
REPLAY_WINDOW_MS = 5 * 60 * 1000


def verify(
    secrets: Sequence[str], *, headers: Headers, body: bytes, now_ms: Optional[float] = None
) -> Verdict:
    """Returns the verdict on a delivery.

    secrets: the signing secrets that may have signed: two while you rotate them.
    body: the raw bytes, before any parsing.
    Raises ValueError if a secret is empty or missing: anybody could sign with it.
    """
    if isinstance(secrets, str) or not secrets or not all(secrets):
        raise ValueError("verify needs a list of non-empty signing secrets")
    signature, timestamp = _one(headers, "x-vc-signature"), _one(headers, "x-vc-timestamp")
    if signature is None or not re.fullmatch("sha256=[^,]*", signature):
        return "malformed"
    if timestamp is None or not re.fullmatch("[0-9]{1,15}", timestamp):
        return "malformed"
    now = time.time() * 1000 if now_ms is None else now_ms
    if abs(now - int(timestamp)) > REPLAY_WINDOW_MS:
        return "stale"
    message = timestamp.encode() + b"." + body
    genuine = [hmac.compare_digest(signature.encode(), _sign(one, message)) for one in secrets]
    return "valid" if any(genuine) else "forged"


def _sign(secret: str, message: bytes) -> bytes:
    return b"sha256=" + hmac.new(secret.encode(), message, hashlib.sha256).hexdigest().encode()


def _one(headers: Headers, name: str) -> Optional[str]:
    """Returns the value of a header, or of all headers of this name with commas between them, as servers join them."""
    pairs = headers.items() if isinstance(headers, (Mapping, Message)) else headers
    values = [value for key, value in pairs if key.lower() == name]
    return ", ".join(values) if values else None
