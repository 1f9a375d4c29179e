import { Scope } from "./names.ts";
import type { Member, ObjectShape, Shape, TypedEvent } from "./shape.ts";

const RESERVED = [
  ...["Any", "Literal", "NotRequired", "Sequence", "TypedDict", "Union"],
  ...["NewEvent", "Published", "PublishError", "Publisher", "None", "True", "False"],
  ...["Exception", "OSError", "ValueError"],
];

/** Returns the types of the events and of their data in Python. */
export function pythonTypes(events: readonly TypedEvent[]): string {
  const scope = new Scope(RESERVED);
  const { names, types } = scope;
  const named = events.map((event) => ({
    ...event,
    data: names.take(`${event.name} data`),
    event: names.take(event.name),
  }));
  const union = named.map(({ name, summary, shape, data: wanted, event }) => {
    const data = typeOf(shape, wanted, scope);
    types.push(`# ${summary}.\n${event} = TypedDict("${event}", {\n${membersOf(name, data)}\n})`);
    return event;
  });
  return [...types, `NewEvent = Union[${union.join(", ")}]`].join("\n\n");
}

function membersOf(type: string, data: string): string {
  return [
    '"organization": str,  # Its id, org_…, or its slug.',
    `"type": Literal[${pythonString(type)}],`,
    `"data": ${data},`,
    '"occurred_at": NotRequired[str],  # ISO 8601. Default: the time of publishing.',
    '"dedupe_key": NotRequired[str],  # Default: a random one, so that a retry is safe.',
  ]
    .map((line) => `    ${line}`)
    .join("\n");
}

/** Returns a type expression. Declares a class for an object, with the wanted name. */
function typeOf(shape: Shape, wanted: string, scope: Scope): string {
  switch (shape.kind) {
    case "any":
      return "Any";
    case "string":
      return "str";
    case "integer":
      return "int";
    case "number":
      return "float";
    case "boolean":
      return "bool";
    case "null":
      return "None";
    case "literals":
      return literal(shape.values);
    case "array":
      return `list[${nested(shape.items, `${wanted}Item`, scope)}]`;
    case "map":
      return `dict[str, ${nested(shape.values, `${wanted}Value`, scope)}]`;
    case "union":
      return `Union[${shape.of.map((one, i) => nested(one, `${wanted}${i + 1}`, scope)).join(", ")}]`;
    case "object":
      return objectOf(shape, wanted, scope);
    case "named":
      return `"${scope.nameOf(shape.type, (name) => {
        const type = typeOf(shape.type.shape, name, scope);
        if (type !== name) scope.types.push(`${name} = ${type}`);
      })}"`;
  }
}

function nested(shape: Shape, wanted: string, scope: Scope): string {
  return typeOf(shape, shape.kind === "object" ? scope.names.take(wanted) : wanted, scope);
}

/** A TypedDict permits no further members. */
function objectOf({ members, further }: ObjectShape, name: string, scope: Scope): string {
  const declared = declare(members, name, scope);
  return further ? `Union[${declared}, dict[str, Any]]` : declared;
}

/** The functional form, because members can have any name. */
function declare(members: readonly Member[], name: string, scope: Scope): string {
  const lines = members.map(({ name: member, shape, required, description }) => {
    const type = nested(shape, `${name} ${member}`, scope);
    const remark = description === "" ? "" : `  # ${description}`;
    return `    ${pythonString(member)}: ${required ? type : `NotRequired[${type}]`},${remark}`;
  });
  scope.types.push(`${name} = TypedDict("${name}", {\n${lines.join("\n")}\n})`);
  return name;
}

/** A float is not allowed in a Literal. */
function literal(values: readonly (string | number | boolean | null)[]): string {
  if (values.length === 0) return "Any";
  if (values.some((value) => typeof value === "number" && !Number.isSafeInteger(value))) {
    return values.every((value) => typeof value === "number") ? "float" : "Any";
  }
  const words = values.map((value) => {
    if (value === null) return "None";
    if (typeof value === "boolean") return value ? "True" : "False";
    return typeof value === "string" ? pythonString(value) : String(value);
  });
  return `Literal[${words.join(", ")}]`;
}

/** JSON escapes the same characters in the same way. */
function pythonString(text: string): string {
  return JSON.stringify(text);
}
