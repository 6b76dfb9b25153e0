// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <boost/describe/class.hpp>

namespace tertulia {

/// Type with a single value that carries no information: for actions without
/// initialization data, and for templates that cannot take `void`. `{}` in
/// JSON.
struct nothing {
  friend bool operator==(const nothing&, const nothing&) = default;
};

BOOST_DESCRIBE_STRUCT(nothing, (), ())

} // namespace tertulia
