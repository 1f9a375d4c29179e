import { readFile } from "node:fs/promises";
import { SingleFlight } from "../../lib/single-flight.ts";
import type { SiteFile, SiteManifest } from "./manifest.ts";

/** A file with its content. */
export interface Served extends SiteFile {
  body: Buffer;
}

/** Where `npm run build` puts the documentation and the console, relative to dist/src/http/docs. */
export const BUILT_SITE = new URL("../../../docs/", import.meta.url);

/** The built pages. Each is read when it is first requested, and then kept. */
export class Site {
  readonly #folder: URL;
  readonly #atHome: (written: string, path: string) => string | Promise<string>;
  readonly #builtPath: (path: string) => string;
  readonly #served = new Map<string, Served>();
  /** Concurrent requests for a file share a descriptor. Otherwise clients could use up all of them. */
  readonly #reading = new SingleFlight((path) => this.#read(path));
  #manifest: Promise<Map<string, SiteFile>> | undefined;

  /** `atHome` changes the text of a page last. `builtPath` maps a path to that of the built page. */
  constructor(
    folder: URL,
    {
      atHome = (written) => written,
      builtPath = (path) => path,
    }: {
      atHome?: (written: string, path: string) => string | Promise<string>;
      builtPath?: (path: string) => string;
    } = {},
  ) {
    this.#folder = folder;
    this.#atHome = atHome;
    this.#builtPath = builtPath;
  }

  /** Returns the file at a path. Null if there is none. */
  async at(path: string): Promise<Served | null> {
    return this.#served.get(path) ?? this.#reading.ask(path);
  }

  async #read(path: string): Promise<Served | null> {
    this.#manifest ??= this.#readManifest().catch((error: unknown) => {
      this.#manifest = undefined;
      throw error;
    });
    const entry = (await this.#manifest).get(this.#builtPath(path));
    if (!entry) return null;

    const written = await this.#readFile(entry.file);
    const served = { ...entry, body: Buffer.from(await this.#atHome(written, path)) };
    this.#served.set(path, served);
    return served;
  }

  async #readManifest(): Promise<Map<string, SiteFile>> {
    const text = await this.#readFile("site.json");
    return new Map(Object.entries(JSON.parse(text) as SiteManifest));
  }

  /** The system's error has a code that would make it an outage of the database. */
  async #readFile(name: string): Promise<string> {
    try {
      return await readFile(new URL(name, this.#folder), "utf8");
    } catch (cause) {
      throw new Error(`${name} cannot be read`, { cause });
    }
  }
}
