// Depends on: src

import { testSeeds } from "./seeds.ts";

testSeeds(31, 170);
