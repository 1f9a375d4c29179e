import { type Document, Unfit } from "./document.ts";

/** The members of the event, as JSON text. */
interface CloudEvent {
  organization?: string;
  type?: string;
  data?: string;
  occurred_at?: string;
  dedupe_key?: string;
}

/** The prefixes of attributes in headers: of NATS, HTTP and the SDKs for RabbitMQ, of Kafka, of AMQP. */
const PREFIXES = ["ce-", "ce_", "cloudevents:", "cloudevents_"];

/**
 * Reads a CloudEvent (1.0). Returns null if the message is none. In structured mode the message is the event, in binary mode its
 * attributes are headers. Throws `Unfit` for another version.
 */
export function readCloudEvent(
  headers: ReadonlyMap<string, string>,
  document: Document,
): CloudEvent | null {
  const contentType = headers.get("content-type") ?? "";
  if (/^application\/cloudevents-batch\+json/i.test(contentType)) {
    throw new Unfit("the message is a batch of CloudEvents: send each as a message of its own");
  }
  const prefix = PREFIXES.find((one) => headers.has(`${one}specversion`));
  if (prefix !== undefined) return binary(prefix, headers, document);
  const isDeclared = /^application\/cloudevents\+json/i.test(contentType);
  return isDeclared || looksStructured(document) ? structured(document) : null;
}

function binary(prefix: string, headers: ReadonlyMap<string, string>, document: Document) {
  requireVersion(headers.get(`${prefix}specversion`));
  const of = (name: string) => {
    const value = headers.get(prefix + name);
    return value === undefined ? undefined : JSON.stringify(value);
  };
  return members(of, document.at([]));
}

function structured(document: Document) {
  const of = (name: string) => document.at([name]);
  requireVersion(textOf(of("specversion")));
  return members(of, of("data") ?? decodedData(of("data_base64")));
}

/** JSON in base64, as some SDKs write it. */
function decodedData(value: string | undefined): string | undefined {
  const text = textOf(value);
  return text === undefined ? undefined : JSON.stringify(Buffer.from(text, "base64").toString());
}

/** A sender must not use the same `source` and `id` for two events. So they identify a CloudEvent that was sent twice, too. */
function members(of: (name: string) => string | undefined, data: string | undefined): CloudEvent {
  const [source, id] = [textOf(of("source")), textOf(of("id"))];
  const found = {
    organization: of("organization"),
    type: of("type"),
    data,
    occurred_at: of("time"),
    dedupe_key: source && id ? JSON.stringify(`${source} ${id}`) : undefined,
  };
  return Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
}

function looksStructured(document: Document): boolean {
  try {
    const has = (name: string) => document.at([name]) !== undefined;
    return has("specversion") && has("id") && has("source") && has("type");
  } catch {
    return false;
  }
}

function requireVersion(version: string | undefined): void {
  if (version !== "1.0") {
    throw new Unfit(`the message is a CloudEvent of version ${version ?? "unknown"}, not 1.0`);
  }
}

function textOf(value: string | undefined): string | undefined {
  const read = value === undefined ? undefined : (JSON.parse(value) as unknown);
  return typeof read === "string" ? read : undefined;
}
