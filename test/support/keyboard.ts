import assert from "node:assert/strict";
import type { Page } from "playwright-core";

/** Where the focus is. `y` and `end` are the edges of the control on the page. */
interface Stop {
  name: string;
  tag: string;
  isSeen: boolean;
  isInMain: boolean;
  y: number;
  end: number;
}

const STOP = `(() => {
  const at = document.activeElement;
  const { outlineStyle, outlineWidth } = getComputedStyle(at);
  const { top, bottom, width } = at.getBoundingClientRect();
  const name = at.getAttribute("aria-label") ?? at.labels?.[0]?.innerText ?? at.innerText;
  return {
    name: name.trim(),
    tag: at.tagName.toLowerCase(),
    isSeen: outlineStyle !== "none" && outlineWidth !== "0px" && width > 1,
    isInMain: at.closest("main") !== null && at.tagName !== "MAIN",
    y: top + scrollY,
    end: bottom + scrollY,
  };
})()`;

/** Between the last control of a page and its first one, the focus is on none. */
const STOPS_MAX = 80;

export function focused(page: Page): Promise<Stop> {
  return page.evaluate<Stop>(STOP);
}

/** Waits until what has the focus is called so. */
export async function focusedIs(page: Page, tag: string, name: string | RegExp): Promise<void> {
  const deadline = Date.now() + 30_000;
  for (;;) {
    const { name: found, tag: of } = await focused(page);
    if (of === tag && isCalled(found, name)) return;
    assert.ok(Date.now() < deadline, `the focus is on ${of} "${found}", not on ${tag} "${name}"`);
    await page.waitForTimeout(50);
  }
}

/** Presses Tab until the control of this name has the focus. Each stop is seen, and none is above the one before. */
export async function tabTo(page: Page, name: string | RegExp): Promise<void> {
  const passed: string[] = [];
  let last = await focused(page);
  for (let n = 0; n < STOPS_MAX; n++) {
    await page.keyboard.press("Tab");
    const stop = await focused(page);
    if (stop.tag !== "body") {
      assert.ok(stop.isSeen, `nothing shows that "${stop.name}" has the focus`);
      const isOnward = !last.isInMain || !stop.isInMain || stop.end > last.y;
      assert.ok(isOnward, `"${stop.name}" comes after "${last.name}", and stands above it`);
    }
    if (isCalled(stop.name, name)) return;
    passed.push(stop.name);
    last = stop;
  }
  assert.fail(`Tab does not lead to "${name}": ${passed.join(", ")}`);
}

/** Tab to a control, and Enter. */
export async function enter(page: Page, name: string | RegExp): Promise<void> {
  await tabTo(page, name);
  await page.keyboard.press("Enter");
}

function isCalled(found: string, name: string | RegExp): boolean {
  return typeof name === "string" ? found === name : name.test(found);
}
