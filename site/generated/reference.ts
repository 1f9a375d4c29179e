import { type Media, type Operation, resolvedDocument } from "./openapi-document.ts";
import { isSource } from "../source.ts";
import { exampleOf, type Member, members, remarks, typeOf } from "./schema.ts";

const JSON_TYPE = "application/json";

/** The six calls, from the published OpenAPI document. */
export async function reference(): Promise<string> {
  const { info, paths } = await resolvedDocument();
  const calls = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      call(`${method.toUpperCase()} ${path}`, operation),
    ),
  );
  // Without the first paragraph, which introduces the service.
  const [, ...ofAllCalls] = info.description.split("\n\n");
  return [...ofAllCalls, ...calls].join("\n\n");
}

function call(line: string, operation: Operation): string {
  const { operationId, summary, description, parameters = [], requestBody, responses } = operation;
  const body = requestBody?.content[JSON_TYPE];
  const [status = "", answer] =
    Object.entries(responses).find(([code]) => Number(code) < 300) ?? [];

  const inOrder = parameters.toSorted((a, b) => a.in.localeCompare(b.in)); // Path, then query.
  const outside = inOrder.map(({ name, in: place, description, schema }): Member => [
    name,
    `${typeOf(schema)}, in the ${place}`,
    remarks({ ...schema, description }),
  ]);
  return [
    `## ${summary}`,
    `\`${line}\``,
    description,
    examples(operationId),
    ...table("Parameters", [...outside, ...(body ? members(body.schema) : [])]),
    `### Response ${status}`,
    answer?.description ?? "",
    ...responseOf(answer?.content?.[JSON_TYPE]),
    "### Errors",
    errorsOf(responses),
  ].join("\n\n");
}

const EXAMPLES = [
  ["bash", "curl", "sh"],
  ["javascript", "JavaScript", "mjs"],
  ["python", "Python", "py"],
  ["go", "Go", "go"],
  ["php", "PHP", "php"],
  ["ruby", "Ruby", "rb"],
] as const;

/** A call has examples with curl and in JavaScript, and in each further language in which there is a file of it. */
function examples(operationId: string): string {
  const file = `site/samples/reference/${operationId}`;
  const fences = EXAMPLES.filter(
    ([, , ending]) => /^(sh|mjs)$/.test(ending) || isSource(`${file}.${ending}`),
  ).map(
    ([language, title, ending]) =>
      `\`\`\`${language} title="${title}" file=${file}.${ending}\n\`\`\``,
  );
  return [":::tabs Example", ...fences, ":::"].join("\n");
}

function responseOf(media: Media | undefined): string[] {
  if (!media) return [];
  const example = media.example ?? exampleOf(media.schema);
  return [
    `\`\`\`json\n${JSON.stringify(example, null, 2)}\n\`\`\``,
    ...table(null, members(media.schema)),
  ];
}

function table(title: string | null, rows: readonly Member[]): string[] {
  if (rows.length === 0) return [];
  const lines = rows.map(([name, type, text]) => `| \`${name}\` | ${type} | ${text} |`);
  return [
    ...(title === null ? [] : [`### ${title}`]),
    '<div class="members">', // On a phone, each member takes two lines.
    ["| name | type | meaning |", "|---|---|---|", ...lines].join("\n"),
    "</div>",
  ];
}

/** Links to the error codes in the descriptions of the statuses. */
function errorsOf(responses: Operation["responses"]): string {
  const links = Object.entries(responses)
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([status, { description }]) =>
      [...description.matchAll(/`(\w+)`/g)].map(
        ([, code = ""]) => `${status}\u00a0[\`${code}\`](/docs/errors#${code})`,
      ),
    );
  return `${links.join(", ")}.`;
}
