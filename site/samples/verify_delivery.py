import json, os
from partner_api_webhook import verify


def check(headers, raw_body):
    """Returns 204 and the event, or 400 and the verdict."""
    verdict = verify(
        [os.environ["PARTNER_SECRET"]],  # Several during a rotation.
        headers=headers,  # Flask, Django: request.headers. http.server: self.headers.
        body=raw_body,  # The raw bytes. Flask: request.get_data(), Django: request.body.
    )
    return (204, json.loads(raw_body)) if verdict == "valid" else (400, verdict)
