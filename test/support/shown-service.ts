import { after } from "node:test";
import { BUILT_SITE } from "../../src/http/docs/site.ts";
import { writeActivity } from "../../src/jobs/activity.ts";
import { createPartitions } from "../../src/jobs/maintenance-sql.ts";
import { publicId, randomId } from "../../src/lib/ids.ts";
import type { Database } from "../../src/postgres/database.ts";
import type { Post } from "../../src/queue/sender.ts";
import { countRecorded, countRequest, notePublished } from "../../src/subjects/activity/counted.ts";
import { MINUTE_MS } from "../../src/subjects/activity/rules.ts";
import type { Dependencies } from "../../src/subjects/dependencies.ts";
import { createEventTypes } from "../../src/subjects/event-types/rules.ts";
import { publish } from "../../src/subjects/events/publish.ts";
import type { NewEvent } from "../../src/subjects/events/rules.ts";
import { createOrganization } from "../../src/subjects/organizations/work.ts";
import { recordProcess, recordProcessEnded } from "../../src/subjects/processes/sql.ts";
import { createSubscription } from "../../src/subjects/subscriptions/work.ts";
import { aBrowserAt } from "./browser.ts";
import { identity, REPORT } from "./counted-engine.ts";
import { createDatabase, ownerOf } from "./database.ts";
import { ANYWHERE, attemptAll, claimAll, createEngine } from "./engine.ts";
import { startOperatorApi } from "./operator-api.ts";
import { answerOf, PARTNERS, RECEIVERS, SLOW, TYPES } from "./shown-partners.ts";

const MINUTES = 60;
const SLICES = 10;
const SLICE_MS = MINUTE_MS / SLICES;
const EVENTS_A_SLICE = 20;
/** The first half of the hour stands for the time before it. */
const HALVES_BEFORE = 46;
const SET_UP_MS = 20 * 1_440 * MINUTE_MS;

/**
 * A service with ten organizations and sixty subscriptions after an hour in which some of them had trouble, with its console.
 * The real code has recorded that hour. Only the time, the receivers and the processes are simulated. `go` lets six more
 * seconds pass in a moment.
 */
export async function aShownService(given?: Database) {
  const db = given ?? (await createDatabase());
  const began = Date.now() - MINUTES * MINUTE_MS;
  const clock = aMovedClock(began - SET_UP_MS);
  await createPartitions(ownerOf(db), new Date());
  const { deps } = await createEngine(db, { clock, eventTypes: createEventTypes(TYPES) });
  const organizations = await createPartners(deps);
  const { app, ask } = startOperatorApi({ after }, deps, { pages: BUILT_SITE });
  const counter = randomId();
  const pass = async (slice: number) => {
    await passSlice({ deps, clock, organizations }, slice);
    if (slice % SLICES === 0) await writeActivity(db, deps.activity, counter);
  };

  for (let slice = 0; slice < MINUTES * SLICES; slice++) {
    clock.set(began + slice * SLICE_MS);
    if (slice === 120) await ask(changeOfLimit("northwind", 900));
    if (slice === 400) await setCeiling(db, ask);
    await pass(slice);
  }
  clock.set(null);
  await addTimeBefore(db, new Date(began));
  const report = await addProcesses(db, began);
  const go = async () => {
    await pass(MINUTES * SLICES);
    await report();
  };
  const base = await app.listen({ host: "127.0.0.1", port: 0 });
  return { db, ask, go, site: await aBrowserAt(base) };
}

type Ask = ReturnType<typeof startOperatorApi>["ask"];

/** A clock that stands at a moment, or goes with the real time. */
function aMovedClock(start: number) {
  let moment: number | null = start;
  let passed = 0;
  return Object.assign(() => new Date(Math.round((moment ?? Date.now()) + passed)), {
    set: (to: number | null) => {
      moment = to;
      passed = 0;
    },
    pass: (ms: number) => {
      passed = ms;
    },
  });
}

async function createPartners(deps: Dependencies): Promise<string[]> {
  const open = { ...deps, checkDestination: () => Promise.resolve(ANYWHERE) };
  return Promise.all(
    Object.entries(PARTNERS).map(async ([slug, domain]) => {
      const { id } = await createOrganization(deps, { slug });
      for (const [place, name] of RECEIVERS.entries()) {
        const listed = TYPES.filter((_, index) => (index + place) % 3 === 0);
        const events = listed.map(({ name }) => name);
        await createSubscription(open, id, { url: `https://${name}.${domain}/v1/events`, events });
      }
      return id;
    }),
  );
}

interface Simulated {
  deps: Dependencies;
  clock: ReturnType<typeof aMovedClock>;
  organizations: string[];
}

