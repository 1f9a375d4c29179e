import worker from "./worker.mjs";

const fetch = (request) => worker.fetch(request, process.env);
console.log(`listening on ${Bun.serve({ port: 0, hostname: "127.0.0.1", fetch }).port}`);
