// Depends on: src

import { testSeeds } from "./seeds.ts";

testSeeds(61, 140);
