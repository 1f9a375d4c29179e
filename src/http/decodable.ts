/**
 * Fastify answers a path that cannot be decoded before any hook, and so unadmitted, uncounted and unlogged. Here its
 * percent signs stand for themselves: then it is a path like any other.
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
