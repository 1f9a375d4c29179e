import type { Contact } from "../openapi.ts";
import { escapeHtml } from "./markup.ts";

/** The operator's information for partners. */
export interface AboutService {
  /** An e-mail address or a URL. Null: none is shown. */
  contact: string | null;
  /** Addresses and blocks that deliveries come from. Empty: none are shown. */
  egressShown: readonly string[];
}

export const NO_ABOUT: AboutService = { contact: null, egressShown: [] };

/** The placeholders in the built pages. */
export const ABOUT = {
  contact: "<!-- contact -->",
  egress: "<!-- egress -->",
};

/** Fills in the configured information. */
export function fillAbout(written: string, { contact, egressShown }: AboutService): string {
  return written
    .replace(ABOUT.contact, () => (contact === null ? "" : paragraph(`Contact: ${link(contact)}`)))
    .replace(ABOUT.egress, () =>
      egressShown.length === 0
        ? ""
        : paragraph(
            `Deliveries come from ${listOf(egressShown)}. If a firewall protects your receiver, let these addresses in. ` +
              "An address proves nothing: still verify every delivery.",
          ),
    );
}

/** The contact for the OpenAPI document. */
export function contactOf({ contact }: AboutService): Contact {
  const name = "The operator of this service";
  if (contact === null) return { name };
  return isUrl(contact) ? { name, url: contact } : { name, email: contact };
}

function link(contact: string): string {
  const href = isUrl(contact) ? contact : `mailto:${contact}`;
  return `<a href="${escapeHtml(href)}">${escapeHtml(contact)}</a>`;
}

function isUrl(contact: string): boolean {
  return /^https?:/.test(contact);
}

function listOf(addresses: readonly string[]): string {
  return addresses.map((address) => `<code>${escapeHtml(address)}</code>`).join(", ");
}

function paragraph(html: string): string {
  return `<p>${html}</p>`;
}
