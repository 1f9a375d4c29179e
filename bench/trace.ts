import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { Agent, request } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";
import { loadConfig } from "../src/config/config.ts";
import { systemClock } from "../src/lib/clock.ts";
import { publicId, randomId } from "../src/lib/ids.ts";
import { createSender } from "../src/queue/sender.ts";
import { openEgress } from "../src/start/egress.ts";
import { createCancelling } from "../src/subjects/deliveries/cancellation.ts";
import { NO_DISPATCHER, publishAtOnce } from "../src/subjects/events/publish.ts";
import { encodeEnvelope, TEST_EVENT, TEST_EVENT_DATA } from "../src/subjects/events/rules.ts";
import { admitAll } from "../src/subjects/keys/admission.ts";
import { hashSecret } from "../src/subjects/keys/rules.ts";
import type { Subscription } from "./support/partners.ts";
import { inMs } from "./support/report.ts";
import type { Rig, Stage } from "./support/rig.ts";
import { atMost } from "./support/row.ts";
import type { Scenario } from "./support/scenario.ts";
import { median, percentile } from "./support/statistics.ts";

const GAP_MS = 100;
const EVENTS = 150;
const RECEIVERS = 10;

type Steps = Record<string, () => Promise<unknown>>;

/**
 * Measures each step of a single event with the service's code in this process. Events are 100 ms apart, as
 * in `idle-latency`. A bare POST and a bare commit are measured in turn with them.
 */
export const trace: Scenario = {
  name: "trace",
  isLong: true,
  run: async (rig) => {
    const stage = await rig.stage(rig.receivers.urls(RECEIVERS));
    const { stepsOf, close } = openSteps(rig, stage);
    const times = new Map<string, number[]>();
    for (let n = 0; n < rig.size(EVENTS, 15); n++) {
      await sleep(rig.size(GAP_MS, 1));
      const subscription = stage.subscriptions[n % RECEIVERS];
      if (subscription === undefined) throw new Error("there are no subscriptions");
      for (const [step, run] of Object.entries(stepsOf(subscription, n < RECEIVERS))) {
        const began = performance.now();
        await run();
        times.set(step, [...(times.get(step) ?? []), performance.now() - began]);
      }
    }
    await close();

    const told = [...times].map(
      ([step, ms]) => `${step} ${inMs(median(ms))} (p99 ${inMs(percentile(ms, 0.99))})`,
    );
    const medianOf = (step: string) => median(times.get(step) ?? []);
    const all = ["key and window", "publish", "look-up", "post"].map(medianOf);
    return [
      atMost(
        "trace, the steps of an event to a bare POST",
        { must: 5, aim: 2.5, unit: "×" },
        {
          value: all.reduce((sum, ms) => sum + ms, 0) / medianOf("bare POST"),
          measured: told.join(", "),
        },
      ),
    ];
  },
};

function openSteps(rig: Rig, { db, url: databaseUrl }: Stage) {
  const env = { ...rig.receivers.environment, DATABASE_URL: databaseUrl };
  const config = loadConfig(env);
  const egress = openEgress(config, { ca: rig.receivers.ca, maxConnections: 100 });
  const clock = systemClock;
  const timeoutMs = config.attemptTimeoutMs;
  const send = createSender({ egress, clock, timeoutMs, userAgent: "bench" });
  const agent = new Agent({ keepAlive: true, ca: rig.receivers.ca });
  const rules = {
    ...{ retryDelaysMs: [], autoDisableAfter: 20, maxSubscriptions: 100, leaseMs: 30_000 },
  };
  const parts = {
    ...{ db, clock, rules, ...NO_DISPATCHER },
    ring: [{ id: "bench", key: randomBytes(32) }] as const,
    cancelling: createCancelling({ db, clock }),
    checkDestination: (url: string) => egress.check(url),
  };

  const stepsOf = ({ id, partner, url, secret }: Subscription, isFirst: boolean): Steps => {
    const [, keyId = "", keySecret = ""] = /^vck_([^.]+)\.(.+)$/.exec(partner.token) ?? [];
    const event = { id: randomId(), type: TEST_EVENT, occurredAt: clock(), data: TEST_EVENT_DATA };
    const body = encodeEnvelope(event, id);
    const post = {
      url,
      eventId: publicId("evt", event.id),
      signingSecret: secret,
      attempt: 1,
      body,
    };
    return {
      "key and window": () =>
        admitAll({ db, clock }, [{ keyId, secretHash: hashSecret(keySecret) }]),
      publish: () =>
        publishAtOnce(parts, [
          {
            ...{ organizationId: partner.organizationId, subscriptionId: id },
            ...{ type: TEST_EVENT, data: TEST_EVENT_DATA },
          },
        ]),
      "bare commit": () => db`update readiness set writes = writes + 1`,
      "look-up": () => egress.check(url),
      // Includes the DNS look-up, and the first time also connect and TLS.
      [isFirst ? "first post, with look-up, connect and TLS" : "post"]: () => send(post),
      "bare POST": () => barePost(url, rig.receivers.address, agent, body),
    };
  };
  const close = async () => {
    agent.destroy();
    await egress.close();
  };
  return { stepsOf, close };
}

async function barePost(to: string, address: string, agent: Agent, body: Buffer): Promise<void> {
  const { hostname, port, pathname: path } = new URL(to);
  const headers = { host: `${hostname}:${port}`, "content-length": body.length };
  const sent = request({
    ...{ host: address, port, path, servername: hostname, method: "POST", headers, agent },
  });
  sent.end(body);
  const [answer] = (await once(sent, "response")) as [NodeJS.ReadableStream];
  answer.resume();
  await once(answer, "end");
}
