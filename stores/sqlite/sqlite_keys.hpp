// SPDX-License-Identifier: BSD-3-Clause

#pragma once

/// Query for the key of a new row: one more than any key in its table and any
/// key that something refers to. So if a flipped bit has changed a key, no
/// other row gets the original key, nor the data that was written under it.
#define TERTULIA_NEXT_KEY(own, other, another)                                 \
  "SELECT max(coalesce((" own "), 0), coalesce((" other                        \
  "), 0), coalesce((" another "), 0)) + 1"
