// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json.hpp>

namespace tertulia {

/// Returns a JSON Patch that changes one document into another: an array of
/// operations, empty if the documents are equal.
/// @threads all.
/// @design  RFC 6902.
[[nodiscard]] json make_json_patch(const json& from, const json& to);

/// Returns a JSON Patch that replaces a whole document, whatever it is.
[[nodiscard]] json make_whole_json_patch(json to);

/// Applies a JSON Patch: all its operations, or none of them.
/// @errors  throws `invalid_argument` for a document that is not a patch, for
///          an operation on a value that does not exist, and for a `test` that
///          fails. The document is then unchanged.
/// @threads all.
/// @design  RFC 6902.
void apply_json_patch(json& to, const json& patch);

} // namespace tertulia
