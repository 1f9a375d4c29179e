import { BoundedCache } from "../../lib/bounded-cache.ts";
import { currentSpans, inChildren } from "../../lib/tracing.ts";
import type { Run } from "./statement.ts";

/** Makes a span of each statement that belongs to a trace. A span names operations and tables, and holds no value. */
export function traced(run: Run): Run {
  return (statement) => {
    const spans = currentSpans();
    if (spans.length === 0) return run(statement);
    const summary = summaryOf(statement.text);
    const attributes = { "db.system.name": "postgresql", "db.query.summary": summary };
    return inChildren(
      spans,
      (span) => span.child(summary, "client", attributes),
      () => run(statement),
    );
  };
}

const SUMMARIES_MAX = 1_000;
const SUMMARY_LENGTH_MAX = 255;
const summaries = new BoundedCache<string, string>(SUMMARIES_MAX);

function summaryOf(text: string): string {
  const known = summaries.get(text);
  if (known !== undefined) return known;
  const summary = summarize(text).slice(0, SUMMARY_LENGTH_MAX);
  summaries.set(text, summary);
  return summary;
}

const WRITES =
  /\b(insert) into (\w+)|(?<!\b(?:for|key|do) )\b(update) (\w+)|\b(delete) from (\w+)/g;

/** Returns the writes of a statement, such as `INSERT events INSERT waiting_deliveries`, or else the table that it reads. */
export function summarize(text: string): string {
  const plain = text.toLowerCase().replace(/"/g, "").replace(/\s+/g, " ").trim();
  const writes = [...plain.matchAll(WRITES)].map((match) => {
    const [operation = "", table = ""] = match.slice(1).filter(Boolean);
    return `${operation.toUpperCase()} ${table}`;
  });
  if (writes.length > 0) return [...new Set(writes)].join(" ");
  const [first = ""] = /^\w*/.exec(plain) ?? [];
  return [isRead(first) ? "SELECT" : first.toUpperCase(), tableOf(plain)].join(" ").trim();
}

function isRead(first: string): boolean {
  return first === "select" || first === "with";
}

/** Returns the first table that the statement does not define itself. */
function tableOf(plain: string): string {
  const own = new Set(
    [...plain.matchAll(/\b(\w+) as (?:materialized )?\(/g)].map(([, name]) => name),
  );
  const tables = [...plain.matchAll(/\b(?:from|join) (\w+)(?! ?[\w]*\()/g)].map(([, name]) => name);
  return tables.find((name) => !own.has(name) && name !== "select") ?? "";
}
