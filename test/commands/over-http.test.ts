// Runs alone: the command lines of its process use a running service.
import { goThroughService } from "../support/command-line.ts";

goThroughService();
await import("./delivery.test.js");
await import("./event-publish.test.js");
await import("./key.test.js");
await import("./org.test.js");
await import("./subscription.test.js");
