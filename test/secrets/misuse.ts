import { converse, rawRequest, type RawAnswer } from "../support/raw-http.ts";

const ME = "/api/v1/partner/me";
const WEBHOOKS = "/api/v1/partner/webhooks";
const KEYS = "/api/v1/admin/keys";

/** Sends a secret in every wrong place and returns the responses. */
export async function misuse(
  base: string,
  secret: string,
  authorization: string,
): Promise<RawAnswer[]> {
  const inUrl = encodeURIComponent(secret);
  const bodies = [
    `{"${secret}":1,"url":"${secret}","events":["${secret}"],"secret":{"${secret}":"${secret}"}}`,
    `{"slug":"${secret}","organization":"${secret}","scopes":["${secret}"],"label":7}`,
    `{"secret":"${secret}x","to":"${secret}"}`,
    `{"secret":"${secret}`,
    `"${secret}"`,
    secret,
  ];
  const paths = [
    `/${inUrl}`,
    `/%zz${inUrl}`,
    `/docs/${inUrl}`,
    `/console/${inUrl}`,
    `${ME}?token=${inUrl}&access_token=${inUrl}`,
    `${WEBHOOKS}/${inUrl}/failures?limit=${inUrl}&cursor=${inUrl}`,
    `${KEYS}?organization=${inUrl}&cursor=${inUrl}&include_revoked=${inUrl}`,
    `/api/v1/admin/deliveries?event=${inUrl}&state=${inUrl}&reason=${inUrl}&since=${inUrl}`,
    `/api/v1/admin/deliveries/${inUrl}`,
  ];
  const targets = [WEBHOOKS, `${WEBHOOKS}/${inUrl}/test`, "/api/v1/admin/organizations", KEYS];
  const whole = ["Host: localhost", "Connection: close", `Authorization: ${authorization}`];

  const requests = [
    ...paths.map((path) => rawRequest(`GET ${path} HTTP/1.1`, whole)),
    rawRequest(`DELETE ${WEBHOOKS}/${inUrl} HTTP/1.1`, whole),
    rawRequest(`DELETE ${KEYS}/${inUrl} HTTP/1.1`, whole),
    ...targets.flatMap((path) =>
      ["application/json", secret].flatMap((type) =>
        bodies.map((body) => {
          const head = [`Content-Type: ${type}`, `Content-Length: ${body.length}`];
          return rawRequest(`POST ${path} HTTP/1.1`, [...whole, ...head], body);
        }),
      ),
    ),
    ...[ME, KEYS].flatMap((path) =>
      [`Basic ${secret}`, `Bearer ${secret}`, `Bearer ${secret}x`, secret].map((given) => {
        const head = [`Authorization: ${given}`, `Cookie: token=${secret}`, `X-Api-Key: ${secret}`];
        return rawRequest(`GET ${path} HTTP/1.1`, [...whole.slice(0, 2), ...head]);
      }),
    ),
    rawRequest(`GET ${ME} HTTP/1.1`, [`Host: ${secret}`, "Connection: close"]),
    rawRequest(`GET ${ME} HTTP/1.1`, [...whole, `X-Large: ${secret.repeat(500)}`]),
    rawRequest(`${secret} ${ME} HTTP/1.1`, whole),
    rawRequest(`GET ${ME} ${secret}`, whole),
    `${secret}\r\n\r\n`,
  ];
  const answers: RawAnswer[] = [];
  for (const bytes of requests) answers.push(...(await converse(base, bytes)));
  return answers;
}
