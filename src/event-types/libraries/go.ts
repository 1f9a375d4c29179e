import { Names, type Scope } from "./names.ts";
import type { Member, Shape, TypedEvent } from "./shape.ts";

const RESERVED = ["Data", "NewEvent", "Published", "PublishError", "Publisher"];

/** Returns the types of the data in Go. */
export function goTypes(events: readonly TypedEvent[]): string {
  const names = new Names(RESERVED);
  const types: string[] = [];
  for (const { name, summary, shape } of events) {
    const type = names.take(name);
    const declared = typeOf(shape, type, { names, types });
    const own = declared === type ? types.pop() : `type ${type} ${declared}`;
    types.push(`// ${type} is the data of ${name}: ${summary}.\n${own ?? ""}`);
    types.push(`func (${type}) eventType() string { return ${JSON.stringify(name)} }`);
  }
  return types.join("\n\n");
}

/** Returns a type expression. Declares a struct for an object, with the wanted name. */
function typeOf(shape: Shape, wanted: string, scope: Scope): string {
  switch (shape.kind) {
    case "any":
    case "null":
      return "any";
    case "string":
      return "string";
    case "integer":
      return "int64";
    case "number":
      return "float64";
    case "boolean":
      return "bool";
    case "literals":
      return literal(shape.values);
    case "array":
      return `[]${nested(shape.items, `${wanted} item`, scope)}`;
    case "map":
      return `map[string]${nested(shape.values, `${wanted} value`, scope)}`;
    case "union":
      return union(shape.of, wanted, scope);
    case "object":
      return declare(shape.members, wanted, scope);
  }
}

function nested(shape: Shape, wanted: string, scope: Scope): string {
  return typeOf(shape, shape.kind === "object" ? scope.names.take(wanted) : wanted, scope);
}

/** A value or null is a pointer. Go has no other unions. */
function union(of: readonly Shape[], wanted: string, scope: Scope): string {
  const [one, ...more] = of.filter(({ kind }) => kind !== "null");
  return one && more.length === 0 ? pointer(nested(one, wanted, scope)) : "any";
}

function literal(values: readonly unknown[]): string {
  if (values.every((value) => typeof value === "string")) return "string";
  if (values.every(Number.isInteger)) return "int64";
  return values.every((value) => typeof value === "number") ? "float64" : "any";
}

function declare(members: readonly Member[], name: string, scope: Scope): string {
  const fields = new Names();
  const lines = members.map(({ name: member, shape, required, description }) => {
    const type = nested(shape, `${name} ${member}`, scope);
    const tag = `\`json:${JSON.stringify(required ? member : `${member},omitempty`)}\``;
    const remark = description === "" ? "" : ` // ${description}`;
    return `\t${fields.take(member)} ${required ? type : pointer(type)} ${tag}${remark}`;
  });
  scope.types.push(`type ${name} struct {\n${lines.join("\n")}\n}`);
  return name;
}

/** So that an optional value may be zero. A type that can be nil needs no pointer. */
function pointer(type: string): string {
  return /^(any$|\[\]|map\[|\*)/.test(type) ? type : `*${type}`;
}
