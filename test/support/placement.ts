import { createDatabase, environmentOf, ownerOf } from "./database.ts";

/**
 * With TEST_SHARD, the services of the tests have four shards on two servers, and this shard gets every
 * organization. Without it they have one database.
 */
export const PLACEMENT = process.env["TEST_SHARD"];

const SHARDS = ["00", "01", "02", "03"];

/** The options of a test that runs with one shard only. */
export function oneShardOnly(reason: string): { skip?: string } {
  return PLACEMENT === undefined ? {} : { skip: reason };
}

/** The database of a rig's organizations, for the service's role. */
export function databaseUrlOf(rig: Record<string, string>): string {
  return placed(rig["SHARDS"]) ?? rig["DATABASE_URL"] ?? "";
}

/** The same for the schema's owner. */
export function ownersUrlOf(rig: Record<string, string>): string {
  const { MIGRATION_DATABASE_URL: owners = "" } = rig;
  return placed(owners) ?? owners;
}

function placed(entries = ""): string | undefined {
  const start = `${PLACEMENT}=`;
  return entries
    .split(" ")
    .find((entry) => entry.startsWith(start))
    ?.slice(start.length);
}

/** The settings of a service with four shards. */
export async function environmentOfShards(placement: string): Promise<Record<string, string>> {
  const [first, second] = [process.env["TEST_DATABASE_URL"], process.env["TEST_DATABASE_URL_2"]];
  if (!first || !second) throw new Error("there is no second server: run npm run test:shards");
  if (!SHARDS.includes(placement))
    throw new Error(`TEST_SHARD must be one of ${SHARDS.join(", ")}`);
  const shards = await Promise.all(
    SHARDS.map(async (name, i) => {
      const db = await createDatabase({
        max: 1,
        server: i % 2 === 0 ? first : second,
        now: new Date(),
      });
      if (i === 0) await placeAll(db, placement);
      return {
        name,
        ...(environmentOf(db) as Record<"DATABASE_URL" | "MIGRATION_DATABASE_URL", string>),
      };
    }),
  );
  return {
    DATABASE_URL: "",
    SHARDS: shards.map(({ name, DATABASE_URL: url }) => `${name}=${url}`).join(" "),
    MIGRATION_DATABASE_URL: shards
      .map(({ name, MIGRATION_DATABASE_URL: url }) => `${name}=${url}`)
      .join(" "),
  };
}

/** An organization is created in the shard that reserves its slug. */
async function placeAll(home: Parameters<typeof ownerOf>[0], placement: string): Promise<void> {
  const owner = ownerOf(home);
  await owner.unsafe(`
    create function place() returns trigger language plpgsql as
      $$ begin new.shard := '${placement}'; return new; end $$`);
  await owner`create trigger placed before insert on slugs for each row execute function place()`;
}
