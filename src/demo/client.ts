/** Calls an API as anybody outside would, and fails loudly on an answer that was not expected. */
export function createClient(baseUrl: string, token: string) {
  return async function call<Answer>(
    method: string,
    path: string,
    body?: unknown,
  ): Promise<Answer> {
    const response = await fetch(baseUrl + path, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok)
      throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Answer;
  };
}
