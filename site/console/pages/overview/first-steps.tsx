import { Panel } from "../../components/panel.tsx";

/** The first steps on an empty system. */
export function FirstSteps() {
  return (
    <Panel title="First steps" note="nothing is set up yet">
      <ol class="steps">
        <li>
          <strong>Create an organization</strong>
          <span class="quiet">
            A partner's account. <a href="#/organizations">Organizations</a> has the form, or run{" "}
            <code>partner-api org create acme</code>.
          </span>
        </li>
        <li>
          <strong>Create a key for it</strong>
          <span class="quiet">
            The organization's page has the form. The token is shown once: give it to the partner.
          </span>
        </li>
        <li>
          <strong>Let the partner subscribe a URL</strong>
          <span class="quiet">
            The partners' documentation is at <code>/docs</code> of the partners' listener. Its
            quickstart leads from the key to a verified event.
          </span>
        </li>
        <li>
          <strong>Publish an event</strong>
          <span class="quiet">
            <a href="#/event-types">Event types</a> shows what can be published. Its deliveries
            appear here within seconds.
          </span>
        </li>
      </ol>
    </Panel>
  );
}
