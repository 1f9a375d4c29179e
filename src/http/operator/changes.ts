import type { FastifyRequest } from "fastify";
import { createLaterChanges, type LaterChanges, recordChanges } from "../../actions/changes.ts";
import type { Dependencies } from "../../actions/dependencies.ts";
import type { ChangeWay, NewChange } from "../../postgres/changes.ts";
import type { App } from "../app.ts";
import { operatorOf } from "./admission.ts";

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
