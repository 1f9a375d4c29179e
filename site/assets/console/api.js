import { authorization, noteRole } from "./session.js";

const ROOT = "/api/v1/admin/";

/** An error with a message for the operator. The status is 0 if there was no response. */
export class Problem extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

/** Calls the operator API. Returns null if the response has no body. */
export async function call(method, path, body) {
  const response = await send(method, path, body);
  if (response.ok) noteRole(response.headers.get("x-operator-role"));
  if (response.status === 204) return null;
  const content = await read(response);
  if (!response.ok) throw new Problem(response.status, inWords(content));
  return content;
}

async function send(method, path, body) {
  const headers = { authorization: authorization() };
  if (body) headers["content-type"] = "application/json";
  const request = { method, headers, body: body && JSON.stringify(body) };
  try {
    return await fetch(ROOT + path, { ...request, credentials: "omit", redirect: "error" });
  } catch {
    throw new Problem(0, "The service is unreachable.");
  }
}

async function read(response) {
  try {
    return await response.json();
  } catch {
    throw new Problem(response.status, `Got status ${response.status}, but not from the service.`);
  }
}

function inWords({ detail, title, errors = [] }) {
  const faults = errors.map((fault) => `${fault.pointer.slice(1)} ${fault.detail}`);
  return [detail ?? title, faults.join("; ")].filter(Boolean).join(" ");
}
