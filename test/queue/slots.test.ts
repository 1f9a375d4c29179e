import assert from "node:assert/strict";
import { test } from "node:test";
import { Due } from "../../src/queue/due.ts";
import { type SlotHolder, Slots } from "../../src/queue/slots.ts";

/** `a1` is a subscription of the organization `a`. */
function of(id: string, host = `${id}.test`): SlotHolder {
  return { subscriptionId: id, organizationId: id.charAt(0), url: `https://${host}/` };
}

function queueOf(ids: string[]): Due {
  const due = new Due({ listDue: () => assert.fail("no scan"), pollIntervalMs: 0 });
  due.add(ids.map((id) => of(id)));
  return due;
}

function quotas(slots: Slots, ids: string[]): Record<string, number> {
  const wanted = slots.allot(queueOf(ids)).quotas;
  return Object.fromEntries(wanted.map((s) => [s.subscriptionId, s.quota]));
}

function hold(slots: Slots, count: number, id: string, host?: string): void {
  for (let n = 0; n < count; n++) slots.take(of(id, host));
}

/** Ends an attempt that began at 0. */
function end(slots: Slots, signal: "answered" | "unanswered", id: string, nowMs = 10_000): void {
  slots.note(of(id), signal, 0, nowMs);
  slots.give(of(id));
}

/** Lets a subscription earn a limit. */
function earn(slots: Slots, id: string, limit: number): void {
  hold(slots, limit, id);
  for (let n = 0; n < limit; n++) slots.note(of(id), "answered", 0, 1);
  for (let n = 0; n < limit; n++) slots.give(of(id));
}

test("a subscription begins with sixteen attempts at once", () => {
  assert.deepEqual(quotas(new Slots(256, 128), ["a"]), { a: 16 });
});

test("a subscription gets sixteen slots in one claim, or more if its limit is higher and few others wait", () => {
  const slots = new Slots(256, 128);
  earn(slots, "a", 100);
  assert.deepEqual(quotas(slots, ["a", "b", "c", "d", "e"]), {
    b: 16,
    c: 16,
    d: 16,
    e: 16,
    a: 16,
  });
  assert.deepEqual(quotas(slots, ["a"]), { a: 64 });
});

test("no subscription gets more than the ceiling", () => {
  const slots = new Slots(256, 20);
  earn(slots, "a", 100);
  assert.deepEqual(quotas(slots, ["a"]), { a: 20 });
});

test("a subscription at its limit gets no slot until one of its attempts ends", () => {
  const slots = new Slots(10, 2);
  hold(slots, 2, "a");
  assert.deepEqual([quotas(slots, ["a"]), slots.saturatedOf("a")], [{}, ["a"]]);
  assert.deepEqual([slots.isAtLimit("a"), slots.isAtLimit("b")], [true, false]);
  slots.give(of("a"));
  assert.deepEqual([quotas(slots, ["a"]), slots.saturatedOf("a")], [{ a: 1 }, []]);
});

test("a subscription is still at its limit if the limit falls below the slots that it holds", () => {
  const slots = new Slots(100, 16);
  hold(slots, 16, "a");
  end(slots, "unanswered", "a");
  assert.deepEqual(slots.saturatedOf("a"), ["a"]);
});

test("a receiver that does not answer gets one attempt at a time", () => {
  const slots = new Slots(64, 32);
  hold(slots, 4, "a");
  for (let n = 0; n < 4; n++) end(slots, "unanswered", "a");
  assert.deepEqual(quotas(slots, ["a"]), { a: 1 });
});

test("the organization with the fewest slots comes first", () => {
  const slots = new Slots(256, 128);
  hold(slots, 2, "a1");
  hold(slots, 1, "b1");
  assert.deepEqual(Object.keys(quotas(slots, ["a2", "b2", "c1"])), ["c1", "b2", "a2"]);
});

test("within an organization the subscription with the fewest slots comes first", () => {
  const slots = new Slots(256, 128);
  hold(slots, 1, "a1");
  assert.deepEqual(Object.keys(quotas(slots, ["a1", "a2"])), ["a2", "a1"]);
});

