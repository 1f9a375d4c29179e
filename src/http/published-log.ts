import type { FastifyRequest } from "fastify";

/**
 * Adds the published event's id to the request's log line, because the id leads to its attempts. For a batch, the line has the
 * first id, and at `debug` each event has a line of its own.
 */
export function notePublished(request: FastifyRequest, eventIds: readonly string[]): void {
  request.publishedEvent = eventIds[0] ?? null;
  for (const event_id of eventIds) {
    request.log.debug({ request_id: request.id, event_id }, "event published");
  }
}
