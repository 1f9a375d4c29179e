import { isIP } from "node:net";
import { PartnerError } from "../../domain/errors.ts";
import type { HostCheck } from "../route-check.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The route is served for any `Host`, because a foreign web page may read its answer. */
    answersAnyHost?: true;
  }
}

const ANY = "*";
const HOST = /^(?:\[(?<v6>[^\]]*)\]|(?<name>[^:]*?)\.?)(?::\d*)?$/;

/**
 * Refuses requests for a host that is neither loopback, nor an address, nor allowed. Otherwise a web page could point a name of
 * its own at this listener (DNS rebinding), and the browser would send the session there.
 */
export function createHostCheck(allowed: readonly string[]): HostCheck {
  const names = new Set(["localhost", ...allowed]);

  return ({ headers, routeOptions }) => {
    if (names.has(ANY) || routeOptions.config.answersAnyHost) return undefined;
    const { v6, name = "" } = HOST.exec(headers.host ?? "")?.groups ?? {};
    const isKnown =
      v6 === undefined ? isIP(name) === 4 || names.has(name.toLowerCase()) : isIP(v6) === 6;
    if (isKnown) return undefined;
    return new PartnerError(
      "misdirected_request",
      "The name in the Host header is not allowed. ALLOWED_HOSTS lists the allowed names.",
    );
  };
}
