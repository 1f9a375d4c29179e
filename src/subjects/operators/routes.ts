import { Type } from "typebox";
import type { App } from "../../http/app.ts";
import {
  isBehindHttps,
  joinSessions,
  operatorOf,
  sessionCookie,
  type SignIns,
} from "../../http/operator-authentication.ts";
import { operatorProblems, readFilters } from "../../http/operator.ts";
import { BODY_PROBLEMS } from "../../http/problem.ts";
import {
  CellsPageQuery,
  pageOfCells,
  readByHand,
  readPageRequest,
  sentTime,
  Timestamp,
  Unreachable,
} from "../../http/schema.ts";
import { INITIAL_LIMIT } from "../../queue/rules.ts";
import type { Dependencies } from "../dependencies.ts";
import { NOT_BLANK } from "../organizations/schema.ts";
import { type LaterChanges, pageOfChanges } from "./changes.ts";
import { find, findExactly, FOUND_KINDS, FOUND_MAX, TEXT_MAX } from "./find.ts";
import { encodeSession, SESSION_MS } from "./rules.ts";
import { SessionDetail, SignIn } from "./schema.ts";
import { beginSession } from "./sessions.ts";
import { CHANGE_WAYS, insertEndedSession } from "./sql.ts";

const Query = Type.Object({
  q: Type.String({
    maxLength: TEXT_MAX,
    pattern: NOT_BLANK,
    description:
      "Any id (`evt_`, `dlv_`, `att_`, `wh_`, `org_`, `vck_`, `rdl_`), or the start of a slug, an event type or a host.",
  }),
});

const Item = Type.Object(
  {
    kind: Type.String({ enum: [...FOUND_KINDS] }),
    id: Type.String({
      description: "The id, or the name of a type or host. For an attempt, the id of its delivery.",
    }),
    label: Type.String({ description: "Text that describes it." }),
  },
  { title: "FoundItem", description: "Something that was found." },
);

const Items = Type.Object(
  {
    items: Type.Array(Item, { description: `At most ${FOUND_MAX}.` }),
    unreachable: Unreachable,
  },
  { title: "FoundItems", description: "The matches, exact ones first." },
);

/** All but the sign-in, which needs no token. */
export function operatorsOwnRoutes(
  app: App,
  deps: Dependencies,
  { signIns, later }: { signIns: SignIns; later: LaterChanges },
): void {
  showSessionRoute(app, deps);
  signOutRoute(app, deps, signIns);
  listChangesRoute(app, deps, later);
  findRoute(app, deps);
  findExactlyRoute(app, deps);
}

function findRoute(app: App, deps: Dependencies): void {
  app.get(
    "/find",
    {
      config: { spread: "merged" },
      schema: {
        operationId: "find",
        tags: ["Operation"],
        summary: "Find anything by its id or name",
        description:
          "Accepts anything that an operator pastes. Of a token, only the key's id is used.",
        querystring: Query,
        response: { 200: Items, ...operatorProblems("invalid_request") },
      },
      validatorCompiler: readByHand,
    },
    async ({ query }) => find(deps, readFilters(query, Query).q ?? ""),
  );
}

const Params = Type.Object({
  name: Type.String({ description: "Any id, or the slug of an organization." }),
});

function findExactlyRoute(app: App, deps: Dependencies): void {
  app.get(
    "/find/:name",
    {
      config: { spread: "one" },
      schema: {
        operationId: "findExactly",
        tags: ["Operation"],
        summary: "Find one thing by its id or slug",
        description: "Also a closed organization. A gateway finds the cell of a thing with it.",
        params: Params,
        response: { 200: Item, ...operatorProblems("not_found") },
      },
    },
    async ({ params }) => findExactly(deps, params.name),
  );
}

const Change = Type.Object(
  {
    id: Type.String({ description: "`chg_<uuid>`" }),
    at: Timestamp,
    operator: Type.String({ description: "The name of the operator's token." }),
    action: Type.String({ description: "Such as `revoke_key` or `read_payload`." }),
    subject: Type.String({ description: "The id of the changed object." }),
    via: Type.String({ enum: [...CHANGE_WAYS] }),
    remote: Type.String({ description: "The address that the request came from." }),
    request_id: Type.String(),
  },
  { title: "Change", description: "A change by an operator." },
);

