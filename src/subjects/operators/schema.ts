import { Type } from "typebox";
import { timestampOrNull } from "../../http/schema.ts";
import { OPERATOR_ROLES } from "./rules.ts";

/** The length of the longest token. */
const TOKEN_MAX = 512;

export const SignIn = Type.Object(
  { token: Type.String({ maxLength: TOKEN_MAX, description: "An operator token." }) },
  { title: "SignIn", examples: [{ token: "k3yboard-cat-of-thirty-two-letters" }] },
);

export const SessionDetail = Type.Object(
  {
    name: Type.String({ description: "The name of the token." }),
    role: Type.String({ enum: [...OPERATOR_ROLES] }),
    expires_at: timestampOrNull("When the session ends; null for a token."),
    auto_disable_after: Type.Integer({
      description: "How many failed attempts in a row disable a subscription.",
    }),
    concurrency: Type.Object(
      { initial: Type.Integer(), max: Type.Integer() },
      {
        title: "Concurrency",
        description:
          "The attempts at once for one subscription in one process: the initial limit and the maximum (SUBSCRIPTION_CONCURRENCY).",
      },
    ),
  },
  { title: "Session", description: "Who is signed in, and some settings of the service." },
);
