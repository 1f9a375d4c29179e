"""Made by `partner-api event types --generate py`. Publishes events of the platform. Needs Python 3.11."""

import http.client
import json
import random
import time
import urllib.error
import urllib.request
import uuid
from typing import Any, Literal, NotRequired, Sequence, TypedDict, Union

# begin types
NewEvent = dict[str, Any]
# end types

Published = TypedDict("Published", {
    "event_id": str,
    "deliveries": int,
    "duplicate": bool,  # Whether an event with the same key had been published before.
})


class PublishError(Exception):
    """The service refused the events, or did not answer at any attempt. `status` 0: there was no answer."""

    def __init__(self, status: int, detail: Any) -> None:
        super().__init__(f"not published: status {status}: {detail}")
        self.status = status
        self.detail = detail


class Publisher:
    """`token` is an operator token; the role `publish` suffices. A request is sent at most `attempts` times."""

    def __init__(
        self, base_url: str, token: str, *,
        attempts: int = 5, delay: float = 0.2, timeout: float = 15.0,
    ) -> None:
        if not (isinstance(base_url, str) and base_url.startswith(("http://", "https://"))):
            raise ValueError("base_url must be the address of the operator API, http://… or https://…")
        address = base_url.strip().rstrip("/")
        if address.endswith("/api/v1/admin"):
            raise ValueError("base_url must be the address without /api/v1/admin")
        if not (isinstance(token, str) and token and token.isascii() and token.isprintable() and " " not in token):
            raise ValueError("token must be an operator token without white space: is the environment variable set?")
        self._url = address + "/api/v1/admin/events"
        self._token = token
        self._attempts = attempts
        self._delay = delay
        self._timeout = timeout

    def publish(self, event: NewEvent) -> Published:
        """Returns once the event is durable."""
        return self.publish_all([event])[0]

    def publish_all(self, events: Sequence[NewEvent]) -> list[Published]:
        """Publishes 1 to 1,000 events, all or nothing."""
        if not isinstance(events, Sequence) or not all(isinstance(event, dict) for event in events):
            raise TypeError("publish_all needs a list of events, and an event is a dict of organization, type and data")
        # Made once: every attempt repeats these keys, so that no event is published twice.
        keyed = [{"dedupe_key": str(uuid.uuid4()), **event} for event in events]
        items: list[Published] = self._send(json.dumps({"events": keyed}, allow_nan=False).encode())["items"]
        return items

    def _send(self, body: bytes) -> Any:
        attempt = 1
        while True:
            status, detail, retry_after = self._attempt(body)
            if status == 202:
                return detail
            may_pass = status == 0 or status == 429 or status >= 500
            if not may_pass or attempt >= self._attempts:
                raise PublishError(status, detail)
            time.sleep(max(retry_after, self._delay * 2 ** (attempt - 1) * (1 + random.random())))
            attempt += 1

    def _attempt(self, body: bytes) -> tuple[int, Any, float]:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"}
        request = urllib.request.Request(self._url, data=body, headers=headers, method="POST")
        try:
            with urllib.request.urlopen(request, timeout=self._timeout) as response:
                return response.status, json.load(response), 0.0
        except urllib.error.HTTPError as error:
            after = error.headers.get("Retry-After", "0")
            return error.code, _text_of(error), float(after) if after.isdecimal() else 0.0
        # http.client raises an error of its own for a connection that ends amid the response.
        except (OSError, ValueError, http.client.HTTPException) as error:
            return 0, error, 0.0


def _text_of(refusal: urllib.error.HTTPError) -> str:
    """The status counts even if the body is incomplete."""
    try:
        return refusal.read().decode(errors="replace")
    except (OSError, http.client.HTTPException) as error:
        return str(error)