/** Publishes the events of six seconds and attempts all due deliveries at once. */
async function passSlice(simulated: Simulated, slice: number): Promise<void> {
  const { deps, clock, organizations } = simulated;
  const events = Array.from({ length: EVENTS_A_SLICE }, () => anEvent(organizations));
  const published = await deps.db.begin((tx) => publish(deps, tx, events));
  notePublished(deps, events, published);
  countRequests(deps, organizations, slice);

  const claims = await claimAll(deps);
  let longestMs = 0;
  let left = claims.length;
  const answer = ({ url }: Post) => {
    const [outcome, ms] = answerOf(new URL(url).hostname, slice / SLICES);
    clock.pass(ms);
    longestMs = Math.max(longestMs, ms);
    return outcome;
  };
  const onEnded = () => {
    clock.pass(--left === 0 ? longestMs : 0); // The outcomes of all are recorded after the last.
  };
  const recorded = await attemptAll(deps, claims, answer, onEnded);
  countRecorded(deps.activity, recorded);
  clock.pass(0);
}

/** Some organizations publish more than others. */
function anEvent(organizations: string[]): NewEvent {
  const place = Math.floor(organizations.length * Math.random() ** 1.5);
  return {
    organizationId: organizations[place] ?? "",
    type: TYPES[Math.floor(TYPES.length * Math.random())]?.name ?? "",
    data: JSON.stringify({ id: randomId(), total: Math.ceil(20_000 * Math.random()) }),
    requestId: randomId(),
  };
}

/** Partners' requests. Northwind, the seventh, comes above its limit for ten minutes. */
function countRequests({ activity }: Dependencies, organizations: string[], slice: number): void {
  organizations.forEach((organizationId, place) => {
    const isPeak = place === 6 && slice > 300 && slice < 400;
    const swing = Math.sin(slice / 20);
    const requests = isPeak ? 95 + 25 * swing : 30 - 2 * place + 4 * swing;
    for (let n = 0; n < requests; n++) {
      countRequest(activity, organizationId, {
        passed: n < 90,
        limit: 900,
        remaining: 0,
        resetSeconds: 1,
      });
    }
  });
}

function changeOfLimit(slug: string, limit: number) {
  const url = `organizations/${slug}`;
  return { method: "PATCH", url, body: { rate_limit_per_minute: limit } } as const;
}

async function setCeiling(db: Database, ask: Ask): Promise<void> {
  const [slow] = await db<{ id: string }[]>`select id from subscriptions where host = ${SLOW}`;
  const url = `subscriptions/${publicId("wh", slow?.id ?? "")}`;
  await ask({ method: "PATCH", url, body: { max_per_second: 20 } });
}

async function addTimeBefore(db: Database, began: Date): Promise<void> {
  await ownerOf(db)`
    insert into activity_minutes
           (process_id, scope, kind, at, published, requests, rate_limited, succeeded, failed, duration_ms,
            delivered, dead_lettered, cancelled, disabled, reasons, attempt_ms, end_to_end_ms)
    select ${randomId()}::uuid, scope, kind, at - half * interval '30 minutes', published * f, requests * f,
           rate_limited * f, succeeded * f, failed * f, duration_ms * f, delivered * f, dead_lettered * f, cancelled * f,
           disabled * f, reasons, attempt_ms, end_to_end_ms
      from activity_minutes
     cross join generate_series(1, ${HALVES_BEFORE}) as half
     cross join lateral (values (1 - 0.6 * sin(half * pi() / ${HALVES_BEFORE}))) as day (f)
     where at >= date_trunc('minute', ${began}::timestamptz) + interval '1 minute'
       and at < date_trunc('minute', ${began}::timestamptz) + interval '31 minutes'`;
}

/** Two processes for requests, and two dispatchers that were replaced by a newer version. Returns what lets them report. */
async function addProcesses(db: Database, began: number): Promise<() => Promise<void>> {
  const at = (minute: number) => new Date(began + minute * MINUTE_MS);
  const busy = await db<{ id: string }[]>`select id from organizations order by slug limit 5`;
  const organizations = busy.map(({ id }, place) => ({ id, slots: 5 - place }));
  const api = { role: "api", version: "1.0.0" } as const;
  const dispatcher = { role: "dispatcher", version: "1.0.1" } as const;
  const report = { ...REPORT, attemptsUnderWay: 15, slots: 512, organizations };

  for (const [host, minute] of [
    ["dispatcher-1", 24],
    ["dispatcher-2", 26],
  ] as const) {
    const id = randomId();
    const old = { ...identity, ...dispatcher, id, version: "1.0.0", host, startedAt: at(-9_000) };
    await recordProcess(db, old, report, at(minute));
    await recordProcessEnded(db, id, at(minute));
  }
  const running = [
    { ...identity, ...api, id: randomId(), host: "api-1", startedAt: at(-9_000) },
    { ...identity, ...api, id: randomId(), host: "api-2", startedAt: at(-9_000) },
    { ...identity, ...dispatcher, id: randomId(), host: "dispatcher-1", startedAt: at(24) },
    { ...identity, ...dispatcher, id: randomId(), host: "dispatcher-2", startedAt: at(26) },
  ];
  const reportAll = async () => {
    const now = new Date();
    for (const one of running) {
      const own = one.role === "api" ? REPORT : { ...report, lastRecordedAt: now };
      await recordProcess(db, one, own, now);
    }
  };
  await reportAll();
  return reportAll;
}
