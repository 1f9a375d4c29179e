import type { Destination } from "./destination.ts";
import { internalFault, type Outcome, type Phase, PostFailed, unreachable } from "./outcome.ts";

/** `silent`: a receiver that has not answered since its last post without an answer. */
export type Responsiveness = "unknown" | "responsive" | "silent";

/** The parts of a post that are timed. */
export type Step = "look-up" | "connect" | "tls" | "first byte";

/** Ends a step. `fault`: why it failed, in a word. Only its first call counts. */
export type EndStep = (fault?: string) => void;

type Headers = Readonly<Record<string, string>>;

export interface Post {
  url: string;
  /**
   * Besides `Host`, `Connection` and `Content-Length`. A function is called as late as possible, so that a timestamp in them is that
   * of the request.
   */
  headers: Headers | (() => Headers);
  /** Sent byte for byte. */
  body: Uint8Array;
  /** The limit from the look-up to the head of the answer. */
  timeoutMs: number;
  /** Ends the post, with the fault `stopping`. */
  signal?: AbortSignal | undefined;
  /** Posts of one group begin one connection in an iteration of the event loop, unless their receivers are responsive. */
  group?: string | undefined;
  /**
   * Default: `unknown`. A post to a silent receiver takes no free connection, because it may not leave it to others at its host. A post
   * to a responsive one waits only for connections that such posts set up.
   */
  responsiveness?: Responsiveness | undefined;
  /** Called at the beginning of each step. */
  onStep?: ((step: Step) => EndStep) | undefined;
}

/** Does a part of a post, and tells its caller of it. `work` may end the step earlier. */
export function inStep<Result>(
  { onStep }: Post,
  step: Step,
  work: (end?: EndStep) => Promise<Result>,
): Promise<Result> {
  return onStep === undefined ? work() : toldOf(onStep(step), work);
}

async function toldOf<Result>(
  end: EndStep,
  work: (end: EndStep) => Promise<Result>,
): Promise<Result> {
  try {
    const result = await work(end);
    end();
    return result;
  } catch (error) {
    end(error instanceof PostFailed ? wordOf(error.outcome) : "unexpected");
    throw error;
  }
}

function wordOf(outcome: Outcome): string {
  if (outcome.kind === "unreachable") return outcome.reason;
  return outcome.kind === "internal-fault" ? outcome.fault : outcome.kind;
}

/** The time limit of a post, from look-up to the last byte that we read. A post does one thing at a time, and the deadline cancels that. */
export class Deadline {
  readonly ms: number;
  /** What the post is doing. */
  phase: Phase = "look_up";
  readonly #timer: NodeJS.Timeout;
  #cancel: ((why: PostFailed) => void) | undefined;
  #passed: PostFailed | undefined;
  #isLifted = false;

  constructor(ms: number) {
    this.ms = ms;
    this.#timer = setTimeout(() => {
      // Input that arrived while our process stood still is read first. The receiver must not be blamed for our pause.
      setImmediate(() => setImmediate(() => this.#pass()));
    }, ms);
  }

  /** Sets the function that the deadline calls. Calls it at once if the time is over. */
  guard(cancel: (why: PostFailed) => void): void {
    this.#cancel = cancel;
    if (this.#passed !== undefined) cancel(this.#passed);
  }

  /** Waits for a promise that cannot be cancelled, until the deadline. */
  async bound<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.guard(reject);
      promise.then(resolve, reject);
    });
  }

  #pass(): void {
    if (!this.#isLifted) this.end(new PostFailed(unreachable("timeout", this.phase)));
  }

  end(why: PostFailed = STOPPED): void {
    this.lift();
    this.#passed ??= why;
    this.#cancel?.(this.#passed);
  }

  /** Removes the limit, because the post is over and has nothing to cancel. */
  lift(): void {
    this.#isLifted = true;
    clearTimeout(this.#timer);
  }
}

export const STOPPED = new PostFailed(internalFault("stopping"));

/** A header must not contain a line end, because the rest would be headers of its own. */
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const NO_VALUE = /[^\t\x20-\x7e]/;

/** Returns the request (RFC 9112). Head and body are one buffer, so they share a packet if they fit. */
export function requestBytes(
  { path, hostHeader }: Pick<Destination, "path" | "hostHeader">,
  { headers, body }: Pick<Post, "headers" | "body">,
): Uint8Array {
  const fields = typeof headers === "function" ? headers() : headers;
  let head = `POST ${path} HTTP/1.1\r\nHost: ${hostHeader}\r\nConnection: keep-alive\r\n`;
  for (const name in fields) {
    const value = fields[name] ?? "";
    if (!NAME.test(name) || NO_VALUE.test(value))
      throw new TypeError(`the header ${JSON.stringify(name)} is malformed`);
    head += `${name}: ${value}\r\n`;
  }
  head += `Content-Length: ${body.length}\r\n\r\n`;

  const bytes = Buffer.allocUnsafe(head.length + body.length);
  bytes.write(head, "latin1");
  bytes.set(body, head.length);
  return bytes;
}
