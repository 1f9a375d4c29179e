import { goThroughService } from "../../support/command-line.ts";

goThroughService();
await import("../org.test.js");
