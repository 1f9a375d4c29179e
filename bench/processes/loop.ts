import { Agent } from "undici";
import { USER_AGENT } from "../../src/lib/product.ts";
import { signatureHeaders } from "../../src/webhook/sign.ts";
import { answer } from "../support/answer.ts";
import { monotonicMs } from "../support/monotonic.ts";

export interface LoopPlan {
  /** The address of every receiver. */
  address: string;
  ca: string;
  /** The number of concurrent posts. */
  atOnce: number;
  /** The maximum number of connections to each receiver. */
  connections: number;
  warmUpMs: number;
  ms: number;
  posts: { origin: string; path: string; eventId: string; signingSecret: string; body: string }[];
}

const KEEP_ALIVE_MS = 30_000;

/** A bare loop of signed HTTPS POSTs over kept connections, without queue, database, look-up or audit. */
const questions = { run };

export type Loop = typeof questions;
answer(questions);

/** Returns the number of acknowledged posts a second. */
async function run(plan: LoopPlan): Promise<number> {
  const { address, ca, connections } = plan;
  const receivers = new Agent({
    connections,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect: {
      ca,
      lookup: (_host, _options, callback) => {
        callback(null, [{ address, family: 4 }]);
      },
    },
  });
  const requests = plan.posts.map((post) => ({ ...post, body: Buffer.from(post.body) }));

  const from = monotonicMs() + plan.warmUpMs;
  const until = from + plan.ms;
  let next = 0;
  let counted = 0;

  async function hand(): Promise<void> {
    for (let now = monotonicMs(); now < until; now = monotonicMs()) {
      const post = requests[next++ % requests.length];
      if (post === undefined) return;
      const { origin, path, eventId, signingSecret, body } = post;
      const signatures = signatureHeaders({
        signingSecret,
        eventId,
        timestampMs: Date.now(),
        body,
      });
      const headers = {
        "Content-Type": "application/json",
        "User-Agent": USER_AGENT,
        ...signatures,
        "X-VC-Attempt": "1",
      };
      const answered = await receivers.request({ method: "POST", origin, path, headers, body });
      await answered.body.dump();
      if (answered.statusCode !== 200) throw new Error(`answered ${answered.statusCode}`);
      if (now >= from) counted++;
    }
  }

  await Promise.all(Array.from({ length: plan.atOnce }, hand));
  await receivers.close();
  return counted / (plan.ms / 1000);
}
