import { Type } from "typebox";

export const CELL_NAME = Type.String({
  pattern: "^[0-9a-z]{2}$",
  description: "The name of the cell: two characters.",
});

/** Of items in a gateway's answers. */
export const CellName = Type.Optional(
  Type.String({ description: "Only from a gateway: the name of its cell." }),
);

/** Names the cell in its answers, so that a gateway notices a wrong URL. */
export const CELL_HEADER = "x-cell";
