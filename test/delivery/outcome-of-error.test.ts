import assert from "node:assert/strict";
import { test } from "node:test";
import { type DialError, outcomeOfDial } from "../../src/delivery/outcome-of-error.ts";

const failed = (code: string, family: 4 | 6 = 4, isLocal = false): DialError => ({
  code,
  family,
  isLocal,
});

const OUTCOMES: [what: string, errors: DialError[], outcome: string][] = [
  ["a refusal", [failed("ECONNREFUSED")], "connection_refused"],
  ["a reset", [failed("ECONNRESET")], "connection_reset"],
  ["silence that the system gave up on", [failed("ETIMEDOUT")], "timeout"],
  ["a host that is not reachable", [failed("EHOSTUNREACH")], "network_error"],
  ["an error that nobody thought of", [failed("EWHATEVER")], "network_error"],
  [
    "no IPv6 route, for a host that has only IPv6",
    [failed("ENETUNREACH", 6, true)],
    "network_error",
  ],
  [
    "no IPv6 route, for a host whose IPv4 refuses",
    [failed("ENETUNREACH", 6, true), failed("ECONNREFUSED")],
    "connection_refused",
  ],
  ["a network that a router cannot reach", [failed("ENETUNREACH", 4, false)], "network_error"],
  ["no IPv4 route of ours", [failed("ENETUNREACH", 4, true)], "no_route"],
  [
    "no IPv4 route of ours, though IPv6 refuses",
    [failed("ENETUNREACH", 4, true), failed("ECONNREFUSED", 6)],
    "no_route",
  ],
  ["no descriptors", [failed("EMFILE", 4, true)], "no_descriptors"],
  ["no descriptors in the whole system", [failed("ENFILE", 4, true)], "no_descriptors"],
  ["no ports", [failed("EADDRNOTAVAIL", 4, true)], "no_ports"],
  [
    "no ports for the second address",
    [failed("ECONNREFUSED"), failed("EADDRNOTAVAIL")],
    "no_ports",
  ],
];

for (const [what, errors, expected] of OUTCOMES) {
  test(`failing to connect by ${what} counts as ${expected}`, () => {
    const outcome = outcomeOfDial(errors);
    const said =
      outcome.kind === "our-fault" ? outcome.fault : "reason" in outcome ? outcome.reason : null;
    assert.equal(said, expected);
    const isOurs = ["no_route", "no_descriptors", "no_ports"].includes(expected);
    assert.equal(outcome.kind, isOurs ? "our-fault" : "unreachable");
  });
}
