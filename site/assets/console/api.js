import { authorization } from "./session.js";

const ROOT = "/api/v1/admin/";

/** Why the service did not do as it was asked, in words for the operator. The status is 0 if there was no answer. */
export class Problem extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Asks the operator API; null where it has nothing to say. */
export async function call(method, path, body) {
  const response = await send(method, path, body);
  if (response.status === 204) return null;
  const answer = await read(response);
  if (!response.ok) throw new Problem(response.status, inWords(answer));
  return answer;
}

async function send(method, path, body) {
  const headers = { authorization: authorization() };
  if (body) headers["content-type"] = "application/json";
  const request = { method, headers, body: body && JSON.stringify(body) };
  try {
    return await fetch(ROOT + path, { ...request, credentials: "omit", redirect: "error" });
  } catch {
    throw new Problem(0, "The service cannot be reached.");
  }
}

async function read(response) {
  try {
    return await response.json();
  } catch {
    throw new Problem(response.status, `The answer was ${response.status}, and not the service's.`);
  }
}

function inWords({ detail, title, errors = [] }) {
  const faults = errors.map((fault) => `${fault.pointer.slice(1)} ${fault.detail}`);
  return [detail ?? title, faults.join("; ")].filter(Boolean).join(" ");
}
