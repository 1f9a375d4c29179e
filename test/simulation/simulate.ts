import type { Database } from "../../src/postgres/database.ts";
import {
  type Act,
  attemptingNow,
  deleting,
  holding,
  pinging,
  postponing,
  publishing,
  recording,
  redelivering,
} from "./acts.ts";
import { claiming } from "./claiming.ts";
import type { Process } from "./process.ts";
import type { Ask, HeldUp, Step, Story } from "./steps.ts";
import { World } from "./world.ts";

export interface Tally {
  events: number;
  deliveries: number;
  sent: number;
  failures: number;
  disabled: number;
}

/** Runs a story and then lets all deliveries finish. Throws if the contract is broken. */
export async function simulate(db: Database, { skews, receivers, steps }: Story): Promise<Tally> {
  const world = new World(db, skews);
  await world.open();
  for (const [index, does] of receivers.entries()) {
    world.behave(pick(world.subscriptions, index).id, does);
  }
  for (const step of steps) await take(world, step);
  await finishAll(world);
  world.checkNothingLost();

  const { deliveries, attempts, subscriptions } = world.state;
  return {
    events: new Set(Object.values(deliveries).map((d) => d.event)).size,
    deliveries: Object.keys(deliveries).length,
    sent: world.sent,
    failures: Object.values(attempts)
      .flat()
      .filter((a) => a.reason !== null).length,
    disabled: Object.values(subscriptions).filter((s) => s.disabledAt !== null).length,
  };
}

async function take(world: World, step: Step): Promise<void> {
  if ("ask" in step) {
    const { process, act } = actOf(world, step) ?? {};
    if (process && act) await world.do(process, act);
  } else if ("broken" in step) {
    const { process, act } = actOf(world, step.broken) ?? {};
    if (process && act) await world.breakOff(process, act, step.at);
  } else if ("held" in step) {
    await takeTogether(world, step);
  } else if ("subscribe" in step) {
    await world.subscribe(pick(world.organizations, step.subscribe));
  } else if ("receiver" in step) {
    world.behave(pick(world.subscriptions, step.receiver).id, step.does);
  } else if ("wait" in step) {
    world.wait(step.wait);
  } else if ("answer" in step) {
    const busy = world.processes.filter(({ inFlight }) => inFlight.length > 0);
    if (busy.length > 0) await world.answer(pick(busy, step.answer), step.count);
  } else if ("attempt" in step) {
    await attempt(world, pick(world.processes, step.attempt), step.quota);
  } else if ("crash" in step) {
    pick(world.processes, step.crash).crash();
  } else {
    const process = pick(world.processes, step.process);
    for (let i = 0; i < step.rounds && world.waitForDue(process); i++) {
      await round(world, process, step);
    }
  }
}

async function takeTogether(world: World, step: HeldUp): Promise<void> {
  const held = actOf(world, step.held);
  const meanwhile = actOf(world, step.meanwhile);
  if (held && meanwhile) await world.holdUp({ ...held, ...step }, meanwhile);
  else if (held) await world.do(held.process, held.act);
  else if (meanwhile) await world.do(meanwhile.process, meanwhile.act);
}

/** One process claims due deliveries and waits for the responses. */
async function attempt(world: World, process: Process, quota: number): Promise<void> {
  const bounds = { order: world.subscriptions, limit: Infinity };
  await world.do(process, claiming(process, quota, bounds));
  await world.answer(process, Infinity);
  for (const ms of [9_900, 100]) {
    if (process.inFlight.length === 0) break;
    world.wait(ms);
    await world.answer(process, Infinity);
  }
}

/** Attempts and then records everything. The first recording may be broken off. */
async function round(
  world: World,
  process: Process,
  { quota, at = Infinity }: { quota: number; at?: number },
): Promise<void> {
  await attempt(world, process, quota);
  if (process.ended.length > 0) await world.breakOff(process, recording(process, Infinity), at);
  if (process.ended.length > 0) await world.do(process, recording(process, Infinity));
  if (process.kept.length > 0) await world.do(process, postponing(process));
}

/** Makes all receivers accept and lets one process finish the rest. */
async function finishAll(world: World): Promise<void> {
  for (const { id } of world.subscriptions) world.behave(id, "acknowledge");
  const [process, ...others] = world.processes;
  for (const other of others) other.crash();
  for (const subscribed of world.subscriptions) {
    if (process && world.isHeld(subscribed.id)) await world.do(process, holding(subscribed, false));
  }
  while (process && world.waitForDue(process)) await round(world, process, { quota: 1000 });
}

/** Returns null if the act is impossible now. */
function actOf(world: World, ask: Ask): { process: Process; act: Act } | null {
  const { processes, organizations, deliveries } = world;
  const left = world.subscriptions.filter(({ id }) => !world.isDeleted(id));
  const present = left.length > 0 ? left : world.subscriptions;
  const asking = (act: (process: Process) => Act, among = processes) => {
    const process = among.length === 0 ? null : pick(among, ask.process);
    return process && { process, act: act(process) };
  };
  switch (ask.ask) {
    case "claim":
      return asking((process) =>
        claiming(process, ask.quota, { order: world.subscriptions, ...ask }),
      );
    case "record": {
      const busy = processes.filter(({ ended }) => ended.length > 0);
      return asking((process) => recording(process, ask.count, ask), busy);
    }
    case "postpone": {
      const busy = processes.filter(({ kept }) => kept.length > 0);
      return asking((process) => postponing(process), busy);
    }
    case "publish":
      return asking(() => publishing(pick(organizations, ask.organization), ask.keys, ask));
    case "ping":
      return asking((process) =>
        pinging(process, pick(present, ask.subscription), ask.lent ? 1 : 0),
      );
    case "delete":
      return asking(() => deleting(pick(present, ask.subscription)));
    case "redeliver":
      if (deliveries.length === 0) return null;
      return asking(() => redelivering(pick(deliveries, ask.delivery)));
    case "attemptNow":
      if (deliveries.length === 0) return null;
      return asking(() => attemptingNow(pick(deliveries, ask.delivery)));
    case "hold":
      return asking(() => holding(pick(present, ask.subscription), ask.held));
  }
}

function pick<Item>(items: Item[], index: number): Item {
  const item = items[index % items.length];
  if (item === undefined) throw new Error("there is nothing to pick from");
  return item;
}
