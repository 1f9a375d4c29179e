// Bun's own server. PORT, KEY, CERT, and IDLE or none.
const { Bun, Response } = globalThis;
const { PORT, KEY, CERT, IDLE } = process.env;
Bun.serve({
  port: Number(PORT),
  hostname: "127.0.0.2",
  tls: { key: Bun.file(KEY), cert: Bun.file(CERT) },
  ...(IDLE && { idleTimeout: Number(IDLE) }),
  fetch: async (request) => new Response(await request.text().then(() => "ok")),
});
