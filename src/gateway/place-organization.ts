import { Busy } from "../lib/errors.ts";
import { slugTaken } from "../subjects/organizations/work.ts";
import type { Cell, CellRequest } from "./cell.ts";
import { API, type Cells, read, Relayed } from "./cells.ts";

export interface OrganizationRequest {
  slug: string;
  rate_limit_per_minute?: number;
  cell?: string;
}

/**
 * Creates an organization in the cell that is named, or in the one with the fewest. The first cell reserves the slug before. A slug
 * that was reserved without success is given to the next one who asks for it, in the same cell.
 */
export async function placeOrganization(
  cells: Cells,
  { cell: wanted, ...request }: OrganizationRequest,
  headers: CellRequest["headers"],
): Promise<Relayed> {
  const { slug } = request;
  if (await isTaken(cells, slug, headers)) throw slugTaken();
  const name = wanted ?? (await findSmallest(cells, headers));
  const cell = cells.named(await reserve(cells.all[0], { slug, cell: name }, headers));
  if (!cell) throw slugTaken();
  const body = JSON.stringify(request);
  const path = `${API}/organizations`;
  return new Relayed(cell, await cell.change({ method: "POST", path, headers, body }));
}

/** Finds organizations that were created without a reservation, such as in a cell before it was joined with others. */
async function isTaken(
  cells: Cells,
  slug: string,
  headers: CellRequest["headers"],
): Promise<boolean> {
  try {
    await cells.find({ method: "GET", path: `${API}/find/${slug}`, headers });
    return true;
  } catch (error) {
    if (error instanceof Busy || (error instanceof Relayed && error.answer.status === 404))
      return false;
    throw error;
  }
}

async function findSmallest(cells: Cells, headers: CellRequest["headers"]): Promise<string> {
  const { parts } = await cells.gather<{ items: { organizations: number }[] }>({
    ...{ method: "GET", path: `${API}/cells`, headers },
  });
  const sizes = parts.map(({ cell, body }) => ({ cell, size: body.items[0]?.organizations ?? 0 }));
  const [smallest] = sizes.sort((a, b) => a.size - b.size);
  return (smallest?.cell ?? cells.all[0]).name;
}

/** Returns the cell that the slug is reserved for. */
async function reserve(
  first: Cell,
  reservation: { slug: string; cell: string },
  headers: CellRequest["headers"],
): Promise<string> {
  const body = JSON.stringify(reservation);
  const asked = first.read({ method: "POST", path: `${API}/slugs`, headers, body });
  const answer = await asked.catch((cause: unknown) => {
    const detail = `No answer from cell ${first.name}, which reserves the slugs. Try again.`;
    throw Object.assign(new Busy(detail), { cause });
  });
  if (answer.status !== 200) throw new Relayed(first, answer);
  return (read(answer) as { cell: string }).cell;
}
