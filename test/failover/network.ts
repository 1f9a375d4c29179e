import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Afterwards } from "../ledger/afterwards.ts";

/** Where a node runs: with this process on loopback, or in a network namespace. */
export interface Place {
  host: string;
  namespace?: string;
  /** The end of the node's cable on our side. */
  cable?: string;
}

/** Reserved for tests of networks (RFC 2544). */
const NET = "198.18.29";
export const OUR_HOST = `${NET}.1`;

/** Only root may make network namespaces. */
export async function areNamespacesPossible(): Promise<boolean> {
  if (process.getuid?.() !== 0) return false;
  return ip("netns").then(
    () => true,
    () => false,
  );
}

/** Makes a namespace for each node, and a switch between them and this process. */
export async function openNetwork(afterwards: Afterwards, nodes: number): Promise<Place[]> {
  const name = `pa${process.pid}`;
  const bridge = `${name}s`;
  await ip("link", "add", bridge, "type", "bridge");
  afterwards.after(() => ip("link", "del", bridge));
  await ip("addr", "add", `${OUR_HOST}/24`, "dev", bridge);
  await ip("link", "set", bridge, "up");

  const places: Place[] = [];
  for (let node = 1; node <= nodes; node++) {
    const [namespace, cable, host] = [`${name}-${node}`, `${name}c${node}`, `${NET}.${10 + node}`];
    await ip("netns", "add", namespace);
    afterwards.after(() => ip("netns", "del", namespace));
    await ip("link", "add", cable, "type", "veth", "peer", "name", "eth0", "netns", namespace);
    await ip("link", "set", cable, "master", bridge, "up");
    await ip("-n", namespace, "addr", "add", `${host}/24`, "dev", "eth0");
    for (const device of ["eth0", "lo"]) await ip("-n", namespace, "link", "set", device, "up");
    places.push({ host, namespace, cable });
  }
  return places;
}

/** Pulls the node's cable out. Its packets and those to it vanish, and no connection is closed. */
export async function unplug({ cable = "" }: Place): Promise<void> {
  await ip("link", "set", cable, "down");
}

export async function plugIn({ cable = "" }: Place): Promise<void> {
  await ip("link", "set", cable, "up");
}

async function ip(...args: string[]): Promise<void> {
  await promisify(execFile)("ip", args);
}
