import { appendFile, readFile } from "node:fs/promises";
import { createServer } from "node:https";
import { json } from "node:stream/consumers";

/** A receiver in a container of its own. It acknowledges an event when its id is in the file. */
const [folder = "."] = process.argv.slice(2);
const [key, cert] = await Promise.all(
  ["receiver.key", "receiver.pem"].map((name) => readFile(`${folder}/${name}`)),
);
createServer({ key, cert }, (request, response) => {
  void (async () => {
    const { id } = (await json(request)) as { id: string };
    await appendFile(`${folder}/arrived`, `${id}\n`);
    response.end();
  })();
}).listen(8443);
