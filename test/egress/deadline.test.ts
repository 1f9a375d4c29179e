import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { test } from "node:test";
import { Deadline } from "../../src/egress/post.ts";
import { standStill } from "../support/stand-still.ts";
import { openPort } from "../support/free-port.ts";

test("an answer that arrived during a pause of the process is in time", async (t) => {
  const server = createServer();
  const reader = connect(await openPort(t, server), "127.0.0.1");
  const [writer] = (await once(server, "connection")) as [Socket];

  const events: string[] = [];
  const deadline = new Deadline(20);
  deadline.guard(() => events.push("ended"));
  reader.once("data", () => {
    events.push("answered");
    deadline.lift();
  });
  writer.end("an answer");
  standStill(100);
  await once(reader, "close");
  assert.deepEqual(events, ["answered"]);
});

test("an answer that arrives after the deadline is a timeout", async () => {
  const deadline = new Deadline(1);
  await assert.rejects(deadline.bound(new Promise(() => undefined)), {
    outcome: { kind: "unreachable", reason: "timeout", detail: "look_up" },
  });
});
