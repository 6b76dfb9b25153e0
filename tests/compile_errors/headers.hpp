// SPDX-License-Identifier: BSD-3-Clause

// All headers that the mistakes in this folder include, to be precompiled.

#include <tertulia/agent_options.hpp>
#include <tertulia/ai/generate.hpp>
#include <tertulia/ai/session.hpp>
#include <tertulia/ai/tool.hpp>
#include <tertulia/bidi_action.hpp>
#include <tertulia/context.hpp>
#include <tertulia/define_agent.hpp>
#include <tertulia/describe.hpp>
#include <tertulia/identifier.hpp>
#include <tertulia/output.hpp>
#include <tertulia/runtime.hpp>
#include <tertulia/session.hpp>
#include <tertulia/task.hpp>

#include <thread>
