// Depends on: test/idle-receivers

import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { test } from "node:test";
import { testAuthority } from "../support/certificates.ts";
import { aPost, startSender } from "../support/sender.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";
import { watchIdle } from "./idle-end.ts";
import { HOST, type Receiver, startReceivers } from "./receivers.ts";

/** Those that the gate does not install. */
const OPTIONAL =
  "jdk jetty tomcat undertow grizzly reactor_netty vertx caddy lighttpd starman webrick thin inets yaws uwsgi bun".split(
    " ",
  );
/** RECEIVERS="bun sanic" runs only these. */
const names = process.env["RECEIVERS"]?.split(" ") ?? [];
/** For the receivers that let us choose. */
const IDLE_SECONDS = 3;
const LIMIT_MS = 15_000;
/** Around the moment at which a receiver closes. */
const OFFSETS_MS = [-20, -6, -2, 0, 2, 6, 20];
const ROUNDS = 3;
/** Their handshakes would otherwise coincide, and occupy both sides longer than they are idle. */
const STAGGER_MS = 150;

test("no delivery fails because a receiver closes its idle connection", async (t) => {
  const folder = await aTemporaryFolder(t);
  const { cert: ca } = await testAuthority();
  const { receivers, missing } = await startReceivers(t, folder, {
    idleSeconds: IDLE_SECONDS,
    names,
  });
  for (const { name, why } of missing) t.diagnostic(`not tested: ${name}: ${why}`);
  const unexpected = missing.filter(({ name }) => !OPTIONAL.includes(name));
  assert.deepEqual(process.env["CI"] ? unexpected : [], []);

  const failuresAt = async (receiver: Receiver): Promise<string[]> => {
    const { seconds, announced, signs } = await watchIdle(receiver, ca, LIMIT_MS);
    const says = announced === null ? "" : `, announces ${announced} s`;
    t.diagnostic(`${receiver.name}: idle for ${seconds.toFixed(2)} s, ends with ${signs}${says}`);
    const url = `https://${HOST}:${receiver.port}/`;
    const deliver = async (offsetMs: number) => {
      const sender = await startSender(t);
      const failed: string[] = [];
      for (let round = 0; round <= ROUNDS; round++) {
        if (round > 0) await pause(seconds * 1000 + offsetMs);
        const outcome = await sender.send(aPost(url));
        if (!("httpStatus" in outcome))
          failed.push(`${receiver.name}, ${offsetMs} ms: ${JSON.stringify(outcome)}`);
      }
      return failed;
    };
    return (await Promise.all(OFFSETS_MS.map(deliver))).flat();
  };

  const crowded = await Promise.all(
    receivers.map(async (receiver, i) => {
      await pause(i * STAGGER_MS);
      return { receiver, failures: await failuresAt(receiver) };
    }),
  );
  // On a busy machine a receiver may close so late that it could have read the request. Alone it does not.
  for (const { receiver, failures } of crowded.filter(({ failures }) => failures.length > 0)) {
    t.diagnostic(`again, alone: ${failures.join("; ")}`);
    assert.deepEqual(await failuresAt(receiver), []);
  }
});
