import assert from "node:assert/strict";
import { test } from "node:test";
import { marksOfProcesses } from "../../../src/subjects/processes/rules.ts";

const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute));

function aProcess(host: string, version: string, from: number, to: number, ended = false) {
  return {
    ...{ host, version, pid: 1, role: "all" as const, isStopping: false },
    ...{ startedAt: at(from), lastSeenAt: at(to), endedAt: ended ? at(to) : null },
  };
}

test("starts, stops and releases are marked at their times", () => {
  const now = at(60);
  const marks = marksOfProcesses(
    [
      aProcess("c", "1.1.0", 30, 60),
      aProcess("a", "1.0.0", 0, 30, true),
      aProcess("b", "1.0.0", 5, 20),
    ],
    now,
  );
  assert.deepEqual(
    marks.map((mark) => [mark.at.getUTCMinutes(), mark.kind, mark.label]),
    [
      [0, "started", "a 1 started"],
      [30, "stopped", "a 1 stopped"],
      [5, "started", "b 1 started"],
      [20, "stopped", "b 1 stopped"],
      [30, "release", "release 1.1.0 started on c"],
    ],
  );
});
