/** Publishers' libraries are generated in these languages. */
export const LIBRARY_LANGUAGES = ["ts", "py", "go"] as const;
export type LibraryLanguage = (typeof LIBRARY_LANGUAGES)[number];
