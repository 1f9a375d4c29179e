import { parse } from "libpg-query";

type Node = Record<string, unknown>;

interface Context {
  /** Tables that this file creates. No process uses them yet. */
  created: Set<string>;
  /** The release since which nothing uses the dropped object, from the comment before the statement. */
  unusedSince: string | undefined;
  /** Every kind of statement in the file. */
  kinds: Set<string>;
  releases: readonly string[];
}

/** Tables of a few rows, which no request writes. */
const SMALL = new Set(["settings", "schema_migrations", "event_types"]);

/** The one use of DO: an owner's function gets its search path. */
const SETS_PATHS =
  /^\s*begin\s+(execute format\('alter function \w+ set search_path = %I, pg_temp', current_schema\(\)\);\s*)+end\s*$/;

/**
 * Returns the parts of a migration that are not allowed while the previous release runs under load. It must
 * not rewrite a large table or read it under a lock, and must not remove things that the release uses. A
 * statement that is not on the list is a fault, too.
 */
export async function lintMigration(sql: string, releases: readonly string[]): Promise<string[]> {
  const source = Buffer.from(sql);
  const { stmts = [] } = (await parse(sql)) as { stmts?: Node[] };
  const kinds = new Set(stmts.map((one) => kindOf(one["stmt"] as Node)[0]));
  const created = new Set<string>();
  let end = 0;
  return stmts.flatMap((one) => {
    const start = Number(one["stmt_location"] ?? 0);
    const length = Number(one["stmt_len"] ?? source.length - start);
    const text = source.subarray(start, start + length).toString();
    const withComments = source.subarray(end, start + length).toString();
    const [, unusedSince] = /^ *-- unused since (\S+)$/m.exec(withComments) ?? [];
    end = start + length;
    const [kind, node] = kindOf(one["stmt"] as Node);
    const judge = JUDGES[kind];
    const faults = judge?.(node, { created, unusedSince, kinds, releases }) ?? [
      `${kind} is not on the list of statements that are known to be safe`,
    ];
    const line = source.subarray(0, start).toString().split("\n").length + leadingLines(text);
    return faults.map((fault) => `line ${line}: ${fault}`);
  });
}

const JUDGES: Record<string, (node: Node, context: Context) => string[]> = {
  CreateStmt: (node, { created }) => {
    created.add(nameOf(node["relation"]));
    const parents = (node["inhRelations"] as Node[] | undefined) ?? [];
    return parents.some((one) => !created.has(nameOf(one["RangeVar"])))
      ? ["a partition of a table that exists locks it: let create_partitions do it"]
      : [];
  },
  IndexStmt: (node, { created }) =>
    unlessCreated(node, created, "CREATE INDEX holds up writes while it reads the table"),
  AlterTableStmt: (node, context) =>
    context.created.has(nameOf(node["relation"]))
      ? []
      : (node["cmds"] as Node[]).flatMap((one) =>
          judgeChange(one["AlterTableCmd"] as Node, context),
        ),
  DropStmt: (node, context) =>
    node["removeType"] === "OBJECT_INDEX" ? [] : unlessUnused(String(node["removeType"]), context),
  RenameStmt: () => [
    "the release before uses the old name: add the new one, and drop the old one a release later",
  ],
  UpdateStmt: (node, { created }) => unlessFew(node, created),
  DeleteStmt: (node, { created }) => unlessFew(node, created),
  InsertStmt: (node, { created }) => (hasValues(node) ? [] : unlessFew(node, created)),
  DoStmt: (node) =>
    SETS_PATHS.test(bodyOf(node))
      ? []
      : ["DO may do anything: only the search paths of functions are set with it"],
  CreateFunctionStmt: () => [],
  AlterFunctionStmt: () => [],
  ViewStmt: () => [],
  GrantStmt: () => [],
  CommentStmt: () => [],
};

