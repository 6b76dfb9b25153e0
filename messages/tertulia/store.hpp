// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/store/damage.hpp>
#include <tertulia/store/names.hpp>
#include <tertulia/store/sessions.hpp>
#include <tertulia/store/snapshots.hpp>
#include <tertulia/store/upkeep.hpp>
#include <tertulia/store/verification.hpp>

// What is said to a snapshot store, and what it answers: all of it. Every
// change is one verb that the store decides. Who understands which of them is
// said in protocol.hpp.
