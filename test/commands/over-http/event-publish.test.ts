import { goThroughService } from "../../support/command-line.ts";

goThroughService();
await import("../event-publish.test.js");
