import { Readable } from "node:stream";
import type { FastifyReply, FastifyRequest } from "fastify";
import type { App } from "../../http/app.ts";
import { operatorOf } from "../../http/operator-authentication.ts";
import { operatorProblems } from "../../http/operator.ts";
import { Crowded } from "../../lib/errors.ts";
import type { Dependencies } from "../dependencies.ts";
import type { Session } from "../operators/rules.ts";
import { isSessionEnded } from "../operators/sql.ts";
import type { Overview, OverviewReader } from "./overview.ts";

type Reader = Pick<OverviewReader, "read" | "readOutage">;

/** The most open streams in one process, of the listener's connections, and of the streams for one operator. */
const STREAMS_MAX = 100;
const LISTENER_SHARE = 1 / 2;
const OPERATOR_SHARE = 1 / 2;
/** After this many ticks with an unread overview a client counts as gone. */
const UNREAD_TICKS_MAX = 15;

const TICK_MS = 1_000;
/** Every second tick sends the overview. The others send it only if the status has changed. */
const TICKS_PER_EVENT = 2;
/** How often sessions are checked. */
const TICKS_PER_CHECK = 5;

interface Stream {
  readable: Readable;
  operator: string;
  mayContinue: () => Promise<boolean>;
  /** True while the database cannot tell whether the session was ended. The client then gets no stored data. */
  mayHaveEnded: boolean;
  isReading: boolean;
  unreadTicks: number;
}

/** Sends one overview to all streams. Reads none while no stream is open. */
export class OverviewStreams {
  readonly #reader: Reader;
  readonly #max: number;
  readonly #streams = new Set<Stream>();
  #timer: NodeJS.Timeout | undefined;
  #isTicking = false;
  #ticks = 0;
  #status: Overview["status"] | undefined;
  #isClosed = false;

  constructor(reader: Reader, connectionsMax: number) {
    this.#reader = reader;
    this.#max = Math.min(STREAMS_MAX, Math.floor(connectionsMax * LISTENER_SHARE));
  }

  get size(): number {
    return this.#streams.size;
  }

  /**
   * Opens a stream of server-sent events, and sends the first event at once. Returns null if too many are open, or too many of
   * this operator.
   */
  open(
    mayContinue: () => Promise<boolean>,
    { operator = "", mayHaveEnded = false } = {},
  ): Readable | null {
    const own = [...this.#streams].filter((stream) => stream.operator === operator).length;
    const hasRoom = this.#streams.size < this.#max && own < this.#max * OPERATOR_SHARE;
    if (this.#isClosed || !hasRoom) return null;
    const readable = new Readable({
      read: () => {
        stream.isReading = true;
      },
    });
    const stream = {
      ...{ readable, operator, mayContinue, mayHaveEnded },
      ...{ isReading: true, unreadTicks: 0 },
    };
    this.#streams.add(stream);
    readable.once("close", () => {
      this.#streams.delete(stream);
      if (this.#streams.size === 0) this.#rest();
    });
    void this.#begin(stream);
    this.#timer ??= setInterval(() => void this.tick(), TICK_MS).unref();
    return readable;
  }

  /** Ends all streams, because a stop does not wait for them. */
  close(): void {
    this.#isClosed = true;
    for (const stream of [...this.#streams]) this.#end(stream);
  }

  /** Called by the timer. */
  async tick(): Promise<void> {
    if (this.#isTicking) return;
    this.#isTicking = true;
    try {
      this.#ticks++;
      if (this.#ticks % TICKS_PER_CHECK === 0) await this.#endEnded();
      const overview = await this.#reader.read();
      const isChanged = overview.status !== this.#status;
      this.#status = overview.status;
      if (this.#ticks % TICKS_PER_EVENT !== 0 && !isChanged) return;
      for (const stream of this.#streams) await this.#send(stream, overview);
    } catch {
      // The next tick reads the overview again.
    } finally {
      this.#isTicking = false;
    }
  }

  async #endEnded(): Promise<void> {
    const check = async (stream: Stream) => {
      const isOpen = await stream.mayContinue().catch(() => null); // The database is unavailable.
      if (isOpen === false) this.#end(stream);
      stream.mayHaveEnded = isOpen === null;
    };
    await Promise.all([...this.#streams].map(check));
  }

  async #begin(stream: Stream): Promise<void> {
    try {
      const overview = await this.#reader.read();
      this.#status ??= overview.status;
      if (this.#streams.has(stream)) await this.#send(stream, overview);
    } catch {
      // The next tick reads it again.
    }
  }

  async #send(stream: Stream, overview: Overview): Promise<void> {
    send(stream, stream.mayHaveEnded ? await this.#reader.readOutage() : overview);
  }

  #end(stream: Stream): void {
    if (!this.#streams.delete(stream)) return;
    stream.readable.push(null);
    if (this.#streams.size === 0) this.#rest();
  }

  #rest(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#status = undefined;
  }
}

/** Sends nothing to a client that has not read the last overview. Ends the stream after a while. */
function send(stream: Stream, overview: Overview): void {
  const { readable } = stream;
  if (!stream.isReading) {
    if (++stream.unreadTicks >= UNREAD_TICKS_MAX) readable.destroy();
    return;
  }
  stream.unreadTicks = 0;
  stream.isReading = false;
  readable.push(`event: overview\ndata: ${JSON.stringify(overview)}\n\n`);
}

const EVENTS: object = {
  description: "The events.",
  content: { "text/event-stream": { schema: { type: "string" } } },
};

/** `connectionsMax`: the most connections of the listener. */
export function streamOverviewRoute(
  app: App,
  deps: Dependencies,
  { overviews, connectionsMax }: { overviews: OverviewReader; connectionsMax: number },
): void {
  const streams = new OverviewStreams(overviews, connectionsMax);
  app.addHook("preClose", (done) => {
    streams.close();
    done();
  });

  app.get(
    "/overview/live",
    {
      config: { spread: "own", answersWithoutDatabase: true, isStream: true },
      schema: {
        operationId: "streamOverview",
        tags: ["Operation"],
        summary: "Follow the state of the service",
        description:
          "Server-sent events: `overview`, with the data of `GET /overview`, every 2 s and at each change of `status`. " +
          "The stream ends when the session or token ends or the process stops.",
        response: {
          200: EVENTS,
          ...operatorProblems(),
        },
      },
    },
    async (request, reply) =>
      followOverview(streams, { request, reply, isOpen: () => isOpenStill(deps, request.session) }),
  );
}

/** Answers with a stream. It ends when `isOpen`, which is asked from time to time, returns false. */
export function followOverview(
  streams: OverviewStreams,
  {
    request,
    reply,
    isOpen,
  }: { request: FastifyRequest; reply: FastifyReply; isOpen: () => Promise<boolean> },
): FastifyReply {
  const { mayHaveEnded } = request;
  const stream = streams.open(isOpen, { operator: operatorOf(request), mayHaveEnded });
  if (stream === null) throw new Crowded("Too many streams are open: try again.", 10);
  reply.raw.once("close", () => stream.destroy());
  return reply.type("text/event-stream").header("x-accel-buffering", "no").send(stream);
}

/** Tokens are valid as long as the process runs. A session expires, or ends with a sign-out. */
async function isOpenStill(deps: Dependencies, session: Session | null): Promise<boolean> {
  if (session === null) return true;
  return deps.clock() < session.endsAt && !(await isSessionEnded(deps.db, session.nonce));
}