test("a sole organization gets nine tenths of the slots", () => {
  const slots = new Slots(20, 20);
  hold(slots, 17, "a1");
  assert.deepEqual(quotas(slots, ["a2", "a3"]), { a2: 1 });
  hold(slots, 1, "a2");
  assert.deepEqual(quotas(slots, ["a3"]), {});
  assert.ok(slots.isContended);
});

test("the last tenth is for organizations below their share", () => {
  const slots = new Slots(100, 100);
  hold(slots, 45, "a1");
  hold(slots, 45, "b1");
  assert.deepEqual(quotas(slots, ["a2", "b2", "c1"]), { c1: 9 });
});

test("while an organization below its share waits, the others get nothing", () => {
  const slots = new Slots(100, 100);
  hold(slots, 60, "a1");
  assert.deepEqual(quotas(slots, ["a2", "b1"]), { b1: 16 });
  assert.deepEqual(quotas(slots, ["a2"]), { a2: 16 }, "it may use slots that nobody else wants");
});

test("while few slots are free, a receiver that answers promptly still gets sixteen", () => {
  const slots = new Slots(60, 60);
  for (const id of ["a1", "b1", "c1", "d1", "e1", "f1"]) {
    slots.note(of(id), id === "a1" ? "answered" : "none", 0, 1_000);
  }
  assert.deepEqual(quotas(slots, ["a1", "b1", "c1", "d1", "e1", "f1"]), {
    a1: 16,
    b1: 9,
    c1: 9,
    d1: 9,
    e1: 9,
    f1: 9,
  });
  slots.note(of("a1"), "answered", 0, 1_001);
  assert.equal(quotas(slots, ["a1", "b1", "c1", "d1", "e1", "f1"])["a1"], 9);
});

test("several that arrive together get equal quotas", () => {
  const slots = new Slots(20, 20);
  const ids = ["a1", "a2", "b1", "b2", "c1", "d1", "e1", "f1"];
  assert.deepEqual(quotas(slots, ids), { a1: 3, b1: 3, c1: 3, d1: 3, e1: 3, f1: 3 });
});

test("a host that does not answer gets an eighth of the slots at most, for any number of organizations", () => {
  const slots = new Slots(40, 40);
  const ids = "abcd".split("");
  for (const id of ids) {
    slots.hasRoomFor(of(id, "dead.test"));
    hold(slots, 1, id, "dead.test");
  }
  for (const id of "efghijklmnopqrstuvwxyz") hold(slots, 1, id);
  slots.note(of("a", "dead.test"), "unanswered", 0, 1);
  assert.equal(slots.hasRoomFor(of("z", "dead.test")), true);
  hold(slots, 1, "a", "dead.test");
  assert.equal(slots.hasRoomFor(of("z", "dead.test")), false);
  assert.deepEqual(quotas(slots, ["b", "c"]), {}, "both are at the host");
  assert.deepEqual([slots.isAtLimit("b"), slots.isAtLimit("N")], [true, false]);
  assert.equal(Object.keys(quotas(slots, ["N"])).length, 1, "a newcomer elsewhere");

  slots.note(of("a", "dead.test"), "answered", 0, 3);
  assert.equal(slots.hasRoomFor(of("z", "dead.test")), true, "healthy hosts are not limited");
});

test("a host that does not answer gets the share of an organization, if that is more than an eighth", () => {
  const slots = new Slots(40, 40);
  slots.note(of("a", "dead.test"), "unanswered", 0, 1);
  hold(slots, 17, "a", "dead.test");
  assert.equal(slots.hasRoomFor(of("b", "dead.test")), true);
  hold(slots, 1, "b", "dead.test");
  assert.equal(slots.hasRoomFor(of("b", "dead.test")), false);
});

/** A host at which the organization `a` holds its share. Returns whether `b` may begin an attempt there. */
function aSharedHost() {
  const slots = new Slots(40, 40);
  hold(slots, 36, "a", "shared.test");
  return {
    note: (signal: "answered" | "unanswered", beganMs: number, nowMs: number) =>
      slots.note(of("a", "shared.test"), signal, beganMs, nowMs),
    isOpen: () => slots.hasRoomFor(of("b", "shared.test")),
  };
}

