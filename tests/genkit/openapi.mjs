// SPDX-License-Identifier: BSD-3-Clause

// Has a published validator check the description of a server:
//
//   node openapi.mjs PROGRAM

import { Validator } from "@seriousme/openapi-schema-validator";
import { start } from "./start.mjs";

const { at, stop } = await start(process.argv[2]);
const response = await fetch(new URL("/openapi.json", at));
const result = await new Validator().validate(await response.json());
stop();
if (!result.valid) {
  console.log("openapi.json is not valid:", result.errors);
  process.exit(1);
}
