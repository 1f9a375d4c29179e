// Depends on: docs, site, src, test/browser, CHANGELOG.md

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { Page } from "playwright-core";
import { aBrowserAt, DESKTOP, skip } from "../support/browser.ts";
import { signIn, visit } from "../support/console.ts";
import { freePort } from "../support/free-port.ts";
import { ADMIN_TOKEN, startProgram } from "../support/program.ts";
import { eventIdOf } from "../support/receiver.ts";
import { status } from "../support/receiver-scripts.ts";
import { aRig, aSubscriber, partnerOf } from "../support/rig.ts";

const EVENTS = 40;
const RATE = 20;
/** The deliveries of one run of the job, and so the most that are in flight at the kill. */
const BATCH = RATE / 4;

const button = (page: Page, name: string | RegExp) =>
  page.getByRole("button", { name, exact: true });

/** Successive processes on the same ports, as under a supervisor, with a lease of six seconds. */
async function aNode(t: TestContext) {
  const rig = await aRig(t, {
    ...{ RETRY_DELAYS: "10ms", AUTO_DISABLE_AFTER: "1000", ATTEMPT_TIMEOUT: "2s" },
    ...{ PORT: String(await freePort()), OPERATOR_PORT: String(await freePort()) },
  });
  return () => startProgram(t, rig);
}

/** A partner whose receiver refused all night. Returns the events of its subscription, all dead-lettered. */
async function aNightOfFailures(t: TestContext, program: Awaited<ReturnType<typeof startProgram>>) {
  const { receiver, partner, subscription } = await aSubscriber(t, program);
  receiver.answer(status(500));
  const events: string[] = [];
  for (let i = 0; i < EVENTS; i++) {
    events.push(String((await partner.ping(subscription)).body["event_id"]));
  }
  for (let i = 0; i < 2 * EVENTS; i++) await receiver.next(); // Two attempts of each.
  const journal: string[] = [];
  const recover = () => {
    receiver.answer(({ received, response }) => {
      journal.push(eventIdOf(received));
      response.writeHead(204).end();
    });
  };
  return { partner, subscription, events, journal, recover };
}

/** Reads a number from the page until it is the expected one. */
async function until(read: () => Promise<number>, isWanted: (value: number) => boolean) {
  for (;;) {
    const value = await read();
    if (isWanted(value)) return value;
    await delay(50);
  }
}

test(
  "an operator's night: find an event, send all again over a kill -9, watch it live, sign out",
  { skip },
  async (t) => {
    const start = await aNode(t);
    const first = await start();
    const { partner, subscription, events, journal, recover } = await aNightOfFailures(t, first);
    const { page } = await (await aBrowserAt(first.operatorUrl)).open(t, DESKTOP);

    await signIn(page, "", ADMIN_TOKEN);
    await page.getByRole("heading", { name: "Overview", exact: true }).waitFor();
    await page.reload();
    await page.getByText("live", { exact: true }).waitFor();

    const [event = ""] = events;
    await page.keyboard.press("/");
    await page.keyboard.insertText(event);
    await page.keyboard.press("Enter");
    await page.waitForURL(`**/console#/events/${event}`);
    await page.getByRole("row").getByRole("link", { name: /^dlv_/ }).click();
    await page.getByText("Attempt 2 failed").waitFor();
    await page.getByText("http_500").first().waitFor();

    await visit(page, "#/deliveries?state=dead_lettered&organization=acme");
    await button(page, /^Send again/).click();
    recover();
    await page.getByLabel("Deliveries a second, at most").fill(String(RATE));
    await button(page, `Send ${EVENTS} deliveries again`).click();
    const progress = page.getByRole("progressbar", { name: "Progress" });
    const handled = async () => Number(await progress.getAttribute("aria-valuenow"));
    const half = await until(handled, (done) => done >= EVENTS / 4);
    assert.ok(half < EVENTS, "the job is half way");
    assert.equal(await first.end("SIGKILL"), "SIGKILL");

    const second = await start();
    assert.equal(await until(handled, (done) => done === EVENTS), EVENTS); // The page updates itself.
    await page.getByText("finished", { exact: true }).first().waitFor();
    await until(
      () => Promise.resolve(new Set(journal).size),
      (different) => different === EVENTS,
    );
    assert.deepEqual(new Set(journal), new Set(events));
    assert.ok(journal.length <= EVENTS + BATCH, `${journal.length} requests`);

    await visit(page, "#/overview");
    const published = async () => {
      const text = await page.getByLabel("State of the service").textContent();
      return Number(/In the last 24 hours: ([\d,]+) event/.exec(text ?? "")?.[1]?.replace(",", ""));
    };
    const before = await until(published, (number) => !Number.isNaN(number));
    await partnerOf(second, partner.token).ping(subscription);
    await until(published, (number) => number > before);

    await button(page, "Sign out").click();
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    assert.deepEqual(await page.context().cookies(), []);
  },
);
