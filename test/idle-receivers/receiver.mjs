// Node.js's own server. PORT, KEY, CERT, and IDLE or none.
import { readFileSync } from "node:fs";
import { createServer } from "node:https";

const { PORT, KEY, CERT, IDLE } = process.env;
const server = createServer(
  { key: readFileSync(KEY), cert: readFileSync(CERT) },
  (request, response) => {
    request.resume().on("end", () => response.end("ok"));
  },
);
if (IDLE) server.keepAliveTimeout = Number(IDLE) * 1000;
server.listen(Number(PORT), "127.0.0.2");
