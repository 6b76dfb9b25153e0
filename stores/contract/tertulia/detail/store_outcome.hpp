// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/errc.hpp>
#include <tertulia/store.hpp>

#include <caf/response_type.hpp>

#include <tuple>
#include <variant>

namespace tertulia::detail {

/// Type of the answer to a verb of the protocol.
template <class Verb>
using answer_to = std::tuple_element_t<
  0, typename caf::response_type<managed_store::signatures, Verb>::tuple_type>;

/// Answer to a verb, or the code of the error.
template <class Verb>
using outcome = std::variant<answer_to<Verb>, errc>;

} // namespace tertulia::detail
