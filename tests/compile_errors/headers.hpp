// SPDX-License-Identifier: BSD-3-Clause

// All headers that the mistakes in this folder include, to be precompiled.

#include <tertulia/actor_client.hpp>
#include <tertulia/agent_options.hpp>
#include <tertulia/agent_responder.hpp>
#include <tertulia/agent_session.hpp>
#include <tertulia/ai/chat_session.hpp>
#include <tertulia/ai/conversation_client.hpp>
#include <tertulia/ai/conversation_handle.hpp>
#include <tertulia/ai/custom_view.hpp>
#include <tertulia/ai/flow_session.hpp>
#include <tertulia/ai/generate.hpp>
#include <tertulia/ai/tool.hpp>
#include <tertulia/ai/tool_context.hpp>
#include <tertulia/ask_store.hpp>
#include <tertulia/bidi_action.hpp>
#include <tertulia/context.hpp>
#include <tertulia/define_agent.hpp>
#include <tertulia/describe.hpp>
#include <tertulia/identifier.hpp>
#include <tertulia/output.hpp>
#include <tertulia/remote_runtime.hpp>
#include <tertulia/runtime.hpp>
#include <tertulia/supervise.hpp>
#include <tertulia/task.hpp>
#include <tertulia/testing.hpp>

#include <thread>
