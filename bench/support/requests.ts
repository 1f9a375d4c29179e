import { publicId } from "../../src/lib/ids.ts";
import type { Subscription } from "./partners.ts";

/** A raw identity request for the partner of each subscription. */
export function identityRequests(subscriptions: readonly Subscription[]): string[] {
  return subscriptions.map(({ partner }) => identityRequest(partner.token));
}

export function identityRequest(token: string): string {
  return requestText("GET /api/v1/partner/me HTTP/1.1", token);
}

/** A raw test call for each subscription. */
export function testRequests(subscriptions: readonly Subscription[]): string[] {
  return subscriptions.map(({ id, partner, secret }) => {
    const path = `/api/v1/partner/webhooks/${publicId("wh", id)}/test`;
    return requestText(`POST ${path} HTTP/1.1`, partner.token, JSON.stringify({ secret }));
  });
}

/** A raw request that subscribes the URL. */
export function creationRequest(token: string, url: string): string {
  const json = JSON.stringify({ url, events: ["vc.test.ping"] });
  return requestText("POST /api/v1/partner/webhooks HTTP/1.1", token, json);
}

/** A raw request for a page of the failures audit. */
export function failuresRequest({ id, partner }: Subscription, query: string): string {
  return requestText(
    `GET /api/v1/partner/webhooks/${publicId("wh", id)}/failures?${query} HTTP/1.1`,
    partner.token,
  );
}

export function requestText(requestLine: string, token: string, json = ""): string {
  const content = ["Content-Type: application/json", `Content-Length: ${json.length}`];
  const head = [
    requestLine,
    "Host: 127.0.0.1",
    `Authorization: Bearer ${token}`,
    ...(json === "" ? [] : content),
  ];
  return `${head.join("\r\n")}\r\n\r\n${json}`;
}
