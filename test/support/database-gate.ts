import { connect as dial, createServer, type Socket } from "node:net";
import { Transform } from "node:stream";
import { connect, type Database, type DatabaseOptions } from "../../src/postgres/database.ts";

/**
 * A gate in front of a database, which can be closed and opened. It can also stay open without passing
 * anything.
 */
export interface Gate {
  /** The database behind the gate. */
  url: string;
  db: Database;
  /** Connections break off and new ones are refused. */
  close: () => Promise<void>;
  open: () => Promise<void>;
  /** Nothing passes any more in either direction, and no connection is closed. */
  freeze: () => void;
  /** Freezes after one more message of ours has reached the server. */
  freezeAfterNext: () => void;
  thaw: () => void;
  /** From now on, the server reports that it is a standby. */
  demote: () => void;
  promote: () => void;
  /** From now on, statements that only read reach a standby, though connections begin at the primary. */
  divide: () => void;
  /** The number of connections so far. */
  dialled: () => number;
}

/** Puts a gate in front of a database. Closes both at the end of the test. */
export async function aGate(
  t: { after: (work: () => Promise<void>) => void },
  { options }: Database,
  connecting: Partial<DatabaseOptions> = {},
): Promise<Gate> {
  const pairs = new Map<Socket, Socket>();
  let isFrozen = false;
  let replaced: readonly Words[] = [];
  let dialled = 0;
  const server = createServer((client) => {
    dialled++;
    const { host = "", port = 5432 } = options.addresses[0] ?? {};
    const database = host.startsWith("/") ? dial(`${host}/.s.PGSQL.${port}`) : dial(port, host);
    pairs.set(client, database);
    for (const [from, to] of [
      [client, database],
      [database, client],
    ] as const) {
      from.on("error", () => undefined);
      from.on("close", () => to.destroy());
    }
    if (isFrozen) return;
    client.pipe(database);
    database.pipe(asStandby(() => replaced)).pipe(client);
  });

  await listen(0);
  const { port } = server.address() as { port: number };
  const url = new URL(`postgres://127.0.0.1:${port}/${options.database}`);
  url.username = options.user;
  url.password = options.password;
  const db = connect(url.href, { max: 4, name: "test behind a gate", ...connecting });

  const gate: Gate = {
    url: url.href,
    db,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        for (const socket of pairs.keys()) socket.destroy();
        pairs.clear();
      }),
    open: () => listen(port),
    freeze: () => {
      isFrozen = true;
      for (const pair of pairs) for (const socket of pair) socket.unpipe().pause();
    },
    freezeAfterNext: () => {
      for (const client of pairs.keys()) client.once("data", gate.freeze); // Behind the pipe's own listener.
    },
    demote: () => (replaced = STANDBYS_WORDS),
    promote: () => (replaced = []),
    divide: () => (replaced = STANDBYS_WORDS.slice(1)),
    dialled: () => dialled,
    thaw: () => {
      isFrozen = false;
      for (const [client, database] of pairs) client.pipe(database).pipe(client);
    },
  };
  t.after(async () => {
    gate.thaw();
    await db.end({ timeout: 1 });
    if (server.listening) await gate.close();
  });
  return gate;

  function listen(at: number): Promise<void> {
    return new Promise((resolve) => {
      server.listen(at, "127.0.0.1", resolve);
    });
  }
}

/**
 * The server's messages at a connection, and the answer to `show`. Each message has its length before its
 * text.
 */
const STANDBYS_WORDS: readonly Words[] = [
  ["\x17in_hot_standby\0off\0", "\x16in_hot_standby\0on\0"],
  ["D\0\0\0\x0d\0\x01\0\0\0\x03off", "D\0\0\0\x0c\0\x01\0\0\0\x02on"],
];
type Words = readonly [says: string, shall: string];

/** Passes on the server's messages, except that it is the primary. */
function asStandby(replaced: () => readonly Words[]): Transform {
  return new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      let text = chunk.toString("latin1");
      for (const [says, shall] of replaced()) text = text.replace(says, shall);
      done(null, Buffer.from(text, "latin1"));
    },
  });
}
