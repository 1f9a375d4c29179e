import os, urllib.request

url = os.environ["PARTNER_API"] + "/api/v1/partner/webhooks"
headers = {"Authorization": "Bearer " + os.environ["PARTNER_TOKEN"]}
request = urllib.request.Request(url, headers=headers)
with urllib.request.urlopen(request) as response:  # Raises HTTPError for a refusal.
    print(response.status, response.read().decode())
