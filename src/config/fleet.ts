import { isServiceLink } from "./settings.ts";

const PROXIES = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].flatMap((name) => [
  name,
  name.toLowerCase(),
]);

/** Values with which a variable of OpenTelemetry asks for nothing that the service does not do. */
const AGREEING = {
  OTEL_METRICS_EXPORTER: /^(?:none|prometheus)$/i,
  OTEL_LOGS_EXPORTER: /^none$/i,
  OTEL_TRACES_EXPORTER: /^none$/i,
  OTEL_SDK_DISABLED: /^true$/i,
  OTEL_PROPAGATORS: /^(?:baggage,)?tracecontext(?:,baggage)?$/i,
} as const;
const OTHERS_OF_OTEL = ["OTEL_RESOURCE_ATTRIBUTES"];
/** `OTEL_COLLECTOR_PORT_4318_TCP` is a service link of Kubernetes. */
const LINK = /_SERVICE_(?:HOST|PORT\w*)$|_PORT(?:_\d+_(?:TCP|UDP|SCTP)\w*)?$/;

const SYSTEMD = {
  NOTIFY_SOCKET: "is not followed: the service does not notify systemd. Use Type=exec",
  WATCHDOG_USEC: "is not followed: the service does not notify a watchdog. Remove WatchdogSec=",
  LISTEN_FDS: "is not followed: the service opens its own listeners. Remove the .socket unit",
} as const;

/** Containers and platforms that forward requests to this machine's own address. */
const PLATFORMS = ["KUBERNETES_SERVICE_HOST", "K_SERVICE", "DYNO", "RENDER", "FLY_APP_NAME"];

function optionsOf(variables: NodeJS.ProcessEnv): string[] {
  return [...process.execArgv, variables["NODE_OPTIONS"] ?? ""];
}

/**
 * Returns a sentence for each variable that an operator sets for a whole fleet and that a program does not follow: the service, the
 * gateway or the bridge. `read`: the variables that its configuration reads.
 */
export function findUnfollowed(
  variables: NodeJS.ProcessEnv,
  read: readonly string[],
  options: readonly string[] = optionsOf(variables),
): string[] {
  const isService = read.includes("DATABASE_URL");
  // The bridge publishes with `fetch`.
  const isUsed = !isService && read.includes("PARTNER_API_URL") && usesProxies(variables, options);
  const isSet = (name: string) => (variables[name] ?? "").trim() !== "";
  return [
    ...links(variables, read),
    ...files(isSet, read),
    ...telemetry(Object.keys(variables).filter(isSet), variables, read),
    ...proxies((name) => isSet(name) && !(isUsed && /^https?_proxy$/i.test(name))),
    ...authorities(variables, options, isSet),
    ...(isService ? ofService(variables, isSet) : []),
    ...Object.entries(SYSTEMD)
      .filter(([name]) => isSet(name))
      .map(([name, sentence]) => `${name} ${sentence}`),
  ];
}

/** Options of Node.js that our dependencies cannot run with: they compile schemas, or replace the format of a stack trace. */
const FORBIDDING =
  /--(?:disallow[-_]code[-_]generation[-_]from[-_]strings|frozen[-_]intrinsics)\b/g;

/** Returns a sentence for each option of Node.js with which the service cannot run. */
export function findForbidding(
  variables: NodeJS.ProcessEnv,
  options: readonly string[] = optionsOf(variables),
): string[] {
  const forbidding = options
    .flatMap((option) => option.match(FORBIDDING) ?? [])
    .map((option) => `Node.js must not run with ${option}: the service cannot work then`);
  const hasNoThread =
    (variables["EVENT_TYPES"] ?? "") !== "" &&
    options.some((option) => /--permission(?![\w-])/.test(option)) &&
    !options.some((option) => option.includes("--allow-worker"));
  return hasNoThread
    ? [
        ...forbidding,
        "Node.js with --permission needs --allow-worker: a thread checks large events",
      ]
    : forbidding;
}

/** Returns the first variable by which one sees that others forward requests to this machine. */
export function platformOf(variables: NodeJS.ProcessEnv): string | null {
  return PLATFORMS.find((name) => (variables[name] ?? "") !== "") ?? null;
}

function links(variables: NodeJS.ProcessEnv, read: readonly string[]): string[] {
  return read
    .filter((name) => isServiceLink(name, (variables[name] ?? "").trim()))
    .map((name) => `${name} is ignored: it is a service link of Kubernetes, not a port`);
}

