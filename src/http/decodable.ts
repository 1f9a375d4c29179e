/**
 * Escapes the percent signs of a path that Fastify cannot decode. Fastify would answer it before any hook, so the request would
 * not be admitted, counted or logged.
 */
export function decodable(url: string): string {
  if (!url.includes("%")) return url;
  const [path = ""] = url.split("?", 1);
  try {
    decodeURI(path);
    return url;
  } catch {
    return url.replaceAll("%", "%25");
  }
}
