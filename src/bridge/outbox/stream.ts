import type { SourceContext } from "../source.ts";
import { type Change, type PgOutput, rowAsJson } from "./pgoutput.ts";
import type { Session } from "./session.ts";
import {
  type Columns,
  type OutboxMessage,
  type Table,
  type TableSettings,
  toMessage,
} from "./table.ts";

export interface Replicated extends OutboxMessage {
  /** The end of the transaction that wrote the row. Unknown until its commit is read. */
  transaction: Transaction;
}

/** A transaction is settled when it has ended and all its rows are. */
interface Transaction {
  endLsn: bigint | null;
  open: number;
}

export interface Stream {
  session: Session;
  table: Table;
  /** The columns' names as the server sends them, without quotes. */
  names: TableSettings["columns"];
  /** In the order of their commits. */
  transactions: Transaction[];
  /** Up to where everything is settled. The server does not send it again. */
  settledLsn: bigint;
  receivedLsn: bigint;
  rows: Replicated[];
  bytes: number;
  failure: Error | null;
  wake: () => void;
  timer: NodeJS.Timeout;
}

/** Nothing more is read from the socket while so much waits. */
const WAITING = { rows: 500, bytes: 4 * 1024 * 1024 };
const XLOG_DATA = "w".charCodeAt(0);
const KEEP_ALIVE = "k".charCodeAt(0);

export function take(
  stream: Stream,
  chunk: Buffer,
  output: PgOutput,
  log: SourceContext["log"],
): void {
  if (chunk[0] === KEEP_ALIVE) {
    advance(stream, chunk.readBigUInt64BE(1));
    confirm(stream);
    if (chunk[17] === 1) sendStatus(stream);
  } else if (chunk[0] === XLOG_DATA) {
    const change = output.read(chunk.subarray(1 + 24));
    if (change !== null) note(stream, change, log);
  }
}

function note(stream: Stream, change: Change, log: SourceContext["log"]): void {
  const current = stream.transactions.at(-1);
  switch (change.kind) {
    case "begin":
      stream.transactions.push({ endLsn: null, open: 0 });
      break;
    case "commit":
      if (current) endTransaction(stream, current, change.endLsn);
      advance(stream, change.endLsn);
      confirm(stream);
      break;
    case "truncate":
      log.warn({}, "the outbox was truncated, which changes nothing here");
      break;
    case "insert": {
      if (!current) break;
      const message = messageOf(stream, change);
      if (message === null) break;
      current.open++;
      stream.rows.push({ ...message, transaction: current });
      stream.bytes += message.body.length;
      stream.wake();
      if (!isRoomy(stream)) stream.session.client.connection.stream.pause();
    }
  }
}

/** Of one that has nothing to settle, only its end is kept. Before PostgreSQL 15 the server tells of all of the database. */
function endTransaction({ transactions }: Stream, current: Transaction, endLsn: bigint): void {
  current.endLsn = endLsn;
  const before = transactions.at(-2);
  if (current.open > 0 || before === undefined) return;
  before.endLsn = endLsn;
  transactions.pop();
}

/** Returns null for a row of another table, which the publication may hold, too. */
function messageOf(
  { table, names }: Pick<Stream, "table" | "names">,
  { relation, values }: Extract<Change, { kind: "insert" }>,
): OutboxMessage | null {
  // A table that was made again has another oid, and one that was renamed another name.
  if (relation.oid !== Number(table.oid) && relation.name !== table.plainName) return null;
  const at = (column: keyof Columns) => {
    const index = relation.columns.findIndex(({ name }) => name === names[column]);
    return table.columns[column] === null ? null : (values[index] ?? null);
  };
  const [id, document] = [at("id"), rowAsJson(relation, values)];
  const [key, headers, traceparent] = [at("key"), at("headers"), at("traceparent")];
  return toMessage({ id, key, headers, traceparent, document }, table);
}

export function end({ session, timer }: Stream): void {
  clearInterval(timer);
  session.client.connection.stream.destroy();
}

export function isRoomy({ rows, bytes }: Stream): boolean {
  return rows.length < WAITING.rows && bytes < WAITING.bytes;
}

function advance(stream: Stream, lsn: bigint): void {
  if (lsn > stream.receivedLsn) stream.receivedLsn = lsn;
}

/** Moves the slot to the end of the last transaction before which everything is settled. */
export function confirm(stream: Stream): void {
  const { transactions, settledLsn } = stream;
  while (transactions[0] && transactions[0].endLsn !== null && transactions[0].open === 0) {
    stream.settledLsn = transactions[0].endLsn;
    transactions.shift();
  }
  if (transactions.length === 0 && stream.receivedLsn > stream.settledLsn)
    stream.settledLsn = stream.receivedLsn;
  if (stream.settledLsn > settledLsn) sendStatus(stream);
}

/** What the types of `pg` leave out. */
interface CopyConnection {
  sendCopyFromChunk(chunk: Buffer): void;
}

const POSTGRES_EPOCH_US = 946_684_800_000_000n;

/** Says what is settled as written, flushed and applied: what was only received may be lost with this process. */
export function sendStatus({ session, settledLsn }: Stream): void {
  const status = Buffer.alloc(34);
  status.write("r", 0);
  for (const at of [1, 9, 17]) status.writeBigUInt64BE(settledLsn, at);
  status.writeBigUInt64BE(
    BigInt(Math.round((performance.timeOrigin + performance.now()) * 1_000)) - POSTGRES_EPOCH_US,
    25,
  );
  const connection = session.client.connection as unknown as CopyConnection;
  if (!session.isLost) connection.sendCopyFromChunk(status);
}
