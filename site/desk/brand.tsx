import { Logo } from "../console/components/icon.tsx";
import { facts } from "./service.ts";

export function Brand() {
  return (
    <span class="brand">
      {facts.logo === null ? <Logo /> : <img src={facts.logo} alt="" />} {facts.title}
    </span>
  );
}
