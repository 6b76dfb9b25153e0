// SPDX-License-Identifier: BSD-3-Clause

// Values of two servers, without what may differ between them.

const idPattern =
  /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(@[^"\s]+)?|mine-[-0-9a-f]{36}|\b[0-9a-f]{64}(@[^"\s]+)?|\b[0-9a-f]{32}\b/g;
const timePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/;

/** Returns a value without what may differ: times, the order of members, empty
 * lists, and the status that Genkit writes before the message of an error. */
const plain = (x) => {
  if (typeof x === "string")
    return timePattern.test(x) ? "TIME" : x.replace(/^[A-Z_]{4,}: /, "");
  if (Array.isArray(x)) return x.map(plain);
  if (x === null || typeof x !== "object") return x;
  const members = Object.entries(x)
    .map(([name, value]) => [name, plain(value)])
    .filter(([name, value]) => {
      if (value === undefined) return false;
      if (name === "artifacts" && value.length === 0) return false;
      return name !== "metadata" || Object.keys(value).length > 0;
    })
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members);
};

/** Returns a value without the snapshots that session flows note in the metadata
 * of messages. */
const withoutNotes = (x) => {
  if (Array.isArray(x)) return x.map(withoutNotes);
  if (x === null || typeof x !== "object") return x;
  const result = {};
  for (const [name, value] of Object.entries(x)) {
    result[name] = withoutNotes(value);
    if (name === "metadata" && x.role) delete result[name].snapshotId;
  }
  return result;
};

/** Returns a value with its ids numbered in the order of their first use. */
const numbered = (x) => {
  const ids = new Map();
  const text = JSON.stringify(x ?? null).replace(idPattern, (id) => {
    if (!ids.has(id)) ids.set(id, `ID${ids.size + 1}`);
    return ids.get(id);
  });
  return JSON.parse(text);
};

/** Returns what a case has heard, without what may differ. */
export const comparable = (heard) => numbered(plain(withoutNotes(heard)));
