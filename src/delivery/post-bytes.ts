import type { Destination } from "../domain/destination-url.ts";

/**
 * A POST as it goes over the wire (RFC 9112): head and body in one piece, and so in one packet where they fit.
 * What stands in the head has been through a URL parser or is ours: no value can hold a line's end.
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
