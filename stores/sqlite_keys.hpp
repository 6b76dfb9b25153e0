// SPDX-License-Identifier: BSD-3-Clause

#pragma once

/// Asks for the key of a new row: one more than any that its table has and any
/// that something refers to. So where a flipped bit has changed a key, nobody
/// else gets the one that it was, nor what was written under it.
#define TERTULIA_NEXT_KEY(own, other, another)                                 \
  "SELECT max(coalesce((" own "), 0), coalesce((" other                        \
  "), 0), coalesce((" another "), 0)) + 1"
