// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <caf/detail/tuple_vals.hpp>
#include <caf/detail/type_erased_value_impl.hpp>
#include <caf/mailbox_element.hpp>

// What CAF generates for a type of message (its mailbox element, its shared
// content and the inspection of both) is compiled once, in compiled_once.cpp,
// and not in each source that sends or receives one. Both macros belong outside
// of all namespaces, where the type is complete. The mailbox element has a
// member that does not compile, and is therefore compiled by its members.

// NOLINTBEGIN(bugprone-macro-parentheses): a type has none
#define TERTULIA_MESSAGE_TEMPLATES(prefix, type)                               \
  prefix template class caf::detail::type_erased_value_impl<type>;             \
  prefix template class caf::detail::tuple_vals_impl<                          \
    caf::detail::message_data, type>;                                          \
  prefix template class caf::detail::tuple_vals_impl<caf::type_erased_tuple,   \
                                                     type>;                    \
  prefix template class caf::detail::tuple_vals<type>;                         \
  prefix template caf::message                                                 \
  caf::mailbox_element_vals<type>::move_content_to_message();                  \
  prefix template caf::message                                                 \
  caf::mailbox_element_vals<type>::copy_content_to_message() const;
// NOLINTEND(bugprone-macro-parentheses)

/// Says that compiled_once.cpp compiles a type of message.
#define TERTULIA_COMPILED_ONCE(type) TERTULIA_MESSAGE_TEMPLATES(extern, type)

/// Compiles a type of message.
#define TERTULIA_COMPILE(type) TERTULIA_MESSAGE_TEMPLATES(, type)
