interface Fault {
  pointer: string;
  detail: string;
}

interface ProblemBody {
  title?: string;
  detail?: string;
  code?: string;
  request_id?: string;
  errors?: Fault[];
}

/** An error in words for the operator. The status is 0 if there was no answer. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly requestId: string | null;

  constructor(status: number, body: ProblemBody) {
    super(inWords(body));
    this.status = status;
    this.code = body.code ?? "";
    this.requestId = body.request_id ?? null;
  }

  /** True if the same request may succeed later: the service or its database is away. */
  get isTemporary(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

function inWords({ detail, title, errors = [] }: ProblemBody): string {
  const others = errors.filter((fault) => fault.detail !== detail);
  const faults = others.map((fault) => `${fault.pointer.slice(1)} ${fault.detail}`);
  return [detail ?? title, faults.join("; ")].filter(Boolean).join(" ");
}
