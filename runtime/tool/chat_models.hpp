// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/model_handle.hpp>
#include <tertulia/ai/prompt.hpp>
#include <tertulia/runtime.hpp>

#include <caf/timespan.hpp>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace tertulia::tool {

/// Models of one kind, of which there may be several: `--model KIND`, or
/// `--model KIND:VARIANT`.
struct model_kind {
  const char* name;
  const char* description;
  /// Defines a model in a runtime.
  /// @param name    of the model, for `/model/<name>`.
  /// @param variant what the user said behind the colon; empty for nothing.
  /// @param pause   between the words, of models that could talk faster than
  ///                people read.
  /// @errors throws a failure for a variant that there is not, and what
  ///         defining it does.
  ai::model (*define)(runtime& rt, std::string name, const std::string& variant,
                      caf::timespan pause);
};

/// All kinds; the first one needs nothing else. Who adds a kind adds a line.
[[nodiscard]] const std::vector<model_kind>& model_kinds();

/// The model that answers, which can be another one from turn to turn.
///
/// @lifetime within that of the runtime.
class chat_models {
public:
  /// Answers with the model that is chosen when it is asked.
  ///
  /// @threads all members; cheap to copy.
  class chosen_model {
  public:
    [[nodiscard]] task<ai::model_response>
    generate(const context& ctx, ai::generate_request request,
             ai::chunk_hearer hear) const {
      return ask(place_, ctx, std::move(request), std::move(hear));
    }

    [[nodiscard]] task<ai::model_response>
    generate(const context& ctx, ai::generate_request request) const {
      return ask(place_, ctx, std::move(request), {});
    }

  private:
    friend chat_models;

    struct place {
      std::mutex mutex;
      std::shared_ptr<const ai::model> model;
      std::optional<ai::finish_reason> ended;
    };

    static task<ai::model_response>
    ask(std::shared_ptr<place> where, context ctx, ai::generate_request request,
        ai::chunk_hearer hear);

    std::shared_ptr<place> place_ = std::make_shared<place>();
  };

  /// @errors as `choose`.
  chat_models(runtime& rt, const std::string& name, caf::timespan pause);

  /// Has another model answer from now on.
  /// @errors throws a failure of usage for one that there is not, and what
  ///         defining it does; the one before goes on then.
  void choose(const std::string& name);

  /// Returns why the last answer has ended, once; empty if there was none.
  [[nodiscard]] std::optional<ai::finish_reason> take_ending();

  /// What was chosen.
  [[nodiscard]] const std::string& name() const noexcept {
    return name_;
  }

  [[nodiscard]] const chosen_model& chosen() const noexcept {
    return chosen_;
  }

private:
  runtime& rt_;
  caf::timespan pause_;
  std::string name_;
  std::map<std::string, std::shared_ptr<const ai::model>> defined_;
  chosen_model chosen_;
};

} // namespace tertulia::tool
