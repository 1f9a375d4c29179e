import assert from "node:assert/strict";
import { once } from "node:events";
import type { Socket } from "node:net";
import { after, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { publicId, timeOrderedId } from "../../../src/lib/ids.ts";
import type { Page } from "../../../src/lib/page.ts";
import { deleteExpired } from "../../../src/postgres/expired-rows.ts";
import { type ChangeView, recordChanges } from "../../../src/subjects/operators/changes.ts";
import { insertChanges } from "../../../src/subjects/operators/sql.ts";
import { columns } from "../../support/columns.ts";
import { createDatabase, ownerOf } from "../../support/database.ts";
import { anOrganization, createEngine, publish } from "../../support/engine.ts";
import { OPERATORS, PUBLISHER, READER, startOperatorApi } from "../../support/operator-api.ts";
import { aPlatformsTypes } from "../../support/platform-types.ts";
import { aClient } from "../../support/raw-http.ts";
import { untilBlocked } from "../../support/until-blocked.ts";

const { deps, clock } = await createEngine(await createDatabase());

const api = startOperatorApi({ after }, deps);
type Api = typeof api;

async function changesOf({ ask }: Api, query = ""): Promise<ChangeView[]> {
  const { status, body } = await ask({ url: `changes?${query}` });
  assert.equal(status, 200);
  return (body as Page<ChangeView>).items;
}

/** The database, with `before` in front of each statement that records changes. */
function recording(before: () => Promise<unknown>): typeof deps.db {
  const { db } = deps;
  return Object.assign((...args: Parameters<typeof db>) => {
    const [texts] = args as unknown as [unknown];
    const isRecord =
      Array.isArray(texts) && texts.join("").includes("insert into operator_changes");
    return isRecord ? before().then(() => db(...args)) : db(...args);
  }, db);
}

async function publishAs({ ask }: Api, token: string, organization: string, keys: string[]) {
  const events = keys.map((key) => ({
    ...{ organization, type: "note.added", data: {}, dedupe_key: key },
  }));
  const authorization = `Bearer ${token}`;
  const answer = await ask({ method: "POST", url: "events", authorization, body: { events } });
  assert.equal(answer.status, 202, answer.text);
  return (answer.body as { items: { event_id: string }[] }).items.map((item) => item.event_id);
}

async function signIn({ ask }: Api, token: string): Promise<Record<string, string>> {
  const request = { method: "POST", url: "session", authorization: null, body: { token } } as const;
  const cookie = String((await ask(request)).headers["set-cookie"]).split(";")[0] ?? "";
  return { cookie, "x-requested-with": "console" };
}

test("each change is recorded with operator, time and address", async () => {
  const body = { slug: "audited" };
  const made = await api.ask({
    ...{ method: "POST", url: "organizations", body, remoteAddress: "192.0.2.7" },
    authorization: `Bearer ${OPERATORS[1]?.token ?? ""}`,
  });
  const { id } = made.body as { id: string };
  const [change] = await changesOf(api);
  assert.deepEqual(change, {
    id: change?.id,
    at: clock().toISOString(),
    operator: "bob",
    action: "create_organization",
    subject: id,
    via: "api",
    remote: "192.0.2.7",
    request_id: made.headers["x-request-id"],
  });
  assert.match(change.id, /^chg_/);
});

test("a change is recorded with its address even if the client has disconnected", async (t) => {
  const base = await api.app.listen({ host: "127.0.0.1", port: 0 });
  const accepted = once(api.app.server, "connection") as Promise<[Socket]>;
  const body = JSON.stringify({ slug: "left-alone" });
  const owner = ownerOf(deps.db);
  await owner.begin(async (tx) => {
    await tx`lock table organizations`;
    const client = aClient(t, base);
    client.write(
      `POST /api/v1/admin/organizations HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${OPERATORS[1]?.token ?? ""}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    const [socket] = await accepted;
    await untilBlocked(owner);
    const closed = once(socket, "close");
    client.destroy();
    await closed;
  });
  const failures = () => api.logged.filter(({ msg }) => String(msg).startsWith("recording a"));
  const recorded = () =>
    owner`select from operator_changes where remote = '127.0.0.1' and action = 'create_organization'`;
  while (failures().length === 0 && (await recorded()).length === 0) await sleep(5);
  assert.deepEqual(failures(), []);
});

test("a change shows whether the console or the command line made it", async () => {
  const headers = await signIn(api, OPERATORS[0]?.token ?? "");
  const create = { method: "POST", url: "organizations" } as const;
  await api.ask({ ...create, authorization: null, headers, body: { slug: "by-console" } });
  const line = { "x-requested-with": "command-line" };
  await api.ask({ ...create, headers: line, body: { slug: "by-command" } });
  const ways = (await changesOf(api, "operator=alice")).map(({ via }) => via);
  assert.deepEqual(ways, ["command_line", "console"]);
});

test("refused and reading requests are not recorded", async () => {
  const before = await changesOf(api);
  await api.ask({ method: "POST", url: "organizations", body: { slug: "audited" } });
  await api.ask({ method: "DELETE", url: "keys/nothing" });
  await api.ask({ url: "organizations" });
  assert.deepEqual(await changesOf(api), before);
});

test("reading a payload is recorded, and a request without the payload is not", async () => {
  const [event = ""] = await publish(deps, await anOrganization(deps));
  const id = publicId("evt", event);
  const headers = await signIn(api, READER.token);
  const hidden = await api.ask({ url: `events/${id}?data=false`, authorization: null, headers });
  assert.equal("data" in (hidden.body as object), false);
  const asPublisher = { url: `events/${id}`, authorization: `Bearer ${PUBLISHER.token}` };
  assert.ok("data" in ((await api.ask(asPublisher)).body as object));
  assert.deepEqual(await changesOf(api, `subject=${id}`), []);

  const shown = await api.ask({ url: `events/${id}`, authorization: null, headers });
  assert.ok("data" in (shown.body as object));
  const [read] = await changesOf(api, `subject=${id}`);
  assert.deepEqual([read?.operator, read?.action, read?.via], ["rita", "read_payload", "console"]);
});

test("a payload is not shown if its reading cannot be recorded", async (t) => {
  const [event = ""] = await publish(deps, await anOrganization(deps));
  const refusing = recording(() => Promise.reject(new Error("the audit is full")));
  const { ask } = startOperatorApi(t, { ...deps, db: refusing });
  const { status, text } = await ask({ url: `events/${publicId("evt", event)}` });
  assert.equal(status, 500);
  assert.equal(text.includes("message"), false);

  // A change that was made before the failure is reported as made. Only the log records it.
  const api = startOperatorApi(t, { ...deps, db: refusing });
  const made = await api.ask({ method: "POST", url: "organizations", body: { slug: "unaudited" } });
  assert.equal(made.status, 201);
  const line = api.logged.find(
    (entry) => entry["msg"] === "recording a change in the audit failed",
  );
  assert.match(JSON.stringify(line), /create_organization/);
});

test("a change that is written again under its id is recorded once", async () => {
  const facts = { operator: "dave", via: "api", remote: "::1", requestId: "r" } as const;
  const row = { id: timeOrderedId(clock()), action: "create_key", subject: "vck_1", ...facts };
  for (let i = 0; i < 2; i++) await insertChanges(deps.db, [row]);
  const page = await changesOf(api, "operator=dave");
  assert.equal(page.length, 1);
});

test("changes are found by operator, action, subject and time, page by page", async () => {
  clock.advance(1_000);
  const since = clock().toISOString();
  const facts = { operator: "carol", via: "api", remote: "::1", requestId: "r" } as const;
  for (let i = 0; i < 5; i++) {
    const action = i % 2 ? "revoke_key" : "create_key";
    await recordChanges(deps, [{ ...facts, action, subject: `vck_${i}` }]);
    clock.advance(1_000);
  }
  const subjects = async (query: string) =>
    (await changesOf(api, query)).map(({ subject }) => subject);
  assert.deepEqual(await subjects("operator=carol&action=revoke_key"), ["vck_3", "vck_1"]);
  assert.deepEqual(await subjects("subject=vck_2"), ["vck_2"]);
  const until = new Date(Date.parse(since) + 2_000).toISOString();
  assert.deepEqual(await subjects(`since=${since}&until=${until}`), ["vck_1", "vck_0"]);

  const first = (await api.ask({ url: "changes?operator=carol&limit=3" })).body as Page<ChangeView>;
  assert.equal(first.items.length, 3);
  const rest = await subjects(`operator=carol&cursor=${first.next_cursor ?? ""}`);
  assert.deepEqual(rest, ["vck_1", "vck_0"]);
  assert.equal((await api.ask({ url: "changes?since=yesterday" })).status, 422);
});

test("changes are kept for the retention period and cannot be dropped earlier", async () => {
  const kept = await deps.db`select from operator_changes`;
  assert.ok(kept.length > 5);
  // By the database's clock, all of January 2026 is older than the retention. A later moment changes nothing.
  await deleteExpired(deps.db, "delete_expired_changes", new Date("2020-01-01"));
  assert.equal((await deps.db`select from operator_changes`).length, kept.length);
  await assert.rejects(async () => deps.db`delete from operator_changes`, /permission denied/);
  while (await deleteExpired(deps.db, "delete_expired_changes", new Date("2030-01-01")));
  assert.equal((await deps.db`select from operator_changes`).length, 0);
});

test("an operator's publishing is recorded once for each request, and a service's is not", async (t) => {
  const api = startOperatorApi(t, { ...deps, eventTypes: aPlatformsTypes() });
  const organization = publicId("org", await anOrganization(deps));
  const [alice = { token: "" }] = OPERATORS;
  await publishAs(api, PUBLISHER.token, organization, ["one"]);
  assert.deepEqual(await changesOf(api, "action=publish_events"), []);

  const [, first] = await publishAs(api, alice.token, organization, ["one", "two", "three"]);
  await publishAs(api, alice.token, organization, ["two"]);
  const changes = await changesOf(api, "action=publish_events");
  assert.deepEqual(columns(changes, "operator", "subject"), [["alice", first]]);
});

test("publishing does not wait for its record, which is written many to a statement and before a stop ends", async (t) => {
  let statements = 0;
  const written = () => statements;
  let letGo: () => void = () => undefined;
  const gone = new Promise<void>((resolve) => (letGo = resolve));
  const db = recording(() => {
    statements++;
    return gone;
  });
  const api = startOperatorApi(t, { ...deps, db, eventTypes: aPlatformsTypes() });
  const organization = publicId("org", await anOrganization(deps));
  const [, bob = { token: "" }] = OPERATORS;
  const keys = Array.from({ length: 100 }, (_, i) => `later-${i}`);
  const published = await Promise.all(
    keys.map((key) => publishAs(api, bob.token, organization, [key])),
  );
  assert.equal(written(), 1);

  const closed = api.app.close();
  letGo();
  await closed;
  assert.ok(written() < 5);
  const rows = await deps.db<{ subject: string }[]>`
    select subject from operator_changes where operator = 'bob' and action = 'publish_events'`;
  assert.deepEqual(rows.map(({ subject }) => subject).sort(), published.flat().sort());
});

test("the list of changes has what was published before it was asked for", async (t) => {
  const api = startOperatorApi(t, { ...deps, eventTypes: aPlatformsTypes() });
  const organization = publicId("org", await anOrganization(deps));
  const [, bob = { token: "" }] = OPERATORS;
  const published: string[] = [];
  for (const key of ["first", "second", "third"])
    published.push(...(await publishAs(api, bob.token, organization, [key])));
  const listed = await changesOf(api, "action=publish_events&operator=bob&limit=3");
  assert.deepEqual(listed.map(({ subject }) => subject).sort(), published.sort());
});

test("publishing whose record fails is in the log", async (t) => {
  const db = recording(() => Promise.reject(new Error("the audit is full")));
  const api = startOperatorApi(t, { ...deps, db, eventTypes: aPlatformsTypes() });
  const organization = publicId("org", await anOrganization(deps));
  const [event = ""] = await publishAs(api, OPERATORS[0]?.token ?? "", organization, ["unaudited"]);
  await api.app.close();
  const line = api.logged.find(({ msg }) => msg === "recording a change in the audit failed");
  assert.match(JSON.stringify(line), new RegExp(event));
});