/** Images of others read a secret from the file that such a variable names. */
function files(isSet: (name: string) => boolean, read: readonly string[]): string[] {
  return read
    .filter((name) => isSet(`${name}_FILE`))
    .map((name) => `${name}_FILE is not read: set ${name} to the content of the file`);
}

function telemetry(
  names: string[],
  variables: NodeJS.ProcessEnv,
  read: readonly string[],
): string[] {
  const agrees = (name: string) =>
    name in AGREEING &&
    AGREEING[name as keyof typeof AGREEING].test((variables[name] ?? "").replaceAll(" ", ""));
  const unread = names.filter(
    (name) =>
      name.startsWith("OTEL_") &&
      ![...read, ...OTHERS_OF_OTEL].includes(name) &&
      !LINK.test(name) &&
      !agrees(name),
  );
  const exporters = (variables["OTEL_TRACES_EXPORTER"] ?? "").trim();
  const exportsSpans = /^(?:$|none$|(?:.*,)?\s*otlp\s*(?:,|$))/i.test(exporters);
  return [
    ...(exportsSpans || !read.includes("OTEL_TRACES_EXPORTER")
      ? []
      : ["OTEL_TRACES_EXPORTER names no exporter that the service has (otlp): nothing is traced"]),
    ...(unread.length === 0
      ? []
      : [
          `${unread.sort().join(", ")}: not followed, see "Variables of a fleet" in configuration.md`,
        ]),
  ];
}

const MAY_USE_PROXIES = process.allowedNodeEnvironmentFlags.has("--use-env-proxy");

/** Whether the `fetch` of Node.js uses the proxies that HTTP_PROXY and HTTPS_PROXY name. */
function usesProxies(variables: NodeJS.ProcessEnv, options: readonly string[]): boolean {
  const isAsked =
    variables["NODE_USE_ENV_PROXY"] === "1" ||
    options.some((option) => /--use-env-proxy\b/.test(option));
  return MAY_USE_PROXIES && isAsked;
}

/** This machine, in the spellings that `fetch` compares. */
const HERE = ["localhost", "127.0.0.1", "::1", "[::1]"];

/** Lets `fetch` ask this machine without a proxy, which would get the operators' token and reach another machine. */
export function askHereDirectly(
  variables: NodeJS.ProcessEnv,
  options: readonly string[] = optionsOf(variables),
): void {
  if (!usesProxies(variables, options)) return;
  const { no_proxy, NO_PROXY } = variables;
  variables["no_proxy"] = [no_proxy ?? NO_PROXY ?? "", ...HERE].join();
}

function proxies(isSet: (name: string) => boolean): string[] {
  const names = PROXIES.filter(isSet).join(", ");
  return names === "" ? [] : [`${names}: not followed. All connections are made without a proxy`];
}

function* authorities(
  variables: NodeJS.ProcessEnv,
  options: readonly string[],
  isSet: (name: string) => boolean,
): Iterable<string> {
  const usesSystem =
    variables["NODE_USE_SYSTEM_CA"] === "1" ||
    options.some((option) => /--use-(?:system|openssl)-ca\b/.test(option));
  for (const name of ["SSL_CERT_FILE", "SSL_CERT_DIR"].filter(isSet)) {
    if (!usesSystem) {
      yield `${name} is read only with --use-openssl-ca or --use-system-ca: use NODE_EXTRA_CA_CERTS, or EGRESS_CA_FILE for receivers`;
    }
  }
  const knowsSystem = process.allowedNodeEnvironmentFlags.has("--use-system-ca");
  if (variables["NODE_USE_SYSTEM_CA"] === "1" && !knowsSystem) {
    yield `NODE_USE_SYSTEM_CA is not followed by Node.js ${process.versions.node}: use NODE_EXTRA_CA_CERTS`;
  }
}

function* ofService(
  variables: NodeJS.ProcessEnv,
  isSet: (name: string) => boolean,
): Iterable<string> {
  if (variables["NODE_TLS_REJECT_UNAUTHORIZED"] === "0") {
    yield "NODE_TLS_REJECT_UNAUTHORIZED is not followed for receivers and the database: EGRESS_CA_FILE and sslmode decide";
  }
  const isChosen = ["DATA_DIR", "DATABASE_URL"].some(isSet);
  if (isSet("STATE_DIRECTORY") && !isChosen) {
    yield "STATE_DIRECTORY is not read: set DATA_DIR to it";
  }
  const platform = platformOf(variables);
  if (platform !== null && !isChosen) {
    yield `neither DATABASE_URL nor DATA_DIR is set: the platform (${platform} is set) may remove the built-in database with the instance`;
  }
}
