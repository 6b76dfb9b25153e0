// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/compiled_json.hpp>

TERTULIA_COMPILED_JSON(template)
