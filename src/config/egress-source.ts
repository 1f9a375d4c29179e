import { isIP, isIPv4, isIPv6 } from "node:net";
import type { Source } from "../egress/index.ts";
import type { Environment, Format } from "./environment.ts";
import { isWildcard } from "./formats.ts";

const source: Format<string> = {
  parse: (text) => (isIP(text) !== 0 && !isWildcard(text) ? text : null),
  mustBe: "an IP address of this machine",
  quotable: true,
};

/** Reads at most one address of each family. */
export function readEgressSource(env: Environment): Source {
  const addresses = env.list("EGRESS_SOURCE", source, 2) ?? [];
  const [ipv4 = null, secondIpv4] = addresses.filter((address) => isIPv4(address));
  const [ipv6 = null, secondIpv6] = addresses.filter((address) => isIPv6(address));
  if (secondIpv4 !== undefined || secondIpv6 !== undefined) {
    env.fault("EGRESS_SOURCE", "must have at most one IPv4 address and one IPv6 address");
  }
  return { ipv4, ipv6 };
}
