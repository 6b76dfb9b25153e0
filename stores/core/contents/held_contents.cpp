// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/make_contents.hpp>
#include <tertulia/status.hpp>
#include <tertulia/store_rules.hpp>

#include "store_contents.hpp"

namespace tertulia {

namespace {

bool is_sound(const content_row& x) {
  try {
    return x.held.id() == x.id;
  } catch (const status_error&) {
    return false; // a state without JSON has no id either
  }
}

class held_contents final : public store_contents {
public:
  void work_on(session_row& in, const state& x, const state_id& id,
               const content_row*) override {
    in.content.id = id;
    in.content.type = x.type();
    in.content.form = x.form();
    in.content.held = x;
  }

  void switch_to(session_row& in, const content_row& x) override {
    in.content = x;
  }

  void seal(session_row&) override {}
  void share(std::int64_t, const std::vector<content_row>&) override {}

  [[nodiscard]] std::vector<released>
  sweep(std::int64_t, const std::vector<content_row>&,
        const std::vector<std::int64_t>&) override {
    return {};
  }

  [[nodiscard]] std::vector<std::int64_t> values_of(std::int64_t) override {
    return {};
  }

  [[nodiscard]] state load(const content_row& x, loaded*) override {
    if (!is_sound(x))
      rules::reject_corrupt(x.id);
    return x.held;
  }

  [[nodiscard]] std::optional<damage_kind> verify(const content_row& x,
                                                  verifier&) override {
    if (is_sound(x))
      return std::nullopt;
    return damage_kind::corrupt;
  }
};

} // namespace

std::shared_ptr<store_contents> make_held_contents() {
  return std::make_shared<held_contents>();
}

} // namespace tertulia
