import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { createDatabase } from "../support/database.ts";
import { subscribe } from "../support/keyed-requests.ts";
import { startPartnerApi } from "../support/partner-api.ts";
import { requireProgram } from "../support/required.ts";
import { ROOT } from "../support/root.ts";

const db = await createDatabase();
const SAMPLES = join(ROOT, "site/samples/reference");

const LANGUAGES = [
  { name: "Python", ending: "py", program: "python3", version: "--version", args: ["-B"] },
  { name: "Go", ending: "go", program: "go", version: "version", args: ["run"] },
  { name: "PHP", ending: "php", program: "php", version: "--version", args: [] },
  { name: "Ruby", ending: "rb", program: "ruby", version: "--version", args: [] },
];

/** The calls in an order in which all succeed, and the output of each. */
const CALLS: [call: string, printed: RegExp][] = [
  ["getIdentity", /200[^]*"partner_org"/],
  ["createSubscription", /201[^]*"secret": ?"whsec_/],
  ["listSubscriptions", /200[^]*"wh_[^]*"wh_/],
  ["sendTestEvent", /200[^]*"enqueued": ?true/],
  ["listFailures", /200[^]*"next_cursor": ?null/],
  ["deleteSubscription", /204/],
];

for (const { name, ending, program, version, args } of LANGUAGES) {
  test(`the reference's examples in ${name} make the six calls`, async (t) => {
    if (!(await requireProgram(t, program, [version]))) return;
    const api = startPartnerApi(t, db);
    const key = await api.aKeyWith("webhooks:manage");
    const created = await subscribe(api, key, null);
    const { id, secret } = created.json<{ id: string; secret: string }>();
    const env = {
      ...process.env,
      ...{ GOTOOLCHAIN: "local", GOPROXY: "off", GOFLAGS: "" },
      PARTNER_API: await api.listen(),
      PARTNER_TOKEN: key.token,
      RECEIVER_URL: "https://hooks.example.com/",
      SUBSCRIPTION_ID: id,
      PARTNER_SECRET: secret,
    };
    for (const [call, printed] of CALLS) {
      const file = join(SAMPLES, `${call}.${ending}`);
      const { stdout } = await promisify(execFile)(program, [...args, file], { env });
      assert.match(stdout, printed, call);
    }
  });
}
