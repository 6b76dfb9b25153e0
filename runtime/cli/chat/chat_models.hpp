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

/// A kind of model, which can have several variants: `--model KIND`, or
/// `--model KIND:VARIANT`.
struct model_kind {
  const char* name;
  const char* description;
  /// Defines a model in a runtime.
  /// @param name    of the model, for `/model/<name>`.
  /// @param variant the part of the user's choice after the colon; empty
  ///                without one.
  /// @param pause   between words, for models that produce text faster than
  ///                people read.
  /// @errors throws a failure for an unknown variant, and the errors of the
  ///         model's definition.
  ai::model (*define)(runtime& rt, std::string name, const std::string& variant,
                      caf::timespan pause);
};

/// Returns all kinds. The first one needs neither a key nor a network. To add a
/// kind, add a line.
[[nodiscard]] const std::vector<model_kind>& model_kinds();

/// Returns the names of all kinds, with commas between them.
[[nodiscard]] std::string model_names();

/// The model that answers; it can be replaced from turn to turn.
///
/// @lifetime must not outlive the runtime.
class chat_models {
public:
  /// Forwards each request to the model that is chosen at that moment.
  ///
  /// @threads all members are thread-safe; cheap to copy.
  class chosen_model {
  public:
    [[nodiscard]] task<ai::model_response>
    generate(const context& ctx, ai::generate_request request,
             ai::chunk_callback on_chunk) const {
      return ask(slot_, ctx, std::move(request), std::move(on_chunk));
    }

    [[nodiscard]] task<ai::model_response>
    generate(const context& ctx, ai::generate_request request) const {
      return ask(slot_, ctx, std::move(request), {});
    }

  private:
    friend chat_models;

    struct model_slot {
      std::mutex mutex;
      std::shared_ptr<const ai::model> model;
    };

    static task<ai::model_response>
    ask(std::shared_ptr<model_slot> slot, context ctx,
        ai::generate_request request, ai::chunk_callback on_chunk);

    std::shared_ptr<model_slot> slot_ = std::make_shared<model_slot>();
  };

  /// @errors same as `choose`.
  chat_models(runtime& rt, const std::string& name, caf::timespan pause);

  /// Replaces the model for all later requests.
  /// @errors throws a usage failure for an unknown model, and the errors of the
  ///         model's definition; the previous model is kept in these cases.
  void choose(const std::string& name);

  /// Returns the name of the chosen model.
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
