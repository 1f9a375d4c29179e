import { Agent, request } from "node:http";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import type { TestContext } from "node:test";
import { Arrivals } from "./arrivals.ts";
import { freePort } from "./free-port.ts";
import { type Limits, type Program, startProgram } from "./program.ts";
import type { Receiver } from "./receiver.ts";

const CLIENTS = 4;
/** So that an outage is not counted as a thousand of failed requests. */
const AFTER_FAILURE_MS = 100;

/** A process that keeps its port when it restarts. */
export class Node {
  readonly role: string;
  readonly port: number;
  program: Program;
  readonly #startAgain: (limits?: Limits) => Promise<Program>;

  private constructor(
    role: string,
    port: number,
    program: Program,
    startAgain: (limits?: Limits) => Promise<Program>,
  ) {
    this.role = role;
    this.port = port;
    this.program = program;
    this.#startAgain = startAgain;
  }

  static async start(
    t: TestContext,
    env: Record<string, string> & { ROLE: string },
    limits?: Limits,
  ): Promise<Node> {
    const port = await freePort();
    const start = (how?: Limits) => startProgram(t, { ...env, PORT: String(port) }, how);
    return new Node(env.ROLE, port, await start(limits), start);
  }

  /** Stops the process and starts it again. `limits` may name the program of another release. */
  async restart(limits?: Limits): Promise<number | NodeJS.Signals | null> {
    const status = await this.program.end("SIGTERM");
    this.program = await this.#startAgain(limits);
    return status;
  }
}

export interface Load {
  readonly published: Arrivals<string>;
  readonly failed: string[];
  stop(): Promise<void>;
}

/** Clients that keep their connections and publish one event after the other until they are stopped. */
export function startLoad(
  url: string,
  { id, secret }: { id: string; secret: string },
  token: string,
): Load {
  const published = new Arrivals<string>();
  const failed: string[] = [];
  let isOver = false;
  const clients = Array.from({ length: CLIENTS }, async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (!isOver) {
      await post(agent, `${url}/api/v1/partner/webhooks/${id}/test`, token, { secret }).then(
        (body) => published.add((JSON.parse(body) as { event_id: string }).event_id),
        (error: unknown) => {
          failed.push(String(error));
          return sleep(AFTER_FAILURE_MS);
        },
      );
    }
    agent.destroy();
  });
  return {
    published,
    failed,
    stop: async () => {
      isOver = true;
      await Promise.all(clients);
    },
  };
}

async function post(agent: Agent, url: string, token: string, body: object): Promise<string> {
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  return new Promise((resolve, reject) => {
    const call = request(url, { agent, method: "POST", headers }, (answer) => {
      text(answer).then((body) => {
        if (answer.statusCode === 200) resolve(body);
        else reject(new Error(`${answer.statusCode} ${body}`));
      }, reject);
    });
    call.on("error", reject).end(JSON.stringify(body));
  });
}

/** Waits until the receiver has each event, and returns the events that arrived more than once. */
export async function duplicatesOf(
  published: readonly string[],
  receiver: Receiver,
): Promise<string[]> {
  const counts = new Map<string, number>();
  while (published.some((id) => !counts.has(id))) {
    const { body } = await receiver.next();
    const { id } = JSON.parse(body.toString()) as { id: string };
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return [...counts].filter(([, count]) => count > 1).map(([id]) => id);
}
