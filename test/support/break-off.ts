import { once } from "node:events";
import { connect } from "node:net";

/** Sends half of a request to a server on this machine. Resolves when the server has noticed the abort. */
export async function breakOff(port: number): Promise<void> {
  const socket = connect(port, "127.0.0.1");
  socket.resume();
  socket.write(
    "POST /hooks HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" +
      "Expect: 100-continue\r\nContent-Length: 100\r\n\r\n{",
  );
  await once(socket, "data"); // The server has begun to read.
  socket.end();
  await once(socket, "close");
}
