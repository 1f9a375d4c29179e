import { byPointer } from "../event.ts";
import type { Settings } from "../settings.ts";
import type { Source, SourceContext } from "../source.ts";
import { MySqlRows } from "./mysql.ts";
import { OutboxRows } from "./rows.ts";
import { OutboxReplication } from "./replication.ts";
import { readTableSettings } from "./table.ts";

const DEFAULTS = byPointer("organization", "type", "data", "occurred_at", "dedupe_key");

/** A table of a database that is not the service's. */
export function outboxSource(settings: Settings) {
  const url = settings.text("url");
  const isMySql = /^(?:mysql|mariadb):\/\//.test(url);
  settings.requireUrls("url", [url], ["postgres://", "postgresql://", "mysql://", "mariadb://"]);
  const reads = settings.choice("read", ["rows", "replication"], "rows");
  if (isMySql && reads === "replication") settings.fault("read", "can be rows alone for MySQL");
  const table = readTableSettings(settings, reads);
  if (reads === "replication") {
    const slot = settings.text("slot", "partner_api_bridge");
    const publication = settings.text("publication", "partner_api_bridge");
    return {
      defaults: DEFAULTS,
      open: (context: SourceContext): Source =>
        new OutboxReplication({ url, slot, publication, ...table }, context as never),
    };
  }
  if (isMySql && /[?&]ssl=/.test(url)) settings.fault("url", "must have no `ssl`: use `tls`");
  const tls = isMySql ? settings.tlsByName([url]) : null;
  const pollMs = settings.duration("poll", { minMs: 1, maxMs: 60_000, fallbackMs: 250 });
  return {
    defaults: DEFAULTS,
    open: (context: SourceContext): Source =>
      isMySql
        ? new MySqlRows({ url, tls, pollMs, ...table }, context as never)
        : new OutboxRows({ url, pollMs, ...table }, context as never),
  };
}