/** Without control characters. */
const filter = (description: string) =>
  Type.Optional(Type.String({ pattern: "^[^\\u0000-\\u001f\\u007f-\\u009f]*$", description }));

const ChangesQuery = Type.Object({
  operator: filter("Only by the token with this name."),
  action: filter("Only this action."),
  subject: filter("Only to the object with this id."),
  since: sentTime("At or after."),
  until: sentTime("Before."),
  ...CellsPageQuery.properties,
});

function listChangesRoute(app: App, deps: Dependencies, later: LaterChanges): void {
  app.get(
    "/changes",
    {
      config: { spread: "descending" },
      schema: {
        operationId: "listChanges",
        tags: ["Operation"],
        summary: "List what operators did",
        description:
          "Every change over HTTP, in the console or on the command line, and every payload that was read, newest first.",
        querystring: ChangesQuery,
        response: {
          200: pageOfCells(Change, "ChangesPage", "Changes, newest first."),
          ...operatorProblems("invalid_request"),
        },
      },
      validatorCompiler: readByHand,
    },
    async ({ query }) => {
      const request = { ...readFilters(query, ChangesQuery), ...readPageRequest(query) };
      await later.settle();
      return pageOfChanges(deps, request);
    },
  );
}

function showSessionRoute(app: App, deps: Dependencies): void {
  app.get(
    "/session",
    {
      config: { spread: "merged", answersWithoutDatabase: true },
      schema: {
        operationId: "getSession",
        tags: ["Session"],
        summary: "Show who is signed in",
        description: "The name and the role of the token, and when the session ends.",
        response: { 200: SessionDetail, ...operatorProblems() },
      },
    },
    (request) => ({
      name: operatorOf(request),
      role: request.role,
      expires_at: request.session?.endsAt.toISOString() ?? null,
      auto_disable_after: deps.rules.autoDisableAfter,
      concurrency: concurrencyOf(deps.rules),
    }),
  );
}

function concurrencyOf({
  subscriptionConcurrency: max = INITIAL_LIMIT.attempts,
}: Dependencies["rules"]) {
  return { initial: Math.min(INITIAL_LIMIT.attempts, max), max };
}

const BODY_BYTES_MAX = 4 * 1024;

/** The only route of the operator API without a token in a header. */
export function signInRoute(app: App, deps: Dependencies, signIns: SignIns): void {
  app.post(
    "/session",
    {
      bodyLimit: BODY_BYTES_MAX,
      schema: {
        operationId: "signIn",
        tags: ["Session"],
        summary: "Sign in to the console",
        description:
          "Sets the cookie `partner_api_session`, which replaces the token for 12 hours. With the cookie, a request " +
          "other than GET needs `X-Requested-With: console` or an `Origin` of this listener.",
        security: [],
        body: SignIn,
        response: {
          204: Type.Null({ description: "The cookie is set." }),
          ...operatorProblems(...BODY_PROBLEMS),
        },
      },
    },
    async (request, reply) => {
      const { token } = signIns.check(request, request.body.token);
      const session = encodeSession(beginSession(deps), token);
      const value = joinSessions([session, ...signIns.foreignSessions(request)]);
      const cookie = sessionCookie(value, {
        seconds: SESSION_MS / 1000,
        isSecure: isBehindHttps(request.raw),
      });
      return reply.header("set-cookie", cookie).code(204).send(null);
    },
  );
}

function signOutRoute(app: App, deps: Dependencies, signIns: SignIns): void {
  app.delete(
    "/session",
    {
      config: { spread: "own", servesReaders: true },
      schema: {
        operationId: "signOut",
        tags: ["Session"],
        summary: "Sign out of the console",
        description: "Ends the session on every process and removes the cookie.",
        response: {
          204: Type.Null({ description: "The session is over." }),
          ...operatorProblems("cross_site"),
        },
      },
    },
    async (request, reply) => {
      if (request.session) await insertEndedSession(deps.db, request.session);
      const others = signIns.foreignSessions(request);
      const cookie = sessionCookie(joinSessions(others), {
        seconds: others.length === 0 ? 0 : SESSION_MS / 1000,
        isSecure: isBehindHttps(request.raw),
      });
      return reply.header("set-cookie", cookie).code(204).send(null);
    },
  );
}
