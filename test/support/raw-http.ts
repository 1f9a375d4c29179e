import { connect, type Socket } from "node:net";
import type { TestContext } from "node:test";

export interface RawAnswer {
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  body: string;
}

/** A connection to this address. The server may reset it, and it ends with the test. */
export function aClient(t: TestContext, baseUrl: string, allowHalfOpen = false): Socket {
  const { hostname, port } = new URL(baseUrl);
  const client = connect({ host: hostname, port: Number(port), allowHalfOpen });
  t.after(() => client.destroy());
  return client.on("error", () => undefined);
}

/**
 * Sends all bytes unchanged before it reads anything, as simple clients do. Then reads until the server
 * closes or has sent one whole answer.
 */
export async function sendRaw(baseUrl: string, request: string): Promise<RawAnswer> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  socket.pause();
  await new Promise<void>((resolve, reject) => {
    socket.write(request, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
  let text = "";
  for await (const chunk of socket as AsyncIterable<Buffer>) {
    text += chunk.toString("latin1");
    const answer = parse(text);
    if (answer) return answer;
  }
  throw new Error(`the connection closed after ${JSON.stringify(text)}`);
}

/**
 * Sends bytes unchanged and returns everything that the server sends until it closes the connection.
 * `isHead`: the first request is a HEAD request, whose answer has no body, even if its head announces one.
 */
export async function converse(
  baseUrl: string,
  bytes: string,
  { isHead = false }: { isHead?: boolean } = {},
): Promise<RawAnswer[]> {
  const { hostname, port } = new URL(baseUrl);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => undefined); // A server may close by a reset.
  socket.write(bytes, "latin1");
  const chunks: Buffer[] = [];
  socket.on("data", (chunk: Buffer) => chunks.push(chunk));
  await new Promise((resolve) => socket.once("close", resolve));
  const text = Buffer.concat(chunks).toString("latin1");
  return parseAll(isHead ? text.replace(/^content-length: .*\r\n/im, "") : text);
}

/** The head and body of a request as text, so that tests can change every line. */
export function rawRequest(line: string, headers: readonly string[], body = ""): string {
  return [line, ...headers, "", body].join("\r\n");
}

/** Several answers in a row. */
export function parseAll(text: string): RawAnswer[] {
  const answers: RawAnswer[] = [];
  for (let rest = text; rest !== "";) {
    const answer = parse(rest);
    if (!answer) throw new Error(`the answer broke off: ${JSON.stringify(rest)}`);
    const body = answer.body.slice(0, Number(answer.headers["content-length"] ?? 0));
    answers.push({ ...answer, body });
    rest = answer.body.slice(body.length);
  }
  return answers;
}

function parse(text: string): RawAnswer | null {
  const [head = "", ...rest] = text.split("\r\n\r\n");
  if (rest.length === 0) return null;
  const [statusLine = "", ...lines] = head.split("\r\n");
  const headers = Object.fromEntries(
    lines.map((line) => {
      const [name = "", ...value] = line.split(":");
      return [name.toLowerCase(), value.join(":").trim()];
    }),
  );
  const body = rest.join("\r\n\r\n");
  if (body.length < Number(headers["content-length"] ?? 0)) return null;
  return { status: Number(statusLine.split(" ")[1]), headers, body };
}
