// Depends on: packages, src

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { promisify } from "node:util";
import { goSettings } from "../support/package-places.ts";
import { requireProgram } from "../support/required.ts";
import { aPartner, aRig } from "../support/rig.ts";
import { ROOT } from "../support/root.ts";
import { startService } from "../support/service.ts";
import { aTemporaryFolder } from "../support/temporary-folder.ts";
import { aDelivery, SECRET } from "../webhook/delivery.ts";

/** The code blocks of a package's README, in order. */
async function samplesOf(name: string): Promise<string[]> {
  const text = await readFile(join(ROOT, "packages", name, "README.md"), "utf8");
  return [...text.matchAll(/^```\w+\n(.*?)^```$/gms)].map(([, sample = ""]) => sample);
}

const ENV = { ...process.env, PARTNER_SECRET: SECRET };

async function runModule(t: TestContext, text: string, env = {}): Promise<string> {
  const cwd = await aTemporaryFolder(t);
  await symlink(join(ROOT, "node_modules"), join(cwd, "node_modules"));
  await writeFile(join(cwd, "sample.mjs"), text);
  const run = promisify(execFile)(process.execPath, ["sample.mjs"], {
    cwd,
    env: { ...ENV, ...env },
  });
  return (await run).stdout;
}

/** A genuine delivery and a forged one, as members of a module. */
function deliveries(): string {
  const { headers, body } = aDelivery();
  const text = Buffer.from(body).toString();
  return JSON.stringify([text, `${text} `].map((sent) => ({ headers, body: sent })));
}

test("the samples of @partner-api/webhook receive a delivery and sign one", async (t) => {
  const [receiver = "", signer = "", ...more] = await samplesOf("webhook");
  assert.deepEqual(more, []);
  const received = await runModule(
    t,
    `${receiver}
    for (const { headers, body } of ${deliveries()}) {
      const request = new Request("https://localhost/", { method: "POST", headers, body });
      const response = await receive(request);
      console.log(response.status, await response.text());
    }`,
  );
  assert.match(received, /^evt_\S+\n204 \nrefused with 400: forged\n400 forged\n$/);
  const names = await runModule(t, `${signer} console.log(Object.keys(headers).join());`);
  assert.match(names, /X-VC-Signature/);
});

test("the sample of @partner-api/client creates a subscription and reads its failures", async (t) => {
  const service = await startService(t, await aRig(t));
  const { token } = await aPartner(service, "acme");
  const [sample = "", ...more] = await samplesOf("client");
  assert.deepEqual(more, []);
  const given = `const [token, url] = ${JSON.stringify([token, "https://93.184.215.14/hooks"])};`;
  const text = sample.replace("https://partners.example.com", service.partnerUrl);
  assert.equal(
    await runModule(t, `${given} ${text} console.log(data.url);`),
    "https://93.184.215.14/hooks\n",
  );
});

test("the sample of @partner-api/egress refuses an address that is not public, and ends", async (t) => {
  const [sample = "", ...more] = await samplesOf("egress");
  assert.deepEqual(more, []);
  const text = sample.replaceAll("hooks.example.com", "127.0.0.1");
  const said = await runModule(t, `${text} console.log(outcome.reason);`);
  assert.match(said, /^\S.* public.*\naddress_not_public\n$/);
});

test("the sample of the Python package tells a genuine delivery from a forged one", async (t) => {
  if (!(await requireProgram(t, "python3", ["--version"]))) return;
  const [sample = "", ...more] = await samplesOf("python");
  assert.deepEqual(more, []);
  const text = `
import json, os, sys
from types import SimpleNamespace
def receive(request):
${sample.replace(/^(?=.)/gm, "    ")}
    return verdict, 204
for sent in json.loads(sys.argv[1]):
    print(receive(SimpleNamespace(headers=sent["headers"], get_data=lambda: sent["body"].encode())))
`;
  const PYTHONPATH = join(ROOT, "packages/python/src");
  const env = { ...ENV, PYTHONPATH, PYTHONDONTWRITEBYTECODE: "1" };
  const { stdout } = await promisify(execFile)("python3", ["-c", text, deliveries()], { env });
  assert.equal(stdout, "('valid', 204)\nrefused with 400: forged\n('', 400)\n");
});

test("the sample of the Go module tells a genuine delivery from a forged one", async (t) => {
  if (!(await requireProgram(t, "go", ["version"]))) return;
  const [sample = "", ...more] = await samplesOf("go");
  assert.deepEqual(more, []);
  const cwd = await aTemporaryFolder(t);
  const manifest = await readFile(join(ROOT, "packages/go/go.mod"), "utf8");
  const [, module = ""] = /^module (\S+)$/m.exec(manifest) ?? [];
  await writeFile(
    join(cwd, "go.mod"),
    `module sample\n\ngo 1.19\n\nrequire ${module} v0.0.0\n\nreplace ${module} => ${join(ROOT, "packages/go")}\n`,
  );
  await writeFile(
    join(cwd, "main.go"),
    `package main

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	webhook "${module}"
)

func receive(w http.ResponseWriter, r *http.Request) {
	secrets := []string{os.Getenv("PARTNER_SECRET")}
${sample}
	w.WriteHeader(http.StatusNoContent)
}

func main() {
	var all []struct {
		Headers map[string]string
		Body    string
	}
	json.Unmarshal([]byte(os.Args[1]), &all)
	for _, sent := range all {
		r := httptest.NewRequest("POST", "/", strings.NewReader(sent.Body))
		for name, value := range sent.Headers {
			r.Header.Set(name, value)
		}
		w := httptest.NewRecorder()
		receive(w, r)
		fmt.Println(w.Code, strings.TrimSpace(w.Body.String()))
	}
}
`,
  );
  const env = { ...ENV, ...(await goSettings()), GOPROXY: "off" };
  const run = promisify(execFile)("go", ["run", ".", deliveries()], { cwd, env });
  assert.equal((await run).stdout, "204 \n400 forged\n");
});
