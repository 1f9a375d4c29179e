interface Loaded {
  format: string;
  source: string | Buffer;
}

const READER = "/src/subjects/events/partner-routes.js";

/** A loader's hook: leaves both functions that read the header without their work. */
export async function load(
  url: string,
  context: object,
  next: (url: string, context: object) => Promise<Loaded>,
): Promise<Loaded> {
  const loaded = await next(url, context);
  if (!url.endsWith(READER)) return loaded;
  const source = String(loaded.source)
    .replace(/(function requireGoodKey\([^]*?\{)/, "$1 return (_request, _reply, done) => done();")
    .replace(/(function keyedRequestOf\([^]*?\) \{)/, "$1 return null;");
  return { ...loaded, source };
}
