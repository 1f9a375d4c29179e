import sqlite3

db = sqlite3.connect("events.db")
db.execute("CREATE TABLE IF NOT EXISTS handled (id TEXT PRIMARY KEY)")


def handle_once(event, handle):
    """Returns False for a duplicate. After a failure, the next attempt handles the event again."""
    with db:  # One transaction: an exception undoes it.
        insert = "INSERT INTO handled VALUES (?) ON CONFLICT DO NOTHING"
        is_new = db.execute(insert, [event["id"]]).rowcount == 1
        if is_new:
            handle(event, db)  # Writes into the same database.
        return is_new
