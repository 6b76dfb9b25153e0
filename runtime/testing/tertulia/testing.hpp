// SPDX-License-Identifier: BSD-3-Clause

#pragma once

// Everything for tests of agents. Design: docs/testing.md.

#include <tertulia/testing/deterministic_runtime.hpp>
#include <tertulia/testing/failing_store.hpp>
#include <tertulia/testing/recorded_model.hpp>
#include <tertulia/testing/recording_client.hpp>
#include <tertulia/testing/run_until_idle.hpp>
#include <tertulia/testing/scripted_model.hpp>
