// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/json.hpp>

namespace tertulia::web::openapi {

/// Returns the media types of a body that is JSON.
[[nodiscard]] json content(json schema);

/// Returns the place of a schema of the document.
[[nodiscard]] json reference(const char* name);

/// Returns an answer that is JSON.
[[nodiscard]] json answer(const char* description, json schema);

/// Returns the answer with the events of a run.
[[nodiscard]] json events_answer();

/// Returns the answer with the output of a run, or with its events.
[[nodiscard]] json output_answer();

/// Returns a parameter of a request.
/// @param place of the parameter: `path`, `query` or `header`.
[[nodiscard]] json
parameter(const char* place, const char* name, const char* description,
          json schema = {{"type", "string"}}, bool is_required = false);

/// Returns the parameters that are the key of an action: its kind, then its
/// name.
[[nodiscard]] json key_parameters();

/// Returns a method of a path.
/// @param id of the method in the document.
/// @param parameters an array.
/// @param responses by their status.
[[nodiscard]] json operation(const char* id, const char* summary,
                             json parameters, json responses);

/// Returns a method with a body that is JSON.
[[nodiscard]] json with_body(json operation, json schema);

} // namespace tertulia::web::openapi
