import { Socket } from "node:net";
import type { TestContext } from "node:test";

export interface Dialled {
  host?: string;
  port?: number;
}

/** Replaces connecting with a function of the test. */
export function onConnect(
  t: TestContext,
  instead: (socket: Socket, options: Dialled, connect: (options: object) => Socket) => Socket,
): void {
  const original = Reflect.get(Socket.prototype, "connect") as (options: object) => Socket;
  t.mock.method(Socket.prototype, "connect", function (this: Socket, [options]: [object]) {
    return instead(this, options, (changed) => Reflect.apply(original, this, [changed]));
  });
}
