import { goThroughService } from "../../support/command-line.ts";

goThroughService();
await import("../subscription.test.js");
