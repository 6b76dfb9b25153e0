// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/conversation.hpp>
#include <tertulia/ai/generate_request.hpp>
#include <tertulia/nothing.hpp>
#include <tertulia/schema.hpp>

// JSON of the messages of conversations and models, compiled once, in
// compiled_json.cpp: it takes a compiler longer than most programs around it.
// The types with a custom value or a status of the program are not among them.

#define TERTULIA_COMPILED_JSON_OF(instance, type)                              \
  instance void tertulia::detail::write_value<type>(                           \
    std::string&, const type&, const tertulia::json_path&);                    \
  instance type tertulia::detail::read_value<type>(                            \
    const tertulia::json&, const tertulia::json_path&);                        \
  instance tertulia::json tertulia::schema_of<type>();

#define TERTULIA_COMPILED_JSON(instance)                                       \
  TERTULIA_COMPILED_JSON_OF(instance, tertulia::ai::message)                   \
  TERTULIA_COMPILED_JSON_OF(instance, tertulia::ai::conversation_input)        \
  TERTULIA_COMPILED_JSON_OF(instance, tertulia::ai::generate_request)          \
  TERTULIA_COMPILED_JSON_OF(instance, tertulia::ai::model_response)            \
  TERTULIA_COMPILED_JSON_OF(instance, tertulia::ai::model_response_chunk)      \
  TERTULIA_COMPILED_JSON_OF(                                                   \
    instance, tertulia::ai::conversation_init<tertulia::nothing>)              \
  TERTULIA_COMPILED_JSON_OF(instance,                                          \
                            tertulia::ai::stream_chunk<tertulia::nothing>)     \
  TERTULIA_COMPILED_JSON_OF(instance,                                          \
                            tertulia::ai::agent_response<tertulia::nothing>)   \
  TERTULIA_COMPILED_JSON_OF(                                                   \
    instance, tertulia::ai::session_flow_response<tertulia::nothing>)          \
  TERTULIA_COMPILED_JSON_OF(                                                   \
    instance, tertulia::ai::session_flow_snapshot<tertulia::nothing>)

TERTULIA_COMPILED_JSON(extern template)
