import { ActivityLog } from "../../src/subjects/activity/log.ts";

// The service without activity counters, and so without their writes.
ActivityLog.prototype.note = () => undefined;
ActivityLog.prototype.notePublished = () => undefined;

await import("./service.ts");
