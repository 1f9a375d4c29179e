import type { App } from "../http/app.ts";
import type { Clock } from "../lib/clock.ts";
import { Busy, PartnerError } from "../lib/errors.ts";
import { kept } from "../lib/kept.ts";
import { followOverview, OverviewStreams } from "../subjects/activity/overview-streams.ts";
import type { Overview } from "../subjects/activity/overview.ts";
import { isCheck } from "../subjects/events/routes.ts";
import type { CellRequest } from "./cell.ts";
import { API, type Cells, noAnswer, type Part, Relayed } from "./cells.ts";
import { mergeOverviews } from "./merge.ts";
import { type OrganizationRequest, placeOrganization } from "./place-organization.ts";
import { Publisher } from "./publish.ts";
import { lacking, mergeable, type Respond } from "./spread.ts";

interface Parts {
  cells: Cells;
  clock: Clock;
  /** The headers of requests that the gateway makes by itself. */
  headers: CellRequest["headers"];
  connectionsMax: number;
}

/** Returns the handlers of the gateway's own, by operation: what neither goes to one cell nor is merged like others. */
export function ownResponses(app: App, parts: Parts): ReadonlyMap<string, Respond> {
  const { cells } = parts;
  const publisher = new Publisher(cells, parts.headers);
  return new Map<string, Respond>([
    [
      "publishEvents",
      async (request, { headers }, reply) => {
        const { body, documentFaults } = request;
        const checksOnly = isCheck(request);
        const answer = await publisher.answer(body, headers, { documentFaults, checksOnly });
        if (!(answer instanceof Relayed)) reply.code(202);
        return answer;
      },
    ],
    [
      "createOrganization",
      ({ body }, { headers }) => placeOrganization(cells, body as OrganizationRequest, headers),
    ],
    ["signOut", (_request, asked) => signOut(cells, asked)],
    ["getOverview", (_request, asked) => readOverview(parts, asked)],
    ["streamOverview", streamsFor(app, parts)],
  ]);
}

/** Tells all cells, so that any of them can refuse the session. A cell that is away does not learn it. */
async function signOut({ all }: Cells, asked: CellRequest): Promise<Relayed> {
  const told = all.map(async (cell) => new Relayed(cell, await cell.change(asked)));
  return Promise.any(told).catch(() => {
    throw noAnswer(all.map(({ name }) => name));
  });
}

async function readOverview({ cells, clock }: Parts, asked: CellRequest): Promise<Overview> {
  const none = { parts: [] as Part<Overview>[], unreachable: cells.all.map(({ name }) => name) };
  const { parts, unreachable } = await cells
    .gather<Overview>(mergeable(asked))
    .catch((error: unknown) => {
      if (error instanceof Busy) return none;
      throw error;
    });
  const away = unreachable.map((name) => ({
    ...{ code: "cell", detail: `cell ${name}: does not answer` },
    since: (cells.named(name)?.awaySince ?? clock()).toISOString(),
  }));
  return lacking(unreachable, mergeOverviews(parts, away)) as Overview;
}

/** One reading is sent to all streams. */
function streamsFor(app: App, parts: Parts): Respond {
  const { cells, clock, headers, connectionsMax } = parts;
  const read = kept(() => readOverview(parts, { method: "GET", path: `${API}/overview`, headers }));
  const streams = new OverviewStreams({ read, readOutage: read }, connectionsMax);
  app.addHook("preClose", (done) => {
    streams.close();
    done();
  });
  return async (request, asked, reply) => {
    const { session } = request;
    const isAccepted = () =>
      cells.gather({ ...asked, path: `${API}/session` }).then(
        () => true,
        (error: unknown) => error instanceof Busy,
      );
    const isOpen = async () =>
      session === null || (clock() < session.endsAt && (await isAccepted()));
    if (!(await isOpen())) throw new PartnerError("unauthenticated", "The session has ended.");
    return followOverview(streams, { request, reply, isOpen });
  };
}
