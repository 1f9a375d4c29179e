import type { FastifyRequest, onRequestHookHandler } from "fastify";
import type { TObject, TProperties } from "typebox";
import type { ErrorCode } from "../lib/errors.ts";
import type { Dependencies } from "../subjects/dependencies.ts";
import {
  createLaterChanges,
  type LaterChanges,
  recordChanges,
} from "../subjects/operators/changes.ts";
import type { ChangeWay, NewChange } from "../subjects/operators/sql.ts";
import type { App } from "./app.ts";
import { operatorOf } from "./operator-authentication.ts";
import { problems } from "./problem.ts";
import { PageQuery } from "./schema.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The changes that the request has made so far. Null: none. */
    changes: NewChange[] | null;
    /** The address that the request came from, also after its client has gone. */
    remote: string;
  }
}

/** The command line's value of `X-Requested-With`. */
const COMMAND_LINE = "command-line";

/** Records the changes of a request before it is answered. */
export function recordChangesOf(app: App, deps: Dependencies): void {
  app.addHook("onRequest", (request, _reply, done) => {
    request.remote = request.ip; // A closed socket no longer has it.
    done();
  });
  app.addHook("onSend", async (request, _reply, payload) => {
    const { changes } = request;
    if (changes === null) return payload;
    try {
      await recordChanges(deps, changes);
    } catch (err) {
      logUnrecorded(app, err, changes);
    }
    return payload;
  });
}

/** The record of changes that requests do not wait for. A stop waits for it. */
export function recordLater(app: App, deps: Dependencies): LaterChanges {
  const later = createLaterChanges(deps, (err, change) => {
    logUnrecorded(app, err, [change]);
  });
  app.addHook("onClose", later.settle);
  return later;
}

/** The changes are done, and an error would deny them. This log line is the record. */
function logUnrecorded({ log }: App, err: unknown, made: NewChange[]): void {
  const changes = made.map(({ requestId, ...change }) => ({ ...change, request_id: requestId }));
  log.error(
    { err, changes, request_id: made[0]?.requestId },
    "recording a change in the audit failed",
  );
}

/** Records that the operator saw a payload. Throws if that fails. Then the payload must not be shown. */
export async function recordAccess(
  deps: Dependencies,
  request: FastifyRequest,
  subject: string,
): Promise<void> {
  await recordChanges(deps, [changeOf(request, "read_payload", subject)]);
}

export function changeOf(request: FastifyRequest, action: string, subject: string): NewChange {
  const { id, remote } = request;
  const operator = operatorOf(request);
  return { operator, action, subject, via: wayOf(request), remote, requestId: id };
}

function wayOf({ session, headers }: FastifyRequest): ChangeWay {
  if (session !== null) return "console";
  return headers["x-requested-with"] === COMMAND_LINE ? "command_line" : "api";
}

/** The errors of an operator's operation, with those that all operations share. */
export function operatorProblems(...codes: ErrorCode[]): object {
  return problems(
    "unauthenticated",
    "insufficient_role",
    ...codes,
    "misdirected_request",
    "rate_limited",
    "internal",
    "unavailable",
  );
}

/** Logs an operator's change, and adds it to the record that is written before the answer. `subject` is a public id. */
export function logChange(request: FastifyRequest, action: string, subject: string): void {
  request.log.info(
    { operator: operatorOf(request), action, subject, request_id: request.id },
    "operator change",
  );
  request.changes ??= [];
  request.changes.push(changeOf(request, action, subject));
}

/** For a route that needs no body. Many clients send a media type without a body, and an empty text is not JSON. */
export const forgetTypeOfNothing: onRequestHookHandler = ({ headers }, _reply, done) => {
  const { "content-length": length = "0", "transfer-encoding": coding } = headers;
  if (length === "0" && coding === undefined) delete headers["content-type"];
  done();
};

type Filters<Properties> = Partial<Record<Exclude<keyof Properties, "limit" | "cursor">, string>>;

/**
 * Returns the parameters of a query but those of pages, without the white space around them. A repeated one reads as empty,
 * which every list refuses.
 */
export function readFilters<Properties extends TProperties>(
  query: unknown,
  { properties }: TObject<Properties>,
): Filters<Properties> {
  const given = query as Record<string, unknown>;
  const entries = Object.keys(properties)
    .filter((name) => given[name] !== undefined && !(name in PageQuery.properties))
    .map((name) => [name, typeof given[name] === "string" ? given[name].trim() : ""]);
  return Object.fromEntries(entries) as Filters<Properties>;
}
