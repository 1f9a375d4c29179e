import { Panel } from "../../components/panel.tsx";

/** The first steps on an empty system. */
export function FirstSteps() {
  return (
    <Panel title="First steps" note="nothing is set up yet">
      <ol class="steps">
        <li>
          <strong>Create an organization</strong>
          <span class="quiet">
            An organization is a partner's account. Use the form on{" "}
            <a href="#/organizations">Organizations</a>, or run{" "}
            <code>partner-api org create acme</code>.
          </span>
        </li>
        <li>
          <strong>Create a key for it</strong>
          <span class="quiet">
            Use the form on the organization's page. The token is shown once: give it to the
            partner.
          </span>
        </li>
        <li>
          <strong>Let the partner subscribe a URL</strong>
          <span class="quiet">
            Send the partner to <code>/docs</code> of the partners' listener. The quickstart there
            leads from the key to a verified event.
          </span>
        </li>
        <li>
          <strong>Publish an event</strong>
          <span class="quiet">
            <a href="#/event-types">Event types</a> lists what can be published. The deliveries of
            an event appear here within seconds.
          </span>
        </li>
      </ol>
    </Panel>
  );
}
