export interface HttpFileRequest {
  title: string;
  name: string;
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | undefined;
}

/** The requests of an `.http` file, in order, with `values` for its variables. */
export function parseHttpFile(text: string, values: Record<string, string>): HttpFileRequest[] {
  const [head = "", ...requests] = text.split(/^### */m);
  const variables = new Map(
    [...head.matchAll(/^@(\w+) = (.*)$/gm)].map(([, name, value]) => [name, value]),
  );
  for (const name of Object.keys(values)) {
    if (!variables.has(name)) throw new Error(`the file has no variable ${name}`);
    variables.set(name, values[name]);
  }
  return requests.map((request) => parseRequest(fill(request)));

  function fill(request: string): string {
    return request.replace(/\{\{(\w+)\}\}/g, (_, name: string) => {
      const value = variables.get(name);
      if (value === undefined) throw new Error(`the file never sets ${name}`);
      return value;
    });
  }
}

function parseRequest(text: string): HttpFileRequest {
  const [head = "", ...body] = text.trim().split("\n\n");
  const [title = "", ...lines] = head.split("\n");
  const name = /^# @name (\w+)$/.exec(lines.shift() ?? "")?.[1] ?? "";
  const [method = "", url = ""] = (lines.shift() ?? "").split(" ");
  const headers = Object.fromEntries(
    lines.map((line) => [line.replace(/:.*/s, ""), line.replace(/^[^:]*: /, "")] as const),
  );
  return {
    title,
    name,
    method,
    url,
    headers,
    body: body.length > 0 ? body.join("\n\n") : undefined,
  };
}
