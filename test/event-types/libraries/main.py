import os

from publisher import Publisher, PublishError

organization = os.environ["ORGANIZATION"]
publisher = Publisher(os.environ["OPERATOR_API"], os.environ["TOKEN"], delay=0.001)

one = publisher.publish({
    "organization": organization,
    "type": "parcel.shipped",
    "data": {"parcel": "p", "count": 1, "sent-at": None, "address": {"city": "Bonn"}, "items": [{"sku": "a"}], "state": "sent"},
})
print(one["event_id"], str(one["duplicate"]).lower())

two = publisher.publish_all([
    {"organization": organization, "type": "note_added.v2", "data": {}},
    {"organization": organization, "type": "note_added.v2", "data": {}, "dedupe_key": "second"},
])
print(len(two), str(any(each["duplicate"] for each in two)).lower())

try:
    publisher.publish({"organization": organization, "type": "note_added.v2", "data": {}, "dedupe_key": ""})
except PublishError as error:
    print("refused", error.status)
