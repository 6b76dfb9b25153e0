// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/store/damage.hpp>
#include <tertulia/store/leases.hpp>
#include <tertulia/store/names.hpp>
#include <tertulia/store/runs.hpp>
#include <tertulia/store/sessions.hpp>
#include <tertulia/store/snapshots.hpp>
#include <tertulia/store/upkeep.hpp>
#include <tertulia/store/verification.hpp>

// All requests to a snapshot store, and its replies. Every change is one
// request that the store decides. protocol.hpp defines which handle accepts
// which requests.
