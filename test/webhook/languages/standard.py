"""Prints the verdict of the Standard Webhooks library on each delivery on standard input."""

import base64, json, sys

from standardwebhooks.webhooks import Webhook, WebhookVerificationError

for delivery in json.load(sys.stdin):
    try:
        body = base64.b64decode(delivery["body"])
        Webhook(delivery["secret"]).verify(body, delivery["headers"])
        print("valid")
    except WebhookVerificationError:
        print("refused")
