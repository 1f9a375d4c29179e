/** A file that the build made, and how it is served. */
export interface SiteFile {
  /** Its name in the folder. */
  file: string;
  type: string;
}

/** Every path that exists below `/docs` and `/console`; each listener serves its own. What is not listed is not served. */
export type SiteManifest = Record<string, SiteFile>;

/** What the built pages write for the service's address; whoever serves them puts in the real one. */
export const DOCS_BASE_URL = "https://partners.example.com";
