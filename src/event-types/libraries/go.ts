import { Names, Scope } from "./names.ts";
import {
  type Member,
  type NamedType,
  type ObjectShape,
  plainOf,
  type Shape,
  type TypedEvent,
} from "./shape.ts";

const RESERVED = [
  "Data",
  "NewEvent",
  "Published",
  "PublishError",
  "Publisher",
  "Nullable",
  "Some",
  "Null",
];

/** Returns the types of the data in Go. */
export function goTypes(events: readonly TypedEvent[]): string {
  const scope = new Scope(RESERVED);
  const named = events.map((event) => ({ ...event, type: scope.names.take(event.name) }));
  return named
    .flatMap(({ name, summary, shape, type }) => {
      const own = declarationOf(shape, type, scope);
      const others = scope.types.splice(0);
      return [
        ...others,
        `// ${type} is the data of ${name}: ${summary}.\n${own}`,
        `func (${type}) eventType() string { return ${JSON.stringify(name)} }`,
      ];
    })
    .join("\n\n");
}

/** An event has a type of its own, which says what it is the data of. */
function declarationOf(shape: Shape, name: string, scope: Scope): string {
  const plain = plainOf(shape);
  const object = objectOf(plain);
  return object ? structOf(object, name, scope) : `type ${name} ${typeOf(plain, name, scope)}`;
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
      return declare(shape, wanted, scope);
    case "named":
      return named(shape.type, scope);
  }
}

/** A type that contains itself needs a pointer. */
function named(type: NamedType, scope: Scope): string {
  const name = scope.nameOf(type, (given) => {
    const declared = typeOf(type.shape, given, scope);
    if (declared !== given) scope.types.push(`type ${given} ${declared}`);
  });
  const isStruct = objectOf(plainOf(type.shape)) !== null;
  return type.isRecursive && isStruct ? `*${name}` : name;
}

function nested(shape: Shape, wanted: string, scope: Scope): string {
  const isUnion = shape.kind === "union" && withoutNull(shape.of).length > 1;
  const isNew = shape.kind === "object" || isUnion;
  return typeOf(shape, isNew ? scope.names.take(wanted) : wanted, scope);
}

function withoutNull(of: readonly Shape[]): Shape[] {
  return of.filter(({ kind }) => kind !== "null");
}

/** A value or null is a pointer, and objects are one struct with the members of all. Go has no other unions. */
function union(of: readonly Shape[], wanted: string, scope: Scope): string {
  const others = withoutNull(of);
  const [one, ...more] = others;
  if (one && more.length === 0) return pointer(nested(one, wanted, scope));
  const object = objectOf({ kind: "union", of: others });
  if (!object) return "any";
  const type = declare(object, wanted, scope);
  return others.length < of.length ? pointer(type) : type;
}

/** An object, or one with the members of each of several. Null for anything else. */
function objectOf(shape: Shape): ObjectShape | null {
  if (shape.kind === "object") return shape.members.every(isTaggable) ? shape : null;
  if (shape.kind !== "union") return null;
  const objects = shape.of.map((one) => objectOf(plainOf(one)));
  const members = new Map<string, Member>();
  for (const object of objects) {
    if (!object) return null;
    for (const member of object.members) {
      const before = members.get(member.name);
      const isSame =
        !before ||
        JSON.stringify(before.shape, nameOnly) === JSON.stringify(member.shape, nameOnly);
      members.set(member.name, {
        ...(before ?? member),
        ...(isSame ? {} : { shape: { kind: "any" } }),
        required: objects.every((one) =>
          one?.members.some(({ name, required }) => name === member.name && required),
        ),
      });
    }
  }
  const isOpen = objects.some((one) => one?.further);
  return {
    kind: "object",
    members: [...members.values()],
    further: isOpen ? { kind: "any" } : null,
  };
}

function nameOnly(key: string, value: unknown): unknown {
  return key === "type" ? (value as NamedType).name : value;
}

/** encoding/json ignores a tag with any other name. */
function isTaggable({ name }: Member): boolean {
  return /^[\p{L}\p{Nd}!#$%&()*+\-./:;<=>?@[\]^_{|}~ ]+$/u.test(name);
}

function literal(all: readonly unknown[]): string {
  const values = all.filter((value) => value !== null);
  if (values.length < all.length && values.length > 0) return pointer(literal(values));
  if (values.every((value) => typeof value === "string")) return "string";
  if (values.every(Number.isInteger)) return "int64";
  return values.every((value) => typeof value === "number") ? "float64" : "any";
}

function declare(object: ObjectShape, name: string, scope: Scope): string {
  if (!object.members.every(isTaggable)) return "map[string]any";
  scope.types.push(structOf(object, name, scope));
  return name;
}

function structOf({ members, further }: ObjectShape, name: string, scope: Scope): string {
  const fields = new Names(further ? ["MarshalJSON", "UnmarshalJSON"] : []);
  const lines = members.map(({ name: member, shape, required, description }) => {
    const type = fieldType(shape, required, () => nested(shape, `${name} ${member}`, scope));
    const key = member === "-" ? "-," : member;
    const tag = `\`json:${JSON.stringify(required ? key : `${key.replace(/,$/, "")},omitempty`)}\``;
    const remark = description === "" ? "" : ` // ${description}`;
    return `\t${fields.take(member)} ${type} ${tag}${remark}`;
  });
  if (!further) return `type ${name} struct {\n${lines.join("\n")}\n}`;
  const field = fields.take("further");
  const values = nested(further, `${name} further`, scope);
  lines.push(`\t${field} map[string]${values} \`json:"-"\` // Members that have no field.`);
  const names = members.map((member) => `, ${JSON.stringify(member.name)}`).join("");
  return `type ${name} struct {\n${lines.join("\n")}\n}

// MarshalJSON writes the fields and the further members.
func (data ${name}) MarshalJSON() ([]byte, error) {
\ttype fields ${name}
\treturn writeFurther(fields(data), data.${field})
}

// UnmarshalJSON reads the fields and the further members.
func (data *${name}) UnmarshalJSON(text []byte) error {
\ttype fields ${name}
\treturn readFurther(text, (*fields)(data), &data.${field}${names})
}`;
}

/** An optional member may be absent, null, empty or zero, and each is sent as it is. */
function fieldType(shape: Shape, required: boolean, typeOf: () => string): string {
  if (required) return typeOf();
  const plain = plainOf(shape);
  const type = typeOf();
  const mayBeNull =
    plain.kind === "null" ||
    plain.kind === "any" ||
    type === "any" ||
    (plain.kind === "literals" && plain.values.includes(null)) ||
    (plain.kind === "union" && plain.of.some(({ kind }) => kind === "null"));
  if (mayBeNull) return `Nullable[${type.replace(/^\*/, "")}]`;
  return type.startsWith("*") ? type : `*${type}`;
}

/** So that an optional value may be zero. A type that can be nil needs no pointer. */
function pointer(type: string): string {
  return /^(any$|\[\]|map\[|\*)/.test(type) ? type : `*${type}`;
}
