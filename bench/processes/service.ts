import { main } from "../../src/cli.ts";

// Our end of its standard input closes when the bench is gone, even if it was killed.
process.stdin
  .on("end", () => process.exit(1))
  .resume()
  .unref();

await main(["serve"]);
