import { render } from "preact";
import { applyTheme, storedTheme } from "../console/components/theme-choice.tsx";
import { Confirmations } from "../console/components/confirm.tsx";
import { Toasts } from "../console/components/toasts.tsx";
import { usePlace } from "../console/place.ts";
import { Frame } from "./frame.tsx";
import { CheckSignaturePage } from "./pages/check-signature.tsx";
import { NewSubscriptionPage } from "./pages/new-subscription.tsx";
import { RotatePage } from "./pages/rotate.tsx";
import { SubscriptionPage } from "./pages/subscription.tsx";
import { SubscriptionsPage } from "./pages/subscriptions.tsx";
import { KeyGate } from "./session.tsx";

function CurrentPage() {
  const { page, id } = usePlace();
  switch (page) {
    case "new":
      return <NewSubscriptionPage />;
    case "check":
      return <CheckSignaturePage />;
    case "rotate":
      return id === null ? <SubscriptionsPage /> : <RotatePage key={id} id={id} />;
    default:
      return id === null ? <SubscriptionsPage /> : <SubscriptionPage key={id} id={id} />;
  }
}

function Desk() {
  return (
    <Toasts>
      <KeyGate>
        <Confirmations>
          <Frame>
            <CurrentPage />
          </Frame>
        </Confirmations>
      </KeyGate>
    </Toasts>
  );
}

applyTheme(storedTheme());

const root = document.getElementById("desk");
if (root) {
  root.replaceChildren();
  render(<Desk />, root);
}

document.querySelector(".skip")?.addEventListener("click", (event) => {
  event.preventDefault(); // The fragment of the address is the current page.
  document.getElementById("content")?.focus();
});
