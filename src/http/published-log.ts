import type { FastifyRequest } from "fastify";

/**
 * Lets the line of a request name the event that it published, which leads to the event's attempts. Of a batch that line
 * names the first one, and at `debug` each has a line of its own.
 */
export function notePublished(request: FastifyRequest, eventIds: readonly string[]): void {
  request.publishedEvent = eventIds[0] ?? null;
  for (const event_id of eventIds) {
    request.log.debug({ request_id: request.id, event_id }, "event published");
  }
}
