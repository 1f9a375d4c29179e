import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Received } from "../receiver/receiver.ts";

type Delivery = Pick<Received, "headers" | "body">;

/** The verdicts of independent verifiers. */
export async function verdicts(delivery: Delivery, secret: string): Promise<[string, string][]> {
  return [
    ["standardwebhooks", await byStandardWebhooks(delivery, secret)],
    ["openssl", await byOpenssl(delivery, secret)],
  ];
}

async function byStandardWebhooks({ headers, body }: Delivery, secret: string): Promise<string> {
  try {
    const { Webhook } = await import("standardwebhooks");
    new Webhook(secret).verify(body.toString("utf8"), headers as Record<string, string>);
    return "signature valid";
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return code === "ERR_MODULE_NOT_FOUND" ? "not installed" : `signature NOT valid: ${message}`;
  }
}

async function byOpenssl({ headers, body }: Delivery, secret: string): Promise<string> {
  try {
    const run = promisify(execFile)("openssl", ["dgst", "-sha256", "-hmac", secret, "-r"]);
    run.child.stdin?.end(
      Buffer.concat([Buffer.from(`${String(headers["x-vc-timestamp"])}.`), body]),
    );
    const [digest] = (await run).stdout.split(" ");
    const isSame = headers["x-vc-signature"] === `sha256=${digest ?? ""}`;
    return isSame ? "signature valid" : "signature NOT valid";
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === "ENOENT";
    return isMissing ? "openssl is not installed" : `failed: ${(error as Error).message}`;
  }
}
