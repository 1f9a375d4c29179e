/** The public interface of `partner-api/webhook`. */
export { handleOnce, type EventState, type EventStore } from "./handle-once.ts";
export { createMemoryStore } from "./memory-store.ts";
export {
  REPLAY_WINDOW_MS,
  verify,
  verifySignature,
  type Delivery,
  type EventData,
  type HeadersLike,
  type ReceivedEvent,
  type Verdict,
  type Verification,
} from "./verify.ts";
