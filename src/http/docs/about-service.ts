import { escapeHtml } from "./markup.ts";

/** What the operator tells partners of this service. */
export interface AboutService {
  /** An e-mail address or a URL. Null: none is shown. */
  contact: string | null;
  /** Addresses and blocks that deliveries come from. Empty: none are shown. */
  egressShown: readonly string[];
}

export const NOTHING_SAID: AboutService = { contact: null, egressShown: [] };

/** Where the build leaves room for it. */
export const ABOUT = {
  contact: "<!-- contact -->",
  egress: "<!-- egress -->",
};

/** Fills in what the operator has configured, and nothing else. */
export function fillAbout(written: string, { contact, egressShown }: AboutService): string {
  return written
    .replace(ABOUT.contact, () => (contact === null ? "" : paragraph(`Contact: ${link(contact)}`)))
    .replace(ABOUT.egress, () =>
      egressShown.length === 0
        ? ""
        : paragraph(
            `Deliveries come from ${listOf(egressShown)}. If a firewall protects your receiver, let these addresses in. ` +
              "An address proves nothing: verify every delivery all the same.",
          ),
    );
}

function link(contact: string): string {
  const href = /^https?:/.test(contact) ? contact : `mailto:${contact}`;
  return `<a href="${escapeHtml(href)}">${escapeHtml(contact)}</a>`;
}

function listOf(addresses: readonly string[]): string {
  return addresses.map((address) => `<code>${escapeHtml(address)}</code>`).join(", ");
}

function paragraph(html: string): string {
  return `<p>${html}</p>`;
}
