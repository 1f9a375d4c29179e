import type { Contact } from "../openapi.ts";
import { escapeHtml } from "./markup.ts";

/** The operator's information for partners. */
export interface AboutService {
  /** An e-mail address or a URL. Null: none is shown. */
  contact: string | null;
  /** Addresses and blocks that deliveries come from. Empty: partners have to ask. */
  egressShown: readonly string[];
  /** Null: there is no desk. */
  desk: object | null;
}

export const NO_ABOUT: AboutService = { contact: null, egressShown: [], desk: null };

/** The placeholders in the built pages. */
export const ABOUT = {
  contact: "<!-- contact -->",
  egress: "<!-- egress -->",
  desk: "<!-- desk -->",
};

/** How a kind of page writes a paragraph, a link and code. */
interface Writing {
  paragraph: (text: string) => string;
  link: (href: string, text: string) => string;
  code: (text: string) => string;
}

const HTML: Writing = {
  paragraph: (text) => `<p>${text}</p>`,
  link: (href, text) => `<a href="${escapeHtml(href)}">${escapeHtml(text)}</a>`,
  code: (text) => `<code>${escapeHtml(text)}</code>`,
};

const MARKDOWN: Writing = {
  paragraph: (text) => text,
  link: (href, text) => `[${text}](${href})`,
  code: (text) => `\`${text}\``,
};

/** Fills in the configured information. */
export function fillAbout(
  path: string,
  written: string,
  { contact, egressShown, desk }: AboutService,
): string {
  const isText = /\.(md|txt)$/.test(path);
  const { paragraph, link, code } = isText ? MARKDOWN : HTML;
  const filled = written
    .replace(ABOUT.contact, () =>
      contact === null ? "" : paragraph(`Contact: ${link(hrefOf(contact), contact)}`),
    )
    .replace(ABOUT.desk, () =>
      desk === null
        ? ""
        : paragraph(
            `${link("/desk", "The desk")} does the same in your browser, with your API key: subscriptions, test events, ` +
              "failures with their repair, and a check of signatures.",
          ),
    )
    .replace(ABOUT.egress, () =>
      paragraph(
        egressShown.length === 0
          ? "Ask the operator of the service for these addresses."
          : `Deliveries come from ${egressShown.map(code).join(", ")}.`,
      ),
    );
  return isText ? `${filled.trimEnd()}\n` : filled;
}

/** The contact for the OpenAPI document. */
export function contactOf({ contact }: AboutService): Contact {
  const name = "The operator of this service";
  if (contact === null) return { name };
  return isUrl(contact) ? { name, url: contact } : { name, email: contact };
}

function hrefOf(contact: string): string {
  return isUrl(contact) ? contact : `mailto:${contact}`;
}

function isUrl(contact: string): boolean {
  return /^https?:/.test(contact);
}
