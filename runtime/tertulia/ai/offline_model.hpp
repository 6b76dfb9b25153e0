// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/model_handle.hpp>

#include <caf/timespan.hpp>

#include <string>

namespace tertulia {

class runtime;

} // namespace tertulia

namespace tertulia::ai {

/// How the offline model speaks.
///
/// @threads a value.
struct offline_options {
  offline_options() = default;

  /// How long it waits before each word, so that a person can follow; not at
  /// all if zero. Not negative.
  caf::timespan word_pause{0};
};

/// Defines a conversation partner that needs no key, no network and no other
/// program, and registers it as `/model/<name>`.
///
/// It listens the way ELIZA did: it turns what one says into a question, and
/// when it has none it comes back to what was said before. It knows the name
/// that it was told and can say what was said so far. It streams word by word.
///
/// Of tools it knows what they are called: `use the weather tool for Lisbon`
/// makes a request for the tool `weather`, or `getWeather`, with an input that
/// fits its schema as well as can be guessed, and once the tool has answered
/// the model says what. If an answer of a certain shape is wanted, it is JSON
/// of that shape.
///
/// The same conversation always has the same answer, whichever process gives
/// it. Words count as tokens in its usage.
///
/// @errors `already_exists`; `invalid_argument` for a bad name or a negative
///         pause.
/// @design README §5.17 "Models".
model define_offline_model(runtime& rt, std::string name = "eliza",
                           offline_options options = {});

} // namespace tertulia::ai