/** Judges changes of an existing table. All others are refused. */
function judgeChange(change: Node, context: Context): string[] {
  const subtype = String(change["subtype"]);
  switch (subtype) {
    case "AT_AddColumn":
      return judgeColumn((change["def"] as Node)["ColumnDef"] as Node);
    case "AT_AddConstraint":
      return judgeConstraint((change["def"] as Node)["Constraint"] as Node);
    case "AT_ValidateConstraint":
      return context.kinds.size === 1
        ? []
        : [
            "VALIDATE reads the table: put it into a file of its own, so that no other lock is held meanwhile",
          ];
    case "AT_DropColumn":
      return unlessUnused("a column", context);
    case "AT_AlterColumnType":
      return [
        "a new type rewrites the table: add a column, fill it in batches, and drop the old one a release later",
      ];
    case "AT_SetNotNull":
      return [
        "SET NOT NULL reads the table under a lock: add a CHECK … NOT VALID, and validate it in a file of its own",
      ];
    case "AT_ColumnDefault":
    case "AT_DropNotNull":
    case "AT_DropConstraint":
    case "AT_SetRelOptions":
    case "AT_SetStatistics":
      return [];
    default:
      return [`${subtype} is not on the list of changes that are known to be safe`];
  }
}

function judgeColumn(column: Node): string[] {
  const constraints = ((column["constraints"] as Node[] | undefined) ?? []).map(
    (one) => one["Constraint"] as Node,
  );
  const kinds = constraints.map((one) => String(one["contype"]));
  const faults = constraints.flatMap((one) => {
    switch (one["contype"]) {
      case "CONSTR_NULL":
      case "CONSTR_NOTNULL":
        return [];
      case "CONSTR_DEFAULT":
        return isConstant(one["raw_expr"] as Node)
          ? []
          : ["a default that is computed for each row rewrites the table"];
      case "CONSTR_CHECK":
        return [
          "a CHECK of a new column reads the table under a lock: add it NOT VALID, and validate it in a file of its own",
        ];
      default:
        return [`${String(one["contype"])} of a new column rewrites or reads the table`];
    }
  });
  if (kinds.includes("CONSTR_NOTNULL") && !kinds.includes("CONSTR_DEFAULT")) {
    faults.push(
      "a column without a default that must not be null breaks the inserts of the release before",
    );
  }
  return faults;
}

function judgeConstraint(constraint: Node): string[] {
  const isOnIndex = constraint["indexname"] !== undefined;
  return constraint["skip_validation"] === true || isOnIndex
    ? []
    : ["a constraint reads the table under a lock: add it NOT VALID, or on an index that exists"];
}

function unlessCreated(node: Node, created: Set<string>, fault: string): string[] {
  return created.has(nameOf(node["relation"])) ? [] : [`${nameOf(node["relation"])}: ${fault}`];
}

function unlessFew(node: Node, created: Set<string>): string[] {
  return SMALL.has(nameOf(node["relation"]))
    ? []
    : unlessCreated(
        node,
        created,
        "many rows in one transaction: let maintenance do it in batches",
      );
}

function unlessUnused(what: string, { unusedSince, releases }: Context): string[] {
  if (unusedSince !== undefined && releases.includes(unusedSince)) return [];
  return [
    `${what} is dropped a release after the last use: write "-- unused since <release>" before it`,
  ];
}

function isConstant(expression: Node): boolean {
  const [kind, node] = kindOf(expression);
  return kind === "A_Const" || (kind === "TypeCast" && isConstant(node["arg"] as Node));
}

function hasValues(insert: Node): boolean {
  const select = (insert["selectStmt"] as Node | undefined)?.["SelectStmt"] as Node | undefined;
  return select === undefined || select["valuesLists"] !== undefined;
}

function bodyOf(block: Node): string {
  const [first] = (block["args"] as Node[]).map((one) => (one["DefElem"] as Node)["arg"] as Node);
  return String((first?.["String"] as Node | undefined)?.["sval"]);
}

function kindOf(statement: Node): [string, Node] {
  const [entry] = Object.entries(statement);
  return entry ? [entry[0], entry[1] as Node] : ["nothing", {}];
}

function nameOf(relation: unknown): string {
  return String((relation as Node | undefined)?.["relname"]);
}

/** The lines of white space and comments before a statement. */
function leadingLines(text: string): number {
  return (/^(?:\s|--[^\n]*\n)*/.exec(text)?.[0] ?? "").split("\n").length - 1;
}
