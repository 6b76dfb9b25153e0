// SPDX-License-Identifier: BSD-3-Clause

#pragma once

// All headers of `tertulia::ai`: messages, models, tools, generation, and the
// agents and flows that use them.

#include <tertulia/ai/artifact.hpp>
#include <tertulia/ai/artifact_list.hpp>
#include <tertulia/ai/chat_agent.hpp>
#include <tertulia/ai/chat_responder.hpp>
#include <tertulia/ai/chat_session.hpp>
#include <tertulia/ai/conversation.hpp>
#include <tertulia/ai/conversation_client.hpp>
#include <tertulia/ai/conversation_connection.hpp>
#include <tertulia/ai/conversation_handle.hpp>
#include <tertulia/ai/custom_view.hpp>
#include <tertulia/ai/define_evaluator.hpp>
#include <tertulia/ai/define_model.hpp>
#include <tertulia/ai/finish_reason.hpp>
#include <tertulia/ai/flow_responder.hpp>
#include <tertulia/ai/flow_session.hpp>
#include <tertulia/ai/generate.hpp>
#include <tertulia/ai/generate_request.hpp>
#include <tertulia/ai/interrupt.hpp>
#include <tertulia/ai/message.hpp>
#include <tertulia/ai/message_log.hpp>
#include <tertulia/ai/model.hpp>
#include <tertulia/ai/model_handle.hpp>
#include <tertulia/ai/model_output.hpp>
#include <tertulia/ai/part.hpp>
#include <tertulia/ai/prompt.hpp>
#include <tertulia/ai/prompt_agent.hpp>
#include <tertulia/ai/session_flow.hpp>
#include <tertulia/ai/tool.hpp>
#include <tertulia/ai/tool_context.hpp>
#include <tertulia/ai/tool_options.hpp>
#include <tertulia/ai/tool_progress.hpp>
#include <tertulia/trigger_snapshot.hpp>

// Models that are components of their own.
#if __has_include(<tertulia/ai/offline_model.hpp>)
#include <tertulia/ai/offline_model.hpp>
#endif
#if __has_include(<tertulia/ai/openai_model.hpp>)
#include <tertulia/ai/openai_model.hpp>
#endif
