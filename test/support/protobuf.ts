/** The fields of a protobuf message, by number. An absent field is empty. */
export interface Fields {
  bytes: (field: number) => Buffer;
  messages: (field: number) => Fields[];
  number: (field: number) => number | undefined;
  fixed: (field: number) => bigint;
}

export function fieldsOf(message: Buffer): Fields {
  const found = new Map<number, (Buffer | bigint)[]>();
  let at = 0;
  while (at < message.length) {
    const key = Number(varint());
    const field = key >>> 3;
    const value = read(key & 7);
    found.set(field, [...(found.get(field) ?? []), value]);
  }
  const all = (field: number) => found.get(field) ?? [];
  const buffers = (field: number) => all(field).filter((value) => Buffer.isBuffer(value));
  return {
    bytes: (field) => buffers(field)[0] ?? Buffer.alloc(0),
    messages: (field) => buffers(field).map(fieldsOf),
    number: (field) => (all(field)[0] === undefined ? undefined : Number(all(field)[0])),
    fixed: (field) => buffers(field)[0]?.readBigUInt64LE() ?? 0n,
  };

  function read(type: number): Buffer | bigint {
    if (type === 0) return varint();
    if (type === 1) return take(8);
    if (type === 2) return take(Number(varint()));
    if (type === 5) return take(4);
    throw new Error(`wire type ${type}`);
  }

  function varint(): bigint {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = message.readUInt8(at++);
      value |= BigInt(byte & 127) << shift;
      if (byte < 128) return value;
    }
  }

  function take(length: number): Buffer {
    at += length;
    return message.subarray(at - length, at);
  }
}