test("at a host that does not answer and has its share, the end of an attempt lets another subscription begin", () => {
  const slots = new Slots(1_000, 256);
  const holder = of("a", "dead.test");
  slots.hasRoomFor(holder);
  slots.note(holder, "unanswered", 0, 10_000);
  const isAwaited = () => slots.isAwaited(holder, { knows: () => false });
  for (const id of "bcdefghij") hold(slots, 1, id);
  hold(slots, 124, "a", "dead.test");
  assert.equal(isAwaited(), false, "there is room for others");
  hold(slots, 1, "a", "dead.test");
  assert.equal(isAwaited(), true, "an eighth of all slots");
});

test("one path that answers does not lift the limit of a host whose other paths hang", () => {
  const host = aSharedHost();
  host.note("unanswered", 0, 10_000);
  for (let ms = 10_000; ms < 25_000; ms += 100) {
    host.note("answered", ms, ms + 50);
    assert.equal(host.isOpen(), false, `${ms} ms`);
  }
  host.note("answered", 30_000, 30_050);
  assert.equal(host.isOpen(), true, "no attempt failed for two timeouts");
});

test("one path that hangs does not limit a shared host that answers many others", () => {
  const host = aSharedHost();
  for (let ms = 0; ms < 60_000; ms += 10) {
    host.note("answered", ms, ms + 50);
    if (ms > 0 && ms % 10_000 === 0) host.note("unanswered", ms - 10_000, ms);
    assert.equal(host.isOpen(), true, `${ms} ms`);
  }
});

test("a subscription that is answered promptly does not wait for others that hang at its host", () => {
  const slots = new Slots(40, 40);
  hold(slots, 36, "a", "shared.test");
  slots.note(of("b", "shared.test"), "answered", 9_990, 10_000);
  slots.note(of("a", "shared.test"), "unanswered", 0, 10_000);
  const mayBegin = (id: string) => slots.hasRoomFor(of(id, "shared.test"));
  assert.deepEqual([mayBegin("b"), mayBegin("c")], [true, false]);
  assert.deepEqual(Object.keys(quotas(slots, ["b", "c"])), ["b"]);

  slots.note(of("b", "shared.test"), "unanswered", 10_000, 20_000);
  assert.deepEqual([mayBegin("b"), quotas(slots, ["b"])], [false, {}]);
});

test("a claim names no subscriptions of a silent host above its share", () => {
  const slots = new Slots(256, 128);
  hold(slots, 200, "z", "dead.test");
  for (const id of ["a1", "b1"]) slots.hasRoomFor(of(id, "dead.test"));
  slots.note(of("z", "dead.test"), "unanswered", 0, 10_000);
  assert.deepEqual(quotas(slots, ["a1", "b1", "c1"]), { a1: 16, b1: 14, c1: 16 });
});

test("at most one burst of attempts begins together, for any number of free slots", () => {
  assert.equal(new Slots(1_000, 16).allot(queueOf(["a"])).limit, 64);
});

test("without slots there are no quotas", () => {
  const slots = new Slots(1, 1);
  hold(slots, 1, "a");
  assert.deepEqual(quotas(slots, ["b"]), {});
});

/** What a publication for these organizations may reserve. */
function spare(slots: Slots, ...organizations: string[]) {
  return slots.spareFor(new Set(organizations));
}

test("a publication reserves slots beyond half of all", () => {
  const slots = new Slots(6, 2);
  assert.deepEqual(spare(slots, "a"), { slots: 3, full: [] });
  hold(slots, 1, "a");
  assert.deepEqual(spare(slots, "a"), { slots: 2, full: [] });
});

test("while others hold most slots, a publication for an organization below its share reserves some of the rest", () => {
  const slots = new Slots(100, 100);
  hold(slots, 90, "a");
  assert.deepEqual(spare(slots, "a", "b"), { slots: 5, full: ["a"] });
  const free = slots.reserve(5);
  assert.deepEqual(spare(slots, "b"), { slots: 2, full: [] });
  free();
  assert.equal(spare(slots, "a").slots, 0, "nobody would use them");
  hold(slots, 10, "c");
  assert.equal(spare(slots, "b").slots, 0);
});
