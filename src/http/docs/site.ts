import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { DOCS_BASE_URL, type SiteFile, type SiteManifest } from "./manifest.ts";

/** A file as it goes out. */
export interface Served extends SiteFile {
  body: Buffer;
  etag: string;
}

/** Where `npm run build` puts the documentation, seen from dist/src/http/docs. */
export const BUILT_SITE = new URL("../../../docs/", import.meta.url);

/** The built documentation. Nothing is read before somebody asks for it, and each file once. */
export class Site {
  readonly #folder: URL;
  readonly #baseUrl: () => string;
  #manifest: Promise<Map<string, SiteFile>> | undefined;
  readonly #served = new Map<string, Promise<Served>>();

  constructor(folder: URL, baseUrl: () => string) {
    this.#folder = folder;
    this.#baseUrl = baseUrl;
  }

  /** The file at a path; null when the documentation has none there. */
  async at(path: string): Promise<Served | null> {
    this.#manifest ??= this.#readManifest();
    const entry = (await this.#manifest).get(path);
    if (!entry) return null;

    let served = this.#served.get(path);
    if (!served) this.#served.set(path, (served = this.#read(entry)));
    return served;
  }

  async #readManifest(): Promise<Map<string, SiteFile>> {
    const text = await readFile(new URL("site.json", this.#folder), "utf8");
    return new Map(Object.entries(JSON.parse(text) as SiteManifest));
  }

  async #read(entry: SiteFile): Promise<Served> {
    const written = await readFile(new URL(entry.file, this.#folder), "utf8");
    const body = Buffer.from(entry.isForever ? written : this.#atHome(written));
    const digest = createHash("sha256").update(body).digest("base64url").slice(0, 22);
    return { ...entry, body, etag: `"${digest}"` };
  }

  /** With our own address in the samples, and below its path in the links, behind a proxy that adds one. */
  #atHome(written: string): string {
    const baseUrl = this.#baseUrl();
    const prefix = new URL(baseUrl).pathname.replace(/\/$/, "");
    return written
      .replaceAll('="/docs', `="${prefix}/docs`)
      .replaceAll(DOCS_BASE_URL, baseUrl.replaceAll("&", "&amp;"));
  }
}
