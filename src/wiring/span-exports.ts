import type { SpanExporter } from "@opentelemetry/sdk-trace";
import type { Logger } from "pino";

/** Logs when the collector stops taking spans, and when it takes them again. */
export function noteExports(exporter: SpanExporter, log: Logger): SpanExporter {
  let isAway = false;
  return {
    export: (spans, done) => {
      exporter.export(spans, (result) => {
        const hasFailed = result.error !== undefined;
        if (hasFailed && !isAway) {
          const cause = result.error?.message;
          log.warn(
            { spans: spans.length, cause },
            "the collector does not accept spans: they are dropped",
          );
        }
        if (!hasFailed && isAway) log.info("the collector accepts spans again");
        isAway = hasFailed;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}
