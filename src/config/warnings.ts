import { formatDuration } from "../lib/duration.ts";
import { isWide } from "../lib/ip-address.ts";
import type { Config } from "./config.ts";
import { isLoopback, isWildcard } from "./settings.ts";

interface Warning {
  message: string;
  facts?: Record<string, unknown>;
}

/** Returns warnings about settings that are unfit for production. The start logs them, and `doctor` shows them. */
export function warningsOf(config: Config): Warning[] {
  return [
    ...misspelt(config),
    ...config.unfollowed.map((message) => ({ message })),
    ...databases(config),
    ...listeners(config),
    ...egress(config),
    ...history(config),
  ];
}

function misspelt({ misspelt }: Config): Warning[] {
  return misspelt.map(({ name, meant }) => ({
    message: `${name} is not a setting: did you mean ${meant}?`,
  }));
}

function* databases({ unread }: Config): Iterable<Warning> {
  for (const message of unread) yield { message };
}

function* listeners(config: Config): Iterable<Warning> {
  const { role, host, baseUrl, operatorHost, allowedHosts, platform } = config;
  if (!isLoopback(operatorHost)) {
    yield {
      message: "other machines can reach the operators' listener, which speaks plain HTTP",
      facts: { operatorHost },
    };
  }
  if (role === "dispatcher") return;
  if (allowedHosts.includes("*")) {
    yield {
      message:
        "ALLOWED_HOSTS is *: any web page can send requests to the operators' listener from an operator's browser",
    };
  }
  if (platform !== null && isLoopback(host)) {
    yield {
      message: `HOST is ${host}: the platform (${platform} is set) cannot reach the partners' listener. Set HOST to 0.0.0.0 or ::`,
      facts: { host },
    };
  }
  if (isWildcard(host) && baseUrl === null) {
    yield {
      message: "BASE_URL is not set: errors and documents contain a local address of this machine",
      facts: { host },
    };
  }
}

function* egress({ egress: { allow }, egressCaFile }: Config): Iterable<Warning> {
  if (allow.some(isWide)) {
    yield {
      message:
        "EGRESS_ALLOW lets deliveries reach private networks, this machine and its cloud's metadata service: " +
        "name only the networks of your test rig",
      facts: { allowed: allow.length },
    };
  } else if (allow.length > 0) {
    yield {
      message: "EGRESS_ALLOW is set: addresses that are not public can be reached",
      facts: { allowed: allow.length },
    };
  }
  if (egressCaFile) {
    yield {
      message: "EGRESS_CA_FILE is set: its certificates are trusted for receivers",
      facts: { egressCaFile },
    };
  }
}

function* history({ retentionMs, retryDelaysMs }: Config): Iterable<Warning> {
  const retriesMs = retryDelaysMs.reduce((sum, delayMs) => sum + delayMs, 0);
  if (retentionMs >= retriesMs) return;
  yield {
    message:
      `RETENTION (${formatDuration(retentionMs)}) is shorter than the retries of a delivery ` +
      `(${inHours(retriesMs)}): the audit loses the first failures of a delivery before its last attempt is made`,
  };
}

/** Hours, because `32h36m` is easier to read than `1956m`. */
function inHours(ms: number): string {
  const hours = Math.floor(ms / 3_600_000);
  const rest = ms % 3_600_000;
  return hours === 0 || rest === 0 ? formatDuration(ms) : `${hours}h${formatDuration(rest)}`;
}
