import { publicId } from "../domain/ids.ts";
import { currentSpans, inSpans } from "../lib/tracing.ts";
import type { NewEvent, Published } from "./new-event.ts";
import type { Publishing } from "./publishing.ts";

/** Makes a span of each call, if its request is traced. */
export function tracePublishing({ publish, publishAll }: Publishing): Publishing {
  return {
    publish: (event) => inPublishSpan([event], ([one = event]) => publish(one)),
    publishAll: (events) => inPublishSpan(events, publishAll),
  };
}

/**
 * Publishes in a span of the current trace. The events get its context, so that their attempts continue the trace. Without a
 * trace only publishes.
 */
export async function inPublishSpan<Event extends NewEvent, Result extends Published | Published[]>(
  events: Event[],
  publish: (events: Event[]) => Promise<Result>,
): Promise<Result> {
  const [parent] = currentSpans();
  const [event] = events;
  if (!parent || !event) return publish(events);

  const span = parent.child("publish", "producer", {
    "messaging.system": "partner_api",
    "messaging.operation.type": "send",
    "messaging.operation.name": "publish",
    "messaging.batch.message_count": events.length > 1 ? events.length : undefined,
    "messaging.destination.name": events.every(({ type }) => type === event.type)
      ? event.type
      : undefined,
    "partner_api.organization_id": publicId("org", event.organizationId),
  });
  const { traceparent } = span;
  try {
    const traced = events.map((one) => ({ ...one, traceparent }));
    const published = await inSpans([span], () => publish(traced));
    const [first] = [published].flat();
    if (first && events.length === 1)
      span.set({ "messaging.message.id": publicId("evt", first.eventId) });
    span.end();
    return published;
  } catch (error) {
    span.end(error instanceof Error ? error.name : "error");
    throw error;
  }
}
