// Depends on: src, site, packages, examples, scripts, package.json

import assert from "node:assert/strict";
import { copyFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { signatureHeaders } from "../../src/webhook/sign.ts";
import { aFolderOfWheels, aGoProxy, anNpmRegistry } from "../support/package-places.ts";
import { requireProgram } from "../support/required.ts";
import { ROOT } from "../support/root.ts";
import { aShell } from "../support/shell.ts";

const SECRET = `whsec_${"A".repeat(44)}`;

/** The partner's program around each sample: it prints the verdicts on a genuine and a forged delivery. */
const IN_JAVASCRIPT = `
import { readFileSync } from "node:fs";
import { check } from "./verify-delivery.mjs";
const { headers, body } = JSON.parse(readFileSync("delivery.json"));
for (const one of [body, body + " "]) {
  const { status, event, verdict } = await check(headers, Buffer.from(one));
  console.log(status, event?.id ?? verdict);
}`;

const IN_PYTHON = `
import json
from verify_delivery import check
delivery = json.load(open("delivery.json"))
for body in [delivery["body"], delivery["body"] + " "]:
    status, result = check(delivery["headers"], body.encode())
    print(status, result["id"] if status == 204 else result)
`;
import { aTemporaryFolder } from "../support/temporary-folder.ts";

const IN_GO = `package main

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"strings"
)

func main() {
	var delivery struct {
		Headers map[string]string
		Body    string
	}
	text, _ := os.ReadFile("delivery.json")
	json.Unmarshal(text, &delivery)
	for _, body := range []string{delivery.Body, delivery.Body + " "} {
		r := httptest.NewRequest("POST", "/hooks", strings.NewReader(body))
		for name, value := range delivery.Headers {
			r.Header.Set(name, value)
		}
		status, result := check(httptest.NewRecorder(), r)
		if event, ok := result.(map[string]any); ok {
			result = event["id"]
		}
		fmt.Println(status, result)
	}
}
`;

const LANGUAGES = {
  JavaScript: {
    program: ["npm", "--version"],
    ending: "mjs",
    sample: "verify-delivery.mjs",
    main: "main.mjs",
    text: IN_JAVASCRIPT,
    settings: anNpmRegistry,
    begin: "npm init --yes",
    run: "node main.mjs",
  },
  Python: {
    program: ["pip", "--version"],
    ending: "py",
    sample: "verify_delivery.py",
    main: "main.py",
    text: IN_PYTHON,
    settings: (_: TestContext, folder: string, to: string) => aFolderOfWheels(folder, to),
    begin: "true",
    run: "python3 main.py",
  },
  Go: {
    program: ["go", "version"],
    ending: "go",
    sample: "verify_delivery.go",
    main: "main.go",
    text: IN_GO,
    settings: (_: TestContext, folder: string) => aGoProxy(folder),
    begin: "go mod init receiver",
    run: "go run .",
  },
};

for (const [name, language] of Object.entries(LANGUAGES)) {
  const { ending, sample, main, text, settings, begin, run } = language;
  const [program = "", version = ""] = language.program;

  test(`the package for ${name} is installed and used as the page shows`, async (t) => {
    if (!(await requireProgram(t, program, [version]))) return;
    const published = await aTemporaryFolder(t);
    const shell = await aShell(t, { PARTNER_SECRET: SECRET });
    Object.assign(shell.env, await settings(t, published, shell.folder));

    await shell.runText(begin);
    await shell.run(`install-package-${ending}.sh`);
    await copyFile(join(ROOT, "site/samples", sample), join(shell.folder, sample));
    await writeFile(join(shell.folder, main), text);
    await writeFile(join(shell.folder, "delivery.json"), JSON.stringify(aDelivery()));
    assert.equal(await shell.runText(run), "204 evt_1\n400 forged\n");
  });
}

function aDelivery() {
  const body = JSON.stringify({
    event: "vc.test.ping",
    id: "evt_1",
    subscription_id: "wh_1",
    occurred_at: new Date().toISOString(),
    data: { message: "integration test" },
  });
  const timestampMs = Date.now();
  const signed = { eventId: "evt_1", timestampMs, body: Buffer.from(body) };
  return { headers: signatureHeaders({ signingSecret: SECRET, ...signed }), body };
}
