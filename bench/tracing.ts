import type { Collector } from "./processes/collector.ts";
import type { Load } from "./processes/load.ts";
import { compareRounds, drainInTurns, type Variant } from "./support/drain-in-turns.ts";
import { requireAnswered } from "./support/http.ts";
import { testRequests } from "./support/requests.ts";
import type { Rig } from "./support/rig.ts";
import { atLeast, type Row } from "./support/row.ts";
import type { Scenario } from "./support/scenario.ts";

const CONNECTIONS = 64;
const ROUNDS = 11;
const SUBSCRIPTIONS = 100;

/** Without an endpoint, tracing costs nothing: within what two equal builds differ by. */
const NOTHING = { must: 0.97, aim: 0.99, unit: "×" } as const;
const EVERY_SPAN = { must: 0.4, aim: 0.6, unit: "×" } as const;

/** Compares the service without an OTLP endpoint to one without any tracing, and the same with every span exported. */
export const tracing: Scenario = {
  name: "tracing",
  run: async (rig): Promise<Row[]> => {
    const collector = rig.child<Collector>("collector");
    const endpoint = await collector.ask("start");
    const variants = {
      absent: { program: "service-without-tracing" },
      off: {},
      on: { env: { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } },
    };
    const drained = await drainInTurns(rig, variants);
    const accepted = await acceptInTurns(rig, variants);
    if ((await collector.ask("requests")) === 0) throw new Error("no span was exported");
    return Object.entries({ drain: drained, accept: accepted }).flatMap(
      ([what, { absent, off, on }]) => [
        atLeast(
          `${what} without an OTLP endpoint, against no tracing`,
          NOTHING,
          compareRounds(off, absent, "no tracing"),
        ),
        atLeast(
          `${what} with every span exported, against no endpoint`,
          EVERY_SPAN,
          compareRounds(on, off, "no endpoint"),
        ),
      ],
    );
  },
};

/** Lets services accept test calls in turns, each on its own database. Returns the rates of each, round by round. */
async function acceptInTurns<Name extends string>(
  rig: Rig,
  variants: Record<Name, Variant>,
): Promise<Record<Name, number[]>> {
  const load = rig.child<Load>("load");
  const opened = [];
  for (const [name, { env, program }] of Object.entries<Variant>(variants)) {
    const stage = await rig.stage(rig.receivers.urls(SUBSCRIPTIONS));
    const { partnerUrl: url } = await rig.service(stage, { ROLE: "api", ...env }, program);
    opened.push({ name, url, requests: testRequests(stage.subscriptions), rates: [] as number[] });
  }
  const time = { warmUpMs: rig.size(200, 50), ms: rig.size(1_500, 100) };
  for (let round = 0; round <= rig.size(ROUNDS, 2); round++) {
    for (const { url, requests, rates } of opened) {
      const plan = { url, requests, connections: CONNECTIONS, ...time };
      const { perSecond, ...answered } = await load.ask("saturate", plan);
      requireAnswered(answered);
      if (round > 0) rates.push(perSecond); // The first round compiles the code.
    }
  }
  return Object.fromEntries(opened.map(({ name, rates }) => [name, rates])) as Record<
    Name,
    number[]
  >;
}
