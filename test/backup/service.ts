import type { TestContext } from "node:test";
import { guideCommand } from "../support/guide.ts";
import { startProgram } from "../support/program.ts";
import { aRig, aSubscriber } from "../support/rig.ts";
import type { Backups, Server } from "./server.ts";

export const RING = `first:${Buffer.alloc(32, 1).toString("base64")}`;

/** A service on a server with backups, and a slow receiver, so that attempts are always in flight. */
export async function aService(t: TestContext, rig: Backups) {
  const original = await rig.start(rig.data);
  const { admin } = original;
  await admin`create role partner_owner login`;
  await admin`create role partner_service login`;
  await admin`create database partner owner partner_owner`;
  await rig.run(await guideCommand(/stanza-create/));
  const settings = {
    ...{ ...(await aRig(t)), RETRY_DELAYS: "100ms,1s", SEALING_KEYS: RING },
    SHUTDOWN_GRACE: "1s",
  };
  const env = (server: Server) => ({
    ...settings,
    DATABASE_URL: server.url("partner_service"),
    MIGRATION_DATABASE_URL: server.url("partner_owner"),
  });
  const program = await startProgram(t, env(original));
  const { receiver, partner, subscription } = await aSubscriber(t, program, {
    rateLimitPerMinute: 1_000_000,
  });
  receiver.answer(({ response }) => setTimeout(() => response.writeHead(204).end(), 200));
  return { original, env, settings, receiver, program, partner, subscription };
}
