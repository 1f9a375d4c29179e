import { systemClock } from "../domain/clock.ts";

let second = NaN;
let textOfSecond = "";

/** As pino's own `isoTime`, which makes every text anew: that was a fortieth of what an identity check costs. */
export function timeOfLine(): string {
  const now = systemClock().getTime();
  const ms = now % 1000;
  if (now - ms !== second) {
    second = now - ms;
    textOfSecond = new Date(second).toISOString().slice(0, -"000Z".length);
  }
  return `,"time":"${textOfSecond}${String(ms).padStart(3, "0")}Z"`;
}
