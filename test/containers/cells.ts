import { setTimeout as sleep } from "node:timers/promises";
import { guideCommand } from "../support/guide.ts";
import { type Given, Trial } from "./trial.ts";

const FILES = ["compose.yaml", "compose.cells.yaml"];

/** compose.cells.yaml: what happens to a cell, the other does not notice. */
export async function tryCells(given: Given): Promise<void> {
  const trial = await Trial.open(given, { files: FILES, nodes: ["node-a", "node-b"] });
  await trial.shell(await guideCommand(/^docker compose .*cells.* up --build --wait$/));
  const one = await trial.partner("of-00", { cell: "00" });
  const other = await trial.partner("of-01", { cell: "01" });
  for (const [name, partner] of [
    ["00", one],
    ["01", other],
  ] as const)
    await trial.during(`cell ${name}`, partner, () => sleep(3_000), { failedMax: 0 });

  const crash = async (...services: string[]) => {
    for (const service of services) await trial.crash(service);
    await sleep(1_000);
    await trial.healthy("balancer", "gateway", ...services);
  };
  const isUntouched = { failedMax: 0 };
  await trial.during(
    "cell 00 while 01 is killed",
    one,
    () => crash("node-b", "database-01"),
    isUntouched,
  );
  await trial.during(
    "cell 01 while 00 is killed",
    other,
    () => crash("node-a", "database"),
    isUntouched,
  );
  await trial.during("cell 01 while it is killed", other, () => crash("node-b", "database-01"));
  await trial.during(
    "cell 00 while the gateway is killed",
    one,
    () => crash("gateway"),
    isUntouched,
  );
  await trial.compose("down", "--volumes");
}
