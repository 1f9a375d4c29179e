import { AsyncLocalStorage } from "node:async_hooks";
import { codeOf } from "./objects.ts";

export type Attributes = Record<string, string | number | undefined>;
export type SpanKind = "internal" | "server" | "client" | "producer";

/** A part of the work that a trace shows, with its beginning and its end. */
export interface Span {
  readonly traceId: string;
  /** The span as a parent, in the form of the header `traceparent` (W3C Trace Context). */
  readonly traceparent: string;
  child(name: string, kind?: SpanKind, attributes?: Attributes): Span;
  set(attributes: Attributes): void;
  /** `error`: the cause in one word, if the work failed. */
  end(error?: string): void;
}

export interface Tracer {
  /** Starts a span below `parent`, or a trace of its own. Null if nothing is traced. */
  start(
    name: string,
    from: { kind: SpanKind; parent: string | null; attributes?: Attributes },
  ): Span | null;
}

/** For a process that traces nothing. */
export const NO_TRACER: Tracer = { start: () => null };

const NO_SPANS: readonly Span[] = [];
const storage = new AsyncLocalStorage<readonly Span[]>();

/** Returns the spans that the current work belongs to. A batch belongs to the spans of all its callers. */
export function currentSpans(): readonly Span[] {
  return storage.getStore() ?? NO_SPANS;
}

/** Does the work as a part of these spans, and of no others. Costs nothing while nothing is traced. */
export function inSpans<Result>(spans: readonly Span[], work: () => Result): Result {
  if (spans.length === 0 && currentSpans().length === 0) return work();
  return storage.run(spans, work);
}

/** Does the work in a child of each current span. */
export async function inChildren<Result>(
  spans: readonly Span[],
  start: (parent: Span) => Span,
  work: () => Promise<Result>,
): Promise<Result> {
  const children = spans.map(start);
  try {
    const result = await work();
    for (const child of children) child.end();
    return result;
  } catch (error) {
    for (const child of children) child.end(nameOf(error));
    throw error;
  }
}

/** Returns a word that names an error, and nothing that it quotes. */
function nameOf(error: unknown): string {
  return codeOf(error) || (error instanceof Error ? error.name : "error");
}
