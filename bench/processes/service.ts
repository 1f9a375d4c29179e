import { main } from "../../src/start/cli.ts";

// Standard input closes when the bench ends, even if it was killed.
process.stdin
  .on("end", () => process.exit(1))
  .resume()
  .unref();

await main(["serve"]);
