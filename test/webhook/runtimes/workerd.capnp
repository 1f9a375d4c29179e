using Workerd = import "/workerd/workerd.capnp";

const config :Workerd.Config = (
  services = [(name = "main", worker = .receiver)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);

const receiver :Workerd.Worker = (
  compatibilityDate = "2025-01-01",
  modules = [
    (name = "worker.mjs", esModule = embed "worker.mjs"),
    (name = "fetch.mjs", esModule = embed "fetch.mjs"),
    (name = "@partner-api/webhook", esModule = embed "library/index.js"),
    (name = "@partner-api/handle-once.js", esModule = embed "library/handle-once.js"),
    (name = "@partner-api/memory-store.js", esModule = embed "library/memory-store.js"),
    (name = "@partner-api/verify.js", esModule = embed "library/verify.js"),
  ],
  bindings = [(name = "PARTNER_SECRET", fromEnvironment = "PARTNER_SECRET")],
);
