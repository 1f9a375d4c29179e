import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import type { Fault } from "../../src/lib/errors.ts";
import type { Database } from "../../src/postgres/database.ts";
import { createOrganization } from "../../src/subjects/organizations/work.ts";
import { createSubscription } from "../../src/subjects/subscriptions/work.ts";
import { ANYWHERE, createEngine } from "./engine.ts";
import { PUBLISHER, startOperatorApi } from "./operator-api.ts";
import { aPlatformsTypes } from "./platform-types.ts";

/** The operators' listener for a publishing service, and a new organization. */
export async function aPublisherApi(
  t: Parameters<typeof startOperatorApi>[0],
  db: Database,
  eventTypes = aPlatformsTypes(),
) {
  const engine = await createEngine(db, { eventTypes });
  const { deps } = engine;
  const api = startOperatorApi(t, deps);
  const { id, slug } = await createOrganization(deps, { slug: `o-${randomUUID()}` });
  const subscribe = (events: string[], organizationId = id) =>
    createSubscription(
      { ...deps, checkDestination: () => Promise.resolve(ANYWHERE) },
      organizationId,
      { url: "https://receiver.example/hooks", events },
    );
  const order = { organization: slug, type: "order.created", data: { amount: 1 } };
  const post = (body: unknown) =>
    api.ask({
      method: "POST",
      url: "events",
      body,
      authorization: `Bearer ${PUBLISHER.token}`,
    });
  /** Returns the faults of a refused request, which must have written nothing. */
  const faultsOf = async (body: unknown): Promise<Fault[]> => {
    const answer = await post(body);
    assert.equal(answer.status, 422, answer.text);
    assert.equal(await countEvents(), 0);
    return (answer.body as { errors: Fault[] }).errors;
  };
  const countEvents = async () =>
    (
      await db`select from events where organization_number = (select number from organizations where id = ${id})`
    ).length;
  const pointersOf = async (body: unknown) => (await faultsOf(body)).map((fault) => fault.pointer);
  /** Sends this text as JSON. */
  const postText = (payload: string | Buffer) =>
    api.app.inject({
      method: "POST",
      url: "/api/v1/admin/events",
      headers: { authorization: `Bearer ${PUBLISHER.token}`, "content-type": "application/json" },
      payload,
    });
  return {
    ...engine,
    postText,
    ...api,
    id,
    slug,
    subscribe,
    order,
    post,
    faultsOf,
    pointersOf,
    countEvents,
  };
}
