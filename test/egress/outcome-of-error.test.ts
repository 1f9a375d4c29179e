import assert from "node:assert/strict";
import { constants } from "node:os";
import { test } from "node:test";
import { type DialError, type LocalChecks, outcomeOfDial } from "../../src/egress/dial.ts";
import { outcomeOfError } from "../../src/egress/outcome.ts";

const failed = (code: string, family: 4 | 6 = 4): DialError => ({ code, family });
const REFUSED = failed("ECONNREFUSED");
const NO_NET = failed("ENETUNREACH");
const NO_NET_6 = failed("ENETUNREACH", 6);
const NO_ADDRESS = failed("EADDRNOTAVAIL");
const NO_ADDRESS_6 = failed("EADDRNOTAVAIL", 6);

const sound: LocalChecks = {
  hasLostIpv4: () => Promise.resolve(false),
  hasPorts: () => Promise.resolve(true),
  hasLostIpv6Source: () => Promise.resolve(false),
};
const withoutRoute = { ...sound, hasLostIpv4: () => Promise.resolve(true) };
const withoutPorts = { ...sound, hasPorts: () => Promise.resolve(false) };

const withoutSource = { ...sound, hasLostIpv6Source: () => Promise.resolve(true) };

const OUTCOMES: [what: string, errors: DialError[], outcome: string, localChecks?: LocalChecks][] =
  [
    ["a refusal", [REFUSED], "connection_refused"],
    ["a reset", [failed("ECONNRESET")], "connection_reset"],
    ["a timeout of the system", [failed("ETIMEDOUT")], "timeout"],
    ["a host that is not reachable", [failed("EHOSTUNREACH")], "network_error"],
    ["an unknown error", [failed("EWHATEVER")], "network_error"],
    ["no IPv6 route, for a host that has only IPv6", [NO_NET_6], "network_error", withoutRoute],
    [
      "no IPv6 route, for a host whose IPv4 refuses",
      [NO_NET_6, REFUSED],
      "connection_refused",
      withoutRoute,
    ],
    [
      "no IPv6 address of ours, for a host that has only IPv6",
      [NO_ADDRESS_6],
      "network_error",
      withoutPorts,
    ],
    [
      "the IPv6 address that we are to send from is gone",
      [NO_ADDRESS_6],
      "no_ports",
      withoutSource,
    ],
    [
      "no IPv6 address of ours, for a host whose IPv4 refuses",
      [REFUSED, NO_ADDRESS_6],
      "connection_refused",
      withoutPorts,
    ],
    ["a network that a router cannot reach", [NO_NET], "network_error"],
    ["no IPv4 route of ours", [NO_NET], "no_route", withoutRoute],
    [
      "no IPv4 route of ours, though IPv6 refuses",
      [NO_NET, failed("ECONNREFUSED", 6)],
      "no_route",
      withoutRoute,
    ],
    ["no descriptors", [failed("EMFILE")], "no_descriptors"],
    ["no descriptors in the whole system", [failed("ENFILE")], "no_descriptors"],
    ["no ports", [NO_ADDRESS], "no_ports", withoutPorts],
    ["no ports for the second address", [REFUSED, NO_ADDRESS], "no_ports", withoutPorts],
    ["no ports for this address only", [NO_ADDRESS], "deferred"],
  ];

for (const [what, errors, expected, localChecks = sound] of OUTCOMES) {
  test(`failing to connect by ${what} counts as ${expected}`, async () => {
    const outcome = await outcomeOfDial(errors, localChecks);
    const said = "fault" in outcome ? outcome.fault : "reason" in outcome && outcome.reason;
    assert.equal(said || outcome.kind, expected);
    const isOurs = ["no_route", "no_descriptors", "no_ports"].includes(expected);
    assert.equal(outcome.kind === "internal-fault", isOurs);
  });
}

/** The codes of a system without free descriptors or memory. */
const OWN_RESOURCES = ["EMFILE", "ENFILE", "ENOBUFS", "ENOMEM"];

const CODES = [...Object.keys(constants.errno), "ERR_SSL_WRONG_VERSION_NUMBER", "CERT_HAS_EXPIRED"];

test("only error codes of local resources are internal faults", async () => {
  for (const code of CODES) {
    const error = Object.assign(new Error(code), { code });
    const outcomes = [
      await outcomeOfDial([failed(code, 4)], sound),
      await outcomeOfDial([failed(code, 6)], { ...withoutRoute, ...withoutPorts }),
      outcomeOfError(error, "handshake"),
      outcomeOfError(error, "response"),
    ];
    for (const { kind } of outcomes) {
      assert.equal(kind === "internal-fault", OWN_RESOURCES.includes(code), code);
    }
  }
});
