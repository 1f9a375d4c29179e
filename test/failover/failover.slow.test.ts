// Depends on: src

import { test } from "node:test";
import { checkFailover } from "./checked.ts";
import { SHORT } from "./failover.ts";

test("no accepted event is lost and no process restarts while a cluster under Patroni switches over and loses its primary", async (t) => {
  await checkFailover(t, SHORT);
});
