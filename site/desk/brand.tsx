import { Logo } from "../console/components/icon.tsx";
import { BASE_URL, facts } from "./service.ts";

export function Brand() {
  return (
    <span class="brand">
      {facts.hasLogo ? <img src={`${BASE_URL}/desk/logo`} alt="" /> : <Logo />} {facts.title}
    </span>
  );
}
