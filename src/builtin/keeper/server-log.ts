import { constants, type FileHandle } from "node:fs/promises";
import { join } from "node:path";
import { openRegular } from "./regular-file.ts";

const BYTES_MAX = 16 * 1024 * 1024;
const READ_MAX = 64 * 1024;

interface ServerLog {
  fd: number;
  /** The text since it was opened. */
  readNew: () => Promise<string>;
  close: () => Promise<void>;
}

/** Opens the server's log for a start. */
export async function openServerLog(home: string): Promise<ServerLog> {
  await trimServerLog(home);
  const file = await openForAppend(home);
  const { size } = await file.stat();
  return { fd: file.fd, close: () => file.close(), readNew: () => readFrom(home, size) };
}

/** Truncates a long log. A server that refuses connections writes a line for each. */
export async function trimServerLog(home: string): Promise<void> {
  const file = await openForAppend(home);
  try {
    if ((await file.stat()).size > BYTES_MAX) await file.truncate();
  } finally {
    await file.close();
  }
}

function openForAppend(home: string): Promise<FileHandle> {
  const { O_APPEND, O_CREAT, O_RDWR } = constants;
  return openRegular(logOf(home), O_RDWR | O_APPEND | O_CREAT, 0o600);
}

async function readFrom(home: string, offset: number): Promise<string> {
  const file = await openRegular(logOf(home), constants.O_RDONLY);
  try {
    const buffer = Buffer.alloc(READ_MAX);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, offset);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** The path of PostgreSQL's log. */
export function logOf(home: string): string {
  return join(home, "server.log");
}
