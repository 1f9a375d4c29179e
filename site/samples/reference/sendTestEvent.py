import json, os, urllib.request

url = os.environ["PARTNER_API"] + "/api/v1/partner/webhooks/" + os.environ["SUBSCRIPTION_ID"] + "/test"
token = os.environ["PARTNER_TOKEN"]
headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
body = {"secret": os.environ["PARTNER_SECRET"]}
request = urllib.request.Request(url, json.dumps(body).encode(), headers)
with urllib.request.urlopen(request) as response:  # Raises HTTPError for a refusal.
    print(response.status, response.read().decode())
