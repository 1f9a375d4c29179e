import { createSocket, type RemoteInfo } from "node:dgram";
import { once } from "node:events";
import { isIPv4 } from "node:net";
import { answer } from "../support/answer.ts";

const HEAD_BYTES = 12;
const TYPE_A = 1;
const AUTHORITATIVE_RESPONSE = 0x8400;
const POINTER_TO_NAME = 0xc00c;

const server = createSocket("udp4");
let record: Buffer = Buffer.alloc(0);
let asked = 0;

/** The beginning of names that get no answer. Its length comes first. */
const SILENT = Buffer.from("\u0006silent");

/**
 * A name server with one IPv4 address for every name, and a time to live of 0. It is silent about names that begin with
 * `silent.`.
 */
const questions = {
  start: async ({ address }: { address: string }): Promise<{ server: string }> => {
    record = addressRecord(address);
    server.on("message", respond);
    server.bind(0, "127.0.0.1");
    await once(server, "listening");
    return { server: `127.0.0.1:${server.address().port}` };
  },
  countQuestions: () => asked,
};

export type Names = typeof questions;
answer(questions);

// Written by hand, because a codec would dominate the measurement at thousands of look-ups a
// second.
function respond(query: Buffer, { port, address }: RemoteInfo): void {
  asked++;
  if (query.subarray(HEAD_BYTES, HEAD_BYTES + SILENT.length).equals(SILENT)) return;
  const end = query.indexOf(0, HEAD_BYTES) + 5; // A name ends with an empty label. Type and class follow.
  const answers = query.readUInt16BE(end - 4) === TYPE_A ? [record] : [];

  const head = Buffer.alloc(HEAD_BYTES);
  query.copy(head, 0, 0, 2);
  head.writeUInt16BE(AUTHORITATIVE_RESPONSE, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(answers.length, 6);
  server.send([head, query.subarray(HEAD_BYTES, end), ...answers], port, address);
}

function addressRecord(address: string): Buffer {
  if (!isIPv4(address)) throw new Error(`${address} is not an IPv4 address`);
  const bytes = Buffer.alloc(16);
  bytes.writeUInt16BE(POINTER_TO_NAME, 0);
  bytes.writeUInt16BE(TYPE_A, 2);
  bytes.writeUInt16BE(1, 4); // Class Internet, then a time to live of 0.
  bytes.writeUInt16BE(4, 10);
  Buffer.from(address.split(".").map(Number)).copy(bytes, 12);
  return bytes;
}
