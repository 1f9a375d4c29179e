import dgram from "node:dgram";
import { once } from "node:events";
import net from "node:net";
import { type Answer, AUTHORITATIVE_ANSWER, decode, encode, TRUNCATED_RESPONSE } from "dns-packet";
import { Arrivals } from "./arrivals.ts";

/** The records of a name by family. A missing family has no records. */
export interface Records {
  A?: string[] | Failure;
  AAAA?: string[] | Failure;
  /** Another name of the same server, whose records go into the answer too. */
  CNAME?: string;
  /** The time to live in seconds. Default: 0. */
  ttl?: number;
}

/** `endless`: an answer over TCP that goes on and on. */
export type Failure = "NXDOMAIN" | "SERVFAIL" | "REFUSED" | "silence" | "endless";

const RCODES = { NXDOMAIN: 3, SERVFAIL: 2, REFUSED: 5 };
const UDP_BYTES_MAX = 512;

/** A name server with the test's records, over UDP and TCP on loopback. Every other name does not exist. */
export async function startDnsServer(
  t: { after(work: () => Promise<void>): void } | undefined,
  records: Record<string, Records | Failure> = {},
) {
  const zone = new Map<string, (Records | Failure)[]>();
  for (const [name, answer] of Object.entries(records)) zone.set(name, [answer]);
  let everything: Failure | undefined;
  let room = Infinity;
  const queries = new Arrivals<string>();

  const tcp = net.createServer(serveTcp);
  const sockets = new Set<net.Socket>();
  tcp.listen(0, "127.0.0.1");
  await once(tcp, "listening");
  const { port } = tcp.address() as net.AddressInfo;

  const udp = dgram.createSocket("udp4");
  udp.on("message", (message, peer) => {
    const answer = respond(message, UDP_BYTES_MAX);
    if (Buffer.isBuffer(answer)) udp.send(answer, peer.port, peer.address);
  });
  udp.bind(port, "127.0.0.1");
  await once(udp, "listening");
  t?.after(close);

  return {
    address: `127.0.0.1:${port}`,
    queries: queries.all,
    ...{ set, setEverything, setRoom, queried, close },
  };

  /** Each look-up (A and AAAA together) gets the next answer. The last answer is repeated. */
  function set(name: string, ...answers: [Records | Failure, ...(Records | Failure)[]]): void {
    zone.set(name, answers);
  }

  /** From now on every name fails like this, as with a resolver without a network. */
  function setEverything(failure: Failure | undefined): void {
    everything = failure;
  }

  /** From now on, after so many questions without an answer, refuses all others, as a small resolver does. */
  function setRoom(questions: number): void {
    room = questions;
  }

  /** Resolves when this question ("A name") has been asked. */
  async function queried(question: string): Promise<void> {
    await queries.until((all) => all.find((one) => one === question));
  }

  function serveTcp(socket: net.Socket): void {
    sockets.add(socket);
    let received = Buffer.alloc(0);
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk) => {
      received = Buffer.concat([received, chunk]);
      while (received.length >= 2 && received.length >= 2 + received.readUInt16BE(0)) {
        const length = received.readUInt16BE(0);
        const answer = respond(received.subarray(2, 2 + length), 65_535);
        received = received.subarray(2 + length);
        if (answer === "endless") dripForEver(socket);
        else if (answer !== null) {
          const prefix = Buffer.alloc(2);
          prefix.writeUInt16BE(answer.length);
          socket.write(Buffer.concat([prefix, answer]));
        }
      }
    });
  }

  function respond(message: Buffer, bytesMax: number): Buffer | "endless" | null {
    const { id, questions = [] } = decode(message);
    const [question] = questions;
    if (question === undefined) return null;
    const { name, type } = question;
    queries.add(`${type} ${name}`);

    const answers = type === "A" || type === "AAAA" ? find(name, type) : [];
    if (answers === "silence") return null;
    const isEndless = answers === "endless";
    if (isEndless && bytesMax > UDP_BYTES_MAX) return answers;
    const failed = typeof answers === "string";
    const packet = {
      type: "response" as const,
      ...(id !== undefined && { id }),
      flags: AUTHORITATIVE_ANSWER | (isEndless ? TRUNCATED_RESPONSE : failed ? RCODES[answers] : 0),
      questions,
    };
    const whole = encode({ ...packet, answers: failed ? [] : answers });
    if (whole.length <= bytesMax) return whole;
    return encode({ ...packet, flags: packet.flags | TRUNCATED_RESPONSE });
  }

  function find(name: string, type: "A" | "AAAA"): Answer[] | Failure {
    if (everything !== undefined) return everything;
    if (room <= 0) return "REFUSED";
    const answers = zone.get(name) ?? ["NXDOMAIN"];
    // The question for A comes first, so the turn ends with AAAA.
    const current = answers.length > 1 && type === "AAAA" ? answers.shift() : answers[0];
    if (current === "silence") room--;
    if (typeof current === "string" || current === undefined) return current ?? "NXDOMAIN";

    const { ttl = 0 } = current;
    if (current.CNAME !== undefined) {
      const alias: Answer = { type: "CNAME", name, ttl, data: current.CNAME };
      const rest = find(current.CNAME, type);
      return typeof rest === "string" ? rest : [alias, ...rest];
    }
    const records = current[type] ?? [];
    if (typeof records === "string") return records;
    return records.map((data) => ({ type, name, ttl, data }));
  }

  async function close(): Promise<void> {
    for (const socket of sockets) socket.destroy();
    await Promise.all([
      new Promise((resolve) => tcp.close(resolve)),
      new Promise<void>((resolve) => udp.close(resolve)),
    ]);
  }
}

/** The maximum length of an answer, sent one byte at a time. */
function dripForEver(socket: net.Socket): void {
  socket.write(Buffer.from([0xff, 0xff]));
  const timer = setInterval(() => socket.write(Buffer.alloc(1)), 10);
  socket.once("close", () => {
    clearInterval(timer);
  });
}
