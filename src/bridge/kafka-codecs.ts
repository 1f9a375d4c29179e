import type { CompressionCodecs, CompressionTypes } from "kafkajs";
import { loadClient } from "./source.ts";

interface Codecs {
  CompressionTypes: typeof CompressionTypes;
  CompressionCodecs: typeof CompressionCodecs;
}

/** Lets the client read what producers compress otherwise than with gzip. Each package is loaded with the first batch that needs it. */
export function readCompressed({ CompressionTypes: types, CompressionCodecs: codecs }: Codecs) {
  codecs[types.Snappy] = reader(async () => {
    const { default: snappy } = await loadClient("snappyjs", () => import("snappyjs"));
    return (batch) => joined(batch, (part) => snappy.uncompress(part));
  });
  codecs[types.LZ4] = reader(async () => {
    const { default: lz4 } = await loadClient("lz4js", () => import("lz4js"));
    return (batch) => lz4.decompress(batch);
  });
  codecs[types.ZSTD] = reader(async () => {
    const { decompress } = await loadClient("fzstd", () => import("fzstd"));
    return (batch) => decompress(batch);
  });
}

type Decompress = (batch: Buffer) => Uint8Array;

function reader(load: () => Promise<Decompress>) {
  let loading: Promise<Decompress> | null = null;
  return () => ({
    decompress: async (batch: Buffer) => Buffer.from((await (loading ??= load()))(batch)),
  });
}

/** Java's clients write Snappy in parts, behind a header of their own. Others write it whole. */
const IN_PARTS = Buffer.from("\x82SNAPPY\0", "latin1");
const HEADER_BYTES = 16;

function joined(batch: Buffer, uncompress: (part: Buffer) => Uint8Array): Uint8Array {
  if (!batch.subarray(0, IN_PARTS.length).equals(IN_PARTS)) return uncompress(batch);
  const parts: Uint8Array[] = [];
  for (let at = HEADER_BYTES; at < batch.length;) {
    const end = at + 4 + batch.readUInt32BE(at);
    parts.push(uncompress(batch.subarray(at + 4, end)));
    at = end;
  }
  return Buffer.concat(parts);
}
