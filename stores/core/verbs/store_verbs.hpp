// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/store_handlers.hpp>

namespace tertulia {

class store_data;

#ifndef __clang__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-template-friend" // is what is meant
#endif

/// Declares the function that executes one verb of the store protocol.
///
/// The function is not a template: one of the files store_verbs*.cpp defines
/// it, and a verb without a definition is an error of the linker. A transaction
/// is open while it executes a change, and none while it executes a
/// `store_sweep`.
template <class Verb>
class verb_function {
  friend store_reply_t<Verb> answer(store_data& data, Verb x);
};

#ifndef __clang__
#pragma GCC diagnostic pop
#endif

/// Declares the functions of all verbs of a protocol. The base makes them
/// visible where a `store_data` is an argument.
template <class Signatures>
class verb_functions;

template <class... In, class... Out>
class verb_functions<caf::detail::type_list<
  caf::typed_mpi<caf::detail::type_list<In>, caf::output_tuple<Out>>...>>
  : verb_function<In>... {};

} // namespace tertulia
