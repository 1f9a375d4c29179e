import { goThroughService } from "../../support/command-line.ts";

goThroughService();
await import("../delivery.test.js");
