import worker from "./worker.mjs";

const env = Deno.env.toObject();
const onListen = ({ port }) => console.log(`listening on ${port}`);
Deno.serve({ port: 0, hostname: "127.0.0.1", onListen }, (request) => worker.fetch(request, env));
