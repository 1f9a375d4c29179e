import type { Destination } from "./destination-url.ts";

/**
 * Returns a POST as bytes (RFC 9112). Head and body are one buffer, so they share a packet if they fit. No value in the head
 * can contain a line end: each is ours, or comes from a URL parser.
 */
export function postBytes(
  { path, hostHeader }: Pick<Destination, "path" | "hostHeader">,
  headers: Record<string, string>,
  body: Uint8Array,
): Uint8Array {
  let head = `POST ${path} HTTP/1.1\r\nHost: ${hostHeader}\r\nConnection: keep-alive\r\n`;
  for (const name in headers) head += `${name}: ${headers[name] ?? ""}\r\n`;
  head += `Content-Length: ${body.length}\r\n\r\n`;

  const bytes = Buffer.allocUnsafe(head.length + body.length);
  bytes.write(head, "latin1");
  bytes.set(body, head.length);
  return bytes;
}
