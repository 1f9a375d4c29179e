import { constants, type FileHandle, open } from "node:fs/promises";
import { join } from "node:path";
import type { Home } from "./home.ts";

const MAX_BYTES = 16 * 1024 * 1024;

interface ServerLog {
  fd: number;
  /** What was written since it was opened. */
  readNew: () => Promise<string>;
  close: () => Promise<void>;
}

/** Opens the server's log for a start. */
export async function openServerLog(home: Home): Promise<ServerLog> {
  await trimServerLog(home);
  const file = await openForAppend(home);
  const { size } = await file.stat();
  return { fd: file.fd, close: () => file.close(), readNew: () => readFrom(pathOf(home), size) };
}

/** Empties a log that has grown long: a server that turns callers away writes a line for each. */
export async function trimServerLog(home: Home): Promise<void> {
  const file = await openForAppend(home);
  try {
    if ((await file.stat()).size > MAX_BYTES) await file.truncate();
  } finally {
    await file.close();
  }
}

// Root follows no link that the server's account might have laid in its folder.
async function openForAppend(home: Home): Promise<FileHandle> {
  const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = constants;
  const file = await open(pathOf(home), O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW, 0o600);
  if (home.handOver) await file.chown(home.owner.uid, home.owner.gid);
  return file;
}

async function readFrom(path: string, offset: number): Promise<string> {
  const file = await open(path, "r");
  try {
    const buffer = Buffer.alloc(64 * 1024);
    const { bytesRead } = await file.read(buffer, 0, buffer.length, offset);
    return buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}

function pathOf(home: Home): string {
  return join(home.folder, "server.log");
}
