/** Where a member of an event can come from besides the document and the headers. */
export const PLACES = ["topic", "key", "subject", "queue", "stream"] as const;
export type Place = (typeof PLACES)[number];

/** What a source hands over. Each source adds what it needs to acknowledge it. */
export interface Message {
  /** What follows a message in its lane waits until the message is published or set aside: a partition, a queue or a key. */
  readonly lane: string;
  /** The same whenever the message comes again, and of no other message of the source. Null if the broker gives none. */
  readonly identity: string | null;
  readonly body: string | Uint8Array;
  /** By names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  readonly from: Readonly<Partial<Record<Place, string>>>;
}

export interface Source<Own extends Message = Message> {
  /**
   * Returns at most `max` messages that were not returned before, in the order of their lanes. Waits for at most `waitMs` for the first
   * one. If it throws, the caller forgets all messages that it has not settled, and the source returns them again.
   */
  receive(max: number, waitMs: number): Promise<Own[]>;
  /** The events of these messages are durable. */
  acknowledge(messages: Own[]): Promise<void>;
  /** Keeps the message where its kind is kept, durably, and acknowledges it. False if it is another consumer's now, or comes again. */
  setAside(message: Own, reason: string): Promise<boolean>;
  /** Returns how far the bridge is behind. Null if that is not known. */
  lag(): Promise<Lag | null>;
  /** Checks what the source needs. Returns what it found in sentences, and the first message without acknowledging it. */
  check(): Promise<{ facts: string[]; first: Message | null }>;
  close(): Promise<void>;
  /** True if the server has answered that it is only starting, as brokers do while they load their state. */
  isStarting?(error: unknown): boolean;
}

/** Messages that are not settled, or bytes where a source cannot count them. */
export interface Lag {
  messages?: number;
  bytes?: number;
}

/** What a source may use of the bridge. */
export interface SourceContext<Own extends Message = Message> {
  /** Aborts when the bridge stops. */
  stop: AbortSignal;
  log: BridgeLog;
  now: () => Date;
  /** Forgets messages that another consumer has now: they are neither published nor acknowledged, unless that has begun. */
  forget: (isLost: (message: Own) => boolean) => void;
}

export interface BridgeLog {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
  error(facts: object, message: string): void;
}

export type OpenSource = (context: SourceContext) => Source;

/** A fault that repeats until a person has acted. */
export class SourceFault extends Error {
  override readonly name = "SourceFault";
}

/** Loads the client of a broker. It is not installed with the bridge, because most need one of them or none. */
export async function loadClient<Client>(
  name: string,
  load: () => Promise<Client>,
): Promise<Client> {
  try {
    return await load();
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code !== "ERR_MODULE_NOT_FOUND" || !message.includes(`'${name}'`)) throw error;
    throw new SourceFault(`the package ${name} is missing: run \`npm install ${name}\``);
  }
}
