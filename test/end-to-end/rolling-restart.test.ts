import assert from "node:assert/strict";
import { Agent, request } from "node:http";
import { text } from "node:stream/consumers";
import { test, type TestContext } from "node:test";
import { freePort } from "../support/free-port.ts";
import { type Balancer, startHaproxy } from "../support/haproxy.ts";
import { type Program, startProgram } from "../support/program.ts";
import { type Receiver, startReceiver } from "../support/receiver.ts";
import { requireProgram } from "../support/required.ts";
import { aPartner, aRig } from "../support/rig.ts";

/** How often each node is restarted. */
const RESTARTS = Number(process.env["RESTARTS"] ?? 1);
const CLIENTS = 4;
const UNLIMITED = { rateLimitPerMinute: 1_000_000 };

const SET_UPS = {
  "two nodes": ["all", "all"],
  "two api nodes and two dispatchers": ["api", "api", "dispatcher", "dispatcher"],
};

for (const [setUp, roles] of Object.entries(SET_UPS)) {
  test(`while ${setUp} restart in turn under load, no request fails and no event is lost or sent twice`, async (t) => {
    if (!(await requireProgram(t, "haproxy", ["-v"]))) return;
    const rig = { ...(await aRig(t)), DRAIN: "3s" };
    const nodes = await Promise.all(roles.map((role) => Node.start(t, { ...rig, ROLE: role })));
    const serving = nodes.filter(({ role }) => role !== "dispatcher");
    const balancer = await startHaproxy(
      t,
      serving.map(({ port }) => port),
    );
    const receiver = await startReceiver(t, { address: "127.0.0.1", host: "localhost" });
    const [first] = nodes;
    assert.ok(first);
    const partner = await aPartner(first.program, "acme", UNLIMITED);
    const subscription = await partner.subscribe(receiver.url());
    const load = startLoad(balancer, subscription, partner.token);

    for (let turn = 0; turn < RESTARTS; turn++) {
      for (const node of nodes) {
        assert.equal(await node.restart(), 0);
        if (serving.includes(node)) await balancer.uses(node.port);
      }
    }

    const { published, failed } = await load.stop();
    t.diagnostic(`${published.length} requests over ${RESTARTS} restarts of each node`);
    assert.deepEqual(failed, []);
    assert.ok(published.length > 0);
    assert.deepEqual(await duplicatesOf(published, receiver), []);
  });
}

class Node {
  readonly role: string;
  readonly port: number;
  program: Program;
  readonly #startAgain: () => Promise<Program>;

  private constructor(
    role: string,
    port: number,
    program: Program,
    startAgain: () => Promise<Program>,
  ) {
    this.role = role;
    this.port = port;
    this.program = program;
    this.#startAgain = startAgain;
  }

  static async start(t: TestContext, env: Record<string, string> & { ROLE: string }) {
    const port = await freePort();
    const start = () => startProgram(t, { ...env, PORT: String(port) });
    return new Node(env.ROLE, port, await start(), start);
  }

  async restart(): Promise<number | NodeJS.Signals | null> {
    const status = await this.program.end("SIGTERM");
    this.program = await this.#startAgain();
    return status;
  }
}

/** Clients that keep their connections publish one event after the other until they are stopped. */
function startLoad(
  { url }: Balancer,
  { id, secret }: { id: string; secret: string },
  token: string,
) {
  const published: string[] = [];
  const failed: string[] = [];
  let isOver = false;
  const clients = Array.from({ length: CLIENTS }, async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (!isOver) {
      await post(agent, `${url}/api/v1/partner/webhooks/${id}/test`, token, { secret }).then(
        (body) => published.push((JSON.parse(body) as { event_id: string }).event_id),
        (error: unknown) => failed.push(String(error)),
      );
    }
    agent.destroy();
  });
  return {
    stop: async () => {
      isOver = true;
      await Promise.all(clients);
      return { published, failed };
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

/** Waits until the receiver has each event, and returns what it got more than once. */
async function duplicatesOf(published: string[], receiver: Receiver): Promise<string[]> {
  const counts = new Map<string, number>();
  while (published.some((id) => !counts.has(id))) {
    const { body } = await receiver.next();
    const { id } = JSON.parse(body.toString()) as { id: string };
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return [...counts].filter(([, count]) => count > 1).map(([id]) => id);
}
