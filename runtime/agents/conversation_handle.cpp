// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/ai/conversation_handle.hpp>
#include <tertulia/detail/compiled_json.hpp>

TERTULIA_COMPILED_CONVERSATIONS(template)
