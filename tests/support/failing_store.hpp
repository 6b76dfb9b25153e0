// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/testing/failing_store.hpp>

#include <string>
#include <vector>

#include <boost/describe.hpp>
#include <boost/mp11.hpp>

namespace tertulia::test {

using testing::failing_store;
using testing::store_fault;

/// Returns all enumerators of a described enumeration.
template <class Enum>
std::vector<Enum> all_of() {
  std::vector<Enum> result;
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<Enum>>(
    [&](auto x) { result.push_back(x.value); });
  return result;
}

/// Returns the name of a described enumerator.
template <class Enum>
requires boost::describe::has_describe_enumerators<Enum>::value std::string
name_of(Enum x) {
  return boost::describe::enum_to_string(x, "");
}

} // namespace tertulia::test
