import { applyAppearance } from "./docs/appearance.js";

applyAppearance();
