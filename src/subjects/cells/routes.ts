import { Type } from "typebox";
import type { App } from "../../http/app.ts";
import { logChange, operatorProblems } from "../../http/operator.ts";
import { BODY_PROBLEMS } from "../../http/problem.ts";
import { Unreachable } from "../../http/schema.ts";
import type { Dependencies } from "../dependencies.ts";
import { SLUG, SLUG_RULE } from "../organizations/rules.ts";
import { countOrganizations } from "../organizations/sql.ts";
import { reserveSlug } from "../organizations/work.ts";
import { CELL_NAME } from "./schema.ts";

const CellList = Type.Object(
  {
    items: Type.Array(
      Type.Object(
        {
          name: CELL_NAME,
          organizations: Type.Integer({ description: "The number of its organizations." }),
        },
        { title: "Cell", description: "A service with a database of its own." },
      ),
    ),
    unreachable: Unreachable,
  },
  { title: "CellList", description: "The cell of a service, or all cells of a gateway." },
);

const Slug = Type.String({ pattern: SLUG.source, description: `${SLUG_RULE}.` });

const Reservation = Type.Object(
  { slug: Slug, cell: CELL_NAME },
  {
    title: "SlugReservation",
    description: "A slug, and the cell whose organization may have it.",
    examples: [{ slug: "acme", cell: "01" }],
  },
);

/** What a gateway needs of its cells, besides what operators need. */
export function cellRoutes(app: App, deps: Dependencies): void {
  app.get(
    "/cells",
    {
      config: { spread: "merged" },
      schema: {
        operationId: "listCells",
        tags: ["Cells"],
        summary: "List the cells",
        description: "Of a service, its own cell.",
        response: { 200: CellList, ...operatorProblems() },
      },
    },
    async () => ({
      items: [{ name: deps.cell, organizations: await countOrganizations(deps.db) }],
    }),
  );

  app.post(
    "/slugs",
    {
      config: { spread: "first" },
      schema: {
        operationId: "reserveSlug",
        tags: ["Cells"],
        summary: "Reserve a slug for an organization of a cell",
        description:
          "A gateway reserves each new slug in its first cell. The response names the cell that the slug is reserved for, " +
          "which is another one if it was reserved before.",
        body: Reservation,
        response: { 200: Reservation, ...operatorProblems("slug_taken", ...BODY_PROBLEMS) },
      },
    },
    async (request) => {
      const { slug, cell } = request.body;
      const reserved = { slug, cell: await reserveSlug(deps, slug, cell) };
      logChange(request, "reserve_slug", slug);
      return reserved;
    },
  );
}
