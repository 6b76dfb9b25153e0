// SPDX-License-Identifier: BSD-3-Clause

// The recorded answers. Where both servers answer alike, equal_answers.json has
// the answer, one case per line. Where they differ, table.json has both answers
// and the reason, which is written by hand.

import { readFileSync, writeFileSync } from "node:fs";

const equalFile = new URL("equal_answers.json", import.meta.url);
const differenceFile = new URL("table.json", import.meta.url);

const read = (file) => JSON.parse(readFileSync(file, "utf8"));
const equalAnswers = read(equalFile);
const differences = read(differenceFile);

const isSame = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/** Records the answers of both servers to a case. The reason of a difference is
 * kept. */
export const record = (name, { genkit, tertulia }) => {
  const reason = differences[name]?.reason ?? "";
  delete equalAnswers[name];
  delete differences[name];
  if (isSame(genkit, tertulia)) equalAnswers[name] = genkit;
  else differences[name] = { reason, genkit, tertulia };
};

/** Returns what is wrong with the answers to a case, or nothing. */
export const problemOf = (name, { genkit, tertulia }) => {
  for (const answer of [genkit, tertulia]) if (answer?.thrown) return "throws";
  const difference = differences[name];
  if (isSame(genkit, tertulia)) {
    if (difference) return "is no difference any more";
    if (!(name in equalAnswers)) return "is not recorded";
    if (!isSame(genkit, equalAnswers[name])) return "is not as recorded";
  } else {
    if (!difference) return "differs";
    if (!difference.reason) return "differs without a reason";
    if (!isSame(genkit, difference.genkit)) return "Genkit answers otherwise";
    if (!isSame(tertulia, difference.tertulia))
      return "Tertulia answers otherwise";
  }
};

/** Returns the recorded answers to a case. */
export const recorded = (name) => differences[name] ?? equalAnswers[name];

/** Returns the names of recorded cases that do not exist. */
export const withoutCase = (names) =>
  [...Object.keys(equalAnswers), ...Object.keys(differences)].filter(
    (name) => !names.includes(name),
  );

/** Writes the records of these cases, in their order. */
export const save = (names) => {
  const entriesOf = (records) =>
    names.flatMap((name) => (name in records ? [[name, records[name]]] : []));
  const lines = entriesOf(equalAnswers).map(([name, answer]) =>
    // U+2028 ends a line for some programs.
    `  "${name}": ${JSON.stringify(answer)}`.replaceAll("\u2028", "\\u2028"),
  );
  writeFileSync(equalFile, `{\n${lines.join(",\n")}\n}\n`);
  const table = Object.fromEntries(entriesOf(differences));
  writeFileSync(differenceFile, `${JSON.stringify(table, null, 2)}\n`);
};
