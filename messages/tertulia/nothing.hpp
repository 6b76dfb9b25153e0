// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <boost/describe/class.hpp>

namespace tertulia {

/// The type that has one value and says nothing: for actions without
/// initialization data, and where a template has no use for `void`. `{}` in
/// JSON.
struct nothing {
  friend bool operator==(const nothing&, const nothing&) = default;
};

BOOST_DESCRIBE_STRUCT(nothing, (), ())

} // namespace tertulia
