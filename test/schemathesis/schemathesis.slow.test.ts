// Depends on: src
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { parseId, publicId } from "../../src/lib/ids.ts";
import { encodeCursor } from "../../src/lib/page.ts";
import { createApiKey } from "../../src/subjects/keys/work.ts";
import { createOrganization } from "../../src/subjects/organizations/work.ts";
import { createDatabase } from "../support/database.ts";
import { aSubscription, createEngine, publish, refused } from "../support/engine.ts";
import { OPERATORS, startOperatorApi } from "../support/operator-api.ts";
import { startPartnerApi } from "../support/partner-api.ts";
import { aPlatformsTypes } from "../support/platform-types.ts";
import { skipOrFail } from "../support/required.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";

const execute = promisify(execFile);
const SCHEMATHESIS = "schemathesis==4.32.5";

/** What Schemathesis is told about an operation. */
interface Told {
  operation: string;
  /** Values of parameters that it cannot invent. */
  parameters?: Record<string, string>;
  /** Why a request that the schema allows may be refused: no schema can express this. */
  mayRefuse?: string;
}

test("Schemathesis finds nothing in the partners' document", async (t) => {
  const run = await installed(t);
  if (!run) return;
  let base = "";
  const api = startPartnerApi(t, await createDatabase(), {
    rules: { retryDelaysMs: [], autoDisableAfter: 9, maxSubscriptions: 10_000, leaseMs: 30_000 },
    options: { baseUrl: () => base },
  });
  base = (await api.listen()).replace(/\/$/, "");
  const organization = await api.anOrganization({ rateLimitPerMinute: 1_000_000 });
  const key = await api.aKeyOf(organization, "webhooks:manage");
  const { id } = await api.aSubscriptionOf(key);
  const bare = parseId("wh", id) ?? "";
  await run(`${base}/api/v1/partner/openapi.json`, base, key.token, [
    { operation: "createSubscription", mayRefuse: "the host is not public" },
    { operation: "sendTestEvent", parameters: { "path.id": id } },
    {
      operation: "listFailures",
      parameters: { "path.id": id, cursor: encodeCursor(`failures of ${bare}`, bare) },
    },
  ]);
});

test("Schemathesis finds nothing in the operators' document", async (t) => {
  const run = await installed(t);
  if (!run) return;
  const { deps, deliverDue } = await createEngine(await createDatabase(), {
    eventTypes: aPlatformsTypes(),
  });
  const { app } = startOperatorApi(t, deps);
  const base = await app.listen({ host: "127.0.0.1", port: 0 });
  const [operator = { token: "" }] = OPERATORS;
  for (const slug of ["acme", "beta", "gamma"]) {
    const { id } = await createOrganization(deps, { slug });
    for (let i = 0; i < 2; i++) {
      await createApiKey(deps, { organization: publicId("org", id) });
      await aSubscription(deps, id);
    }
    await publish(deps, id, 2);
  }
  await deliverDue(() => refused);
  const [subscription] = await deps.db<{ id: string }[]>`select id from subscriptions limit 1`;
  const id = subscription?.id ?? "";
  const after = (list: string, position: string) => ({ cursor: encodeCursor(list, position) });
  await run(`${base}/api/v1/admin/openapi.json`, base, operator.token, [
    { operation: "listOrganizations", parameters: after("organizations", "acme") },
    { operation: "listKeys", parameters: after("keys", `20260101000000 ${"0".repeat(20)}`) },
    {
      operation: "listAllSubscriptions",
      parameters: {
        ...after("subscriptions", `0 0000000000 20260101000000 ${id}`),
        order: "newest",
      },
    },
    {
      operation: "listFailuresOfSubscription",
      parameters: { "path.id": publicId("wh", id), ...after(`failures of ${id}`, id) },
    },
    {
      operation: "listDeliveries",
      parameters: after("deliveries", id),
      mayRefuse: "until is earlier than since",
    },
    { operation: "listRedeliveries", parameters: after("redeliveries", id) },
    { operation: "listEventTypes", parameters: after("event-types", "note.added") },
    { operation: "listChanges", parameters: after("changes", id) },
    { operation: "createRedelivery", mayRefuse: "until is earlier than since" },
    { operation: "listActivity", mayRefuse: "the span has more points than an answer" },
    { operation: "publishEvents", mayRefuse: "the organization or the type does not exist" },
  ]);
});

const folder = await aTemporaryFolder({ after });
let installation: Promise<unknown> | undefined;

async function install(): Promise<void> {
  await execute("python3", ["-m", "venv", join(folder, "venv")]);
  const python = join(folder, "venv/bin/python");
  await execute(python, ["-m", "pip", "install", "--quiet", SCHEMATHESIS]);
}

/** Installs Schemathesis, and returns a function that runs it on a document. Null if it cannot be installed. */
async function installed(t: TestContext) {
  try {
    await (installation ??= install());
  } catch (error) {
    skipOrFail(t, `pip cannot install ${SCHEMATHESIS}: ${(error as Error).message}`);
    return null;
  }

  return async (document: string, base: string, token: string, told: Told[]) => {
    const config = join(folder, "schemathesis.toml");
    await writeFile(config, told.map(toToml).join("\n"));
    const options = [
      ...["--config-file", config, "run", document, "--url", base],
      ...["--header", `Authorization: Bearer ${token}`, "--phases", "examples,coverage,fuzzing"],
      ...["--seed", "50", "--max-examples", "40", "--generation-database", "none"],
      // Its stream has no end.
      ...["--exclude-operation-id", "streamOverview"],
      // After ten wrong tokens the operators' listener answers 429, as documented. This check wants 401.
      ...["--exclude-checks", "ignored_auth", "--continue-on-failure", "--no-color"],
    ];
    try {
      await execute(join(folder, "venv/bin/schemathesis"), options, { cwd: folder });
    } catch (error) {
      throw new Error((error as { stdout: string }).stdout, { cause: error });
    }
  };
}

function toToml({ operation, parameters = {}, mayRefuse }: Told): string {
  const values = Object.entries(parameters).map(([name, value]) => `"${name}" = "${value}"`);
  const statuses = '["2xx", "401", "403", "404", "409", "422", "429", "5xx"]';
  return [
    "[[operations]]",
    `include-operation-id = "${operation}"`,
    `parameters = { ${values.join(", ")} }`,
    ...(mayRefuse ? [`checks.positive_data_acceptance.expected-statuses = ${statuses}`] : []),
    "",
  ].join("\n");
}
