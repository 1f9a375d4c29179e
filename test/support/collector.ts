import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import type { TestContext } from "node:test";
import { Arrivals } from "./arrivals.ts";
import { fieldsOf } from "./protobuf.ts";
import { openPort } from "./free-port.ts";

/** A span as a collector gets it. */
export interface SpanSeen {
  traceId: string;
  id: string;
  /** Empty: a root. */
  parentId: string;
  name: string;
  failed: boolean;
  startNs: bigint;
  endNs: bigint;
  attributes: Record<string, string | number>;
  resource: Record<string, string | number>;
}

export type Collector = Awaited<ReturnType<typeof startCollector>>;

type Answer = (response: ServerResponse) => void;

/** A receiver of OTLP over HTTP in protobuf, on loopback. */
export async function startCollector(t: TestContext) {
  const spans = new Arrivals<SpanSeen>();
  const requests: { path: string; headers: IncomingMessage["headers"]; body: Buffer }[] = [];
  let answer: Answer = (response) => response.writeHead(200).end();
  const server = createServer((request, response) => void take(request, response));
  return {
    url: `http://127.0.0.1:${await openPort(t, server)}`,
    spans,
    requests,
    answer: (next: Answer) => {
      answer = next;
    },
    /** The spans of this name, in the order of their starts. */
    named: (name: string) =>
      spans.all
        .filter((span) => span.name === name)
        .toSorted((a, b) => Number(a.startNs - b.startNs)),
    /** All sent data, as text. */
    text: () => requests.map(({ body }) => body.toString("latin1")).join(),
  };

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await buffer(request);
    requests.push({ path: request.url ?? "", headers: request.headers, body });
    for (const span of readSpans(body)) spans.add(span);
    answer(response);
  }
}

/** Reads an ExportTraceServiceRequest. */
function* readSpans(body: Buffer): Iterable<SpanSeen> {
  for (const group of fieldsOf(body).messages(1)) {
    const resource = attributesOf(group.messages(1)[0]?.messages(1) ?? []);
    for (const scope of group.messages(2)) {
      for (const span of scope.messages(2)) {
        yield {
          traceId: span.bytes(1).toString("hex"),
          id: span.bytes(2).toString("hex"),
          parentId: span.bytes(4).toString("hex"),
          name: span.bytes(5).toString(),
          failed: span.messages(15)[0]?.number(3) === 2,
          startNs: span.fixed(7),
          endNs: span.fixed(8),
          attributes: attributesOf(span.messages(9)),
          resource,
        };
      }
    }
  }
}

function attributesOf(pairs: ReturnType<typeof fieldsOf>[]): Record<string, string | number> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const [value] = pair.messages(2);
      return [pair.bytes(1).toString(), value?.number(3) ?? value?.bytes(1).toString() ?? ""];
    }),
  );
}
