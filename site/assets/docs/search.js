import MiniSearch from "minisearch";
import { stemmer } from "stemmer";

/** Words that readers type for a word of the pages. */
const SYNONYMS = {
  allowlist: ["whitelist", "firewall"],
  resend: ["replay", "redeliver"],
  duplicate: ["idempotency", "idempotent", "dedupe"],
  disabled: ["deactivated", "suspended"],
  attempt: ["try"],
  signature: ["hmac"],
  certificate: ["ssl"],
};

const SYNONYMS_BY_STEM = new Map(
  Object.entries(SYNONYMS).map(([word, others]) => [stemmer(word), others.map(stemOf)]),
);

/** One term for all words of a group. No typed word is equal to it. */
const GROUPS_BY_STEM = new Map(
  Object.entries(SYNONYMS).flatMap(([word, others]) =>
    [word, ...others].map((each) => [stemOf(each), `=${word}`]),
  ),
);

export function stemOf(word) {
  return stemmer(word.toLowerCase());
}

/** Indexes sections `{href, page, title, text}` by the stems of their words. Every typed word has to match. */
export function createSearch(sections) {
  const index = new MiniSearch({
    idField: "href",
    fields: ["title", "opening", "page", "text"],
    storeFields: ["href", "page", "title", "text"],
    extractField: (section, field) => (field === "opening" ? openingOf(section) : section[field]),
    tokenize: wordsOf,
    processTerm: (word) => {
      const stem = stemOf(word);
      const group = GROUPS_BY_STEM.get(stem);
      return [stem, ...(SYNONYMS_BY_STEM.get(stem) ?? []), ...(group ? [group] : [])];
    },
    searchOptions: {
      combineWith: "AND",
      boost: { title: 6, opening: 3, page: 2 },
      boostDocument: (_href, _term, { page, title }) => (page === title ? 2 : 1),
      prefix: (term) => term.length > 1,
      processTerm: stemOf,
    },
  });
  index.addAll(sections);
  return (typed) => {
    const found = index.search(typed);
    return found.length > 0 ? found : index.search(typed, { processTerm: groupOf });
  };
}

/** For a typed word that no page has: the group of its synonyms. */
function groupOf(word) {
  const stem = stemOf(word);
  return GROUPS_BY_STEM.get(stem) ?? stem;
}

/** The status of an error, for example. */
function openingOf({ text }) {
  return text.split(" ", 3).join(" ");
}

/** Names such as `rate_limited` are found whole and by their parts. */
function wordsOf(text) {
  const names = text.match(/[\p{L}\p{N}_]+/gu) ?? [];
  return names
    .flatMap((name) => (name.includes("_") ? [name, ...name.split("_")] : [name]))
    .filter(Boolean);
}
