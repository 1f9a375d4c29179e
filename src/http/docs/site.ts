import { readFile } from "node:fs/promises";
import type { SiteFile, SiteManifest } from "./manifest.ts";

/** A file as it goes out. */
export interface Served extends SiteFile {
  body: Buffer;
}

/** Where `npm run build` puts the documentation and the console, seen from dist/src/http/docs. */
export const BUILT_SITE = new URL("../../../docs/", import.meta.url);

/** The built pages. Nothing is read before somebody asks for it, and what could be read is kept. */
export class Site {
  readonly #folder: URL;
  readonly #atHome: (written: string) => string;
  #manifest: Map<string, SiteFile> | undefined;
  readonly #served = new Map<string, Served>();

  /** `atHome` has the last word on what goes out. */
  constructor(folder: URL, atHome: (written: string) => string = (written) => written) {
    this.#folder = folder;
    this.#atHome = atHome;
  }

  /** The file at a path; null when there is none. */
  async at(path: string): Promise<Served | null> {
    const manifest = (this.#manifest ??= await this.#readManifest());
    const entry = manifest.get(path);
    if (!entry) return null;

    let served = this.#served.get(path);
    if (!served) this.#served.set(path, (served = await this.#read(entry)));
    return served;
  }

  async #readManifest(): Promise<Map<string, SiteFile>> {
    const text = await readFile(new URL("site.json", this.#folder), "utf8");
    return new Map(Object.entries(JSON.parse(text) as SiteManifest));
  }

  async #read(entry: SiteFile): Promise<Served> {
    const written = await readFile(new URL(entry.file, this.#folder), "utf8");
    return { ...entry, body: Buffer.from(this.#atHome(written)) };
  }
}
