// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/describe.hpp>

namespace tertulia {

/// Type with a single value that carries no information: for actions without
/// initialization data, and for templates that cannot take `void`. `{}` in
/// JSON.
struct nothing {};

BOOST_DESCRIBE_STRUCT(nothing, (), ())

} // namespace tertulia
