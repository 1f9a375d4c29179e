import assert from "node:assert/strict";
import { test } from "node:test";
import { PgOutput } from "../../src/bridge/outbox/pgoutput.ts";
import type { Session } from "../../src/bridge/outbox/session.ts";
import { confirm, type Stream, take } from "../../src/bridge/outbox/stream.ts";

test("transactions that wrote nothing into the outbox are not kept while one before them is unsettled", () => {
  const stream = aStream();
  const output = new PgOutput();
  const ignore = () => undefined;
  const log = { info: ignore, warn: ignore, error: ignore };
  const send = (...parts: Buffer[]) => {
    const header = Buffer.alloc(25, "w".charCodeAt(0), "latin1");
    take(stream, Buffer.concat([header.fill(0, 1), ...parts]), output, log);
  };
  const transaction = (end: bigint, ...changes: Buffer[]) => {
    send(Buffer.from("B"));
    for (const change of changes) send(change);
    send(Buffer.from("C\0"), bytesOf(end - 1n), bytesOf(end), bytesOf(0n));
  };
  send(RELATION);
  transaction(10n, INSERT);
  for (let end = 11n; end <= 10_000n; end++) transaction(end);
  transaction(10_001n, INSERT);
  assert.equal(stream.transactions.length, 2);
  assert.equal(stream.settledLsn, 0n);
  const settle = (row = stream.rows.shift()) => {
    if (row) row.transaction.open--;
    confirm(stream);
  };
  settle();
  assert.equal(stream.settledLsn, 10_000n);
  settle();
  assert.equal(stream.settledLsn, 10_001n);
});

/** A table `public.outbox` with one column `id` of the type text. */
const RELATION = Buffer.concat([
  Buffer.from("R\0\0\0\x07public\0outbox\0d\0\x01\0id\0\0\0\0\x19\xff\xff\xff\xff", "latin1"),
]);
const INSERT = Buffer.from("I\0\0\0\x07N\0\x01t\0\0\0\x01a", "latin1");

function bytesOf(lsn: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(lsn);
  return bytes;
}

function aStream(): Stream {
  const connection = { sendCopyFromChunk: () => undefined };
  const names = { id: "id", position: "id", key: "key", headers: "headers" };
  const columns = { id: "id", position: "id", key: null, headers: null, traceparent: null };
  const kept = { publishedAt: "published_at", setAside: "set_aside" };
  return {
    session: { client: { connection }, isLost: false } as unknown as Session,
    table: {
      ...{ oid: "7", name: "public.outbox", plainName: "public.outbox", idType: "text" },
      ...{ columns: { ...columns, ...kept }, keeps: false, isOpen: "true" },
    },
    names: { ...names, ...kept, traceparent: "traceparent" },
    ...{ transactions: [], settledLsn: 0n, receivedLsn: 0n, rows: [], bytes: 0, failure: null },
    wake: () => undefined,
    timer: setTimeout(() => undefined),
  };
}
