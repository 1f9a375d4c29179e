import { goThroughService } from "../../support/command-line.ts";

goThroughService();
await import("../key.test.js");
