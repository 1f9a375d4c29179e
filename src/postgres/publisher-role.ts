import { type Database, isForbidden } from "./database.ts";
import { codeOf } from "../lib/code-of.ts";
import { lockSchema } from "./migrate.ts";

/** A role whose only right is to call `partner_api_publish`. */
export const PUBLISHER_ROLE = "partner_api_publisher";

/** The errors if two processes create the same role at once. */
const EXISTS = ["42710", "23505"];

/**
 * Creates the role and grants its right. If the schema's owner may not create roles, returns the statement that an
 * administrator has to run first. Otherwise returns null.
 */
export async function grantPublisher(owner: Database): Promise<string | null> {
  const create = `create role ${PUBLISHER_ROLE} nologin`;
  const known = await owner`select from pg_roles where rolname = ${PUBLISHER_ROLE}`;
  if (known.length === 0) {
    try {
      await owner.unsafe(create);
    } catch (error) {
      if (isForbidden(error)) return create;
      if (!EXISTS.includes(codeOf(error))) throw error;
    }
  }
  await grantExecute(owner);
  return null;
}

/** Every start calls this, so it changes nothing if the right exists. */
async function grantExecute(owner: Database): Promise<void> {
  await owner.begin(async (tx) => {
    await lockSchema(tx);
    const [{ schema, isGranted }] = await tx<[{ schema: string; isGranted: boolean }]>`
      select current_schema() as schema,
             has_function_privilege(${PUBLISHER_ROLE}::name, oid, 'execute')
               and has_schema_privilege(${PUBLISHER_ROLE}::name, pronamespace, 'usage') as "isGranted"
        from pg_proc
       where oid = 'partner_api_publish'::regproc`;
    if (isGranted) return;
    await tx`grant usage on schema ${tx(schema)} to ${tx(PUBLISHER_ROLE)}`;
    await tx`grant execute on function partner_api_publish to ${tx(PUBLISHER_ROLE)}`;
  });
}
