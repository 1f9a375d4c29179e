"""Calls all six operations with the client that openapi-python-client makes. Prints what came back, one line for each."""

import os
import sys

from partner_api_client import AuthenticatedClient
from partner_api_client.api.deliveries import list_failures, send_test_event
from partner_api_client.api.identity import get_identity
from partner_api_client.api.subscriptions import create_subscription, delete_subscription, list_subscriptions
from partner_api_client.models import Problem, Proof, SubscriptionRequest

client = AuthenticatedClient(base_url=sys.argv[1], token=os.environ["TOKEN"])
print("getIdentity", get_identity.sync(client=client).partner_org)
request = SubscriptionRequest.from_dict({"url": "https://hooks.example.com/", "events": ["vc.test.ping"]})
created = create_subscription.sync(client=client, body=request, idempotency_key="once")
print("createSubscription", created.secret[:6])
print("listSubscriptions", [one.id for one in list_subscriptions.sync(client=client)] == [created.id])
accepted = send_test_event.sync(created.id, client=client, body=Proof(secret=created.secret))
print("sendTestEvent", accepted.enqueued)
failures = list_failures.sync(created.id, client=client, limit=10)
print("listFailures", failures.items, failures.next_cursor)
print("deleteSubscription", delete_subscription.sync_detailed(created.id, client=client).status_code.value)
gone = delete_subscription.sync(created.id, client=client)
print("a problem", isinstance(gone, Problem) and gone.code)
