import type { FastifyRequest } from "fastify";
import type { TObject, TProperties } from "typebox";
import type { ErrorCode } from "../../domain/errors.ts";
import { PageQuery } from "../page-schema.ts";
import { problems } from "../problem-schema.ts";
import { operatorOf } from "./admission.ts";
import { changeOf } from "./changes.ts";

/** The errors of an operator's operation, with those that all operations share. */
export function operatorProblems(...codes: ErrorCode[]): object {
  return problems(
    "unauthenticated",
    "insufficient_role",
    ...codes,
    "misdirected_request",
    "rate_limited",
    "internal",
    "unavailable",
  );
}

/** Logs an operator's change, and adds it to the record that is written before the answer. `subject` is a public id. */
export function logChange(request: FastifyRequest, action: string, subject: string): void {
  request.log.info(
    { operator: operatorOf(request), action, subject, request_id: request.id },
    "operator change",
  );
  request.changes ??= [];
  request.changes.push(changeOf(request, action, subject));
}

type Filters<Properties> = Partial<Record<Exclude<keyof Properties, "limit" | "cursor">, string>>;

/**
 * Returns the parameters of a query but those of pages, without the white space around them. A repeated one reads as empty,
 * which every list refuses.
 */
export function readFilters<Properties extends TProperties>(
  query: unknown,
  { properties }: TObject<Properties>,
): Filters<Properties> {
  const given = query as Record<string, unknown>;
  const entries = Object.keys(properties)
    .filter((name) => given[name] !== undefined && !(name in PageQuery.properties))
    .map((name) => [name, typeof given[name] === "string" ? given[name].trim() : ""]);
  return Object.fromEntries(entries) as Filters<Properties>;
}
