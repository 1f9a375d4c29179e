/** A built file. */
export interface SiteFile {
  /** The name in the folder. */
  file: string;
  type: string;
}

/** The files below `/docs` and `/console`, by path. Each listener serves its own. Other paths are not served. */
export type SiteManifest = Record<string, SiteFile>;

/** The service's address in the built pages. The server replaces it. */
export const DOCS_BASE_URL = "https://partners.example.com";
