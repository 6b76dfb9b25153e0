// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/detail/environment.hpp>
#include <tertulia/detail/front_desk.hpp>
#include <tertulia/status.hpp>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tertulia::detail {

namespace {

/// Front desk for other nodes: it passes on what is about exposed actions.
///
/// It is an actor of its own because a message does not prove where it comes
/// from: a sender may be missing, and a client may be any actor.
class published_desk_state {
public:
  static inline const char* name = "tertulia.published_desk";

  explicit published_desk_state(front_desk_actor::pointer self) : self_(self) {}

  front_desk_actor::behavior_type
  make_behavior(std::shared_ptr<environment> env) {
    env_ = std::move(env);
    self_->monitor(env_->desk);
    self_->set_down_handler([this](const caf::down_msg&) {
      self_->quit();
      env_.reset();
    });
    return {
      [this](open_request& x) -> caf::result<open_result> {
        if (!env_->exposed.contains(x.key))
          return fail(errc::not_found, "there is no action " + x.key);
        return self_->delegate(env_->desk, std::move(x));
      },
      [this](run_request& x) -> caf::result<run_info> {
        if (!env_->exposed.contains(x.key))
          return fail(errc::not_found, "there is no action " + x.key);
        return self_->delegate(env_->desk, std::move(x));
      },
      [this](list_atom) {
        auto all = env_->actions.list();
        std::erase_if(all, [this](const auto& x) {
          return !env_->exposed.contains(x.key);
        });
        return action_list{std::move(all)};
      },
      [this](caf::get_atom what,
             std::string& key) -> caf::result<caf::strong_actor_ptr> {
        return self_->delegate(env_->desk, what, std::move(key));
      },
    };
  }

private:
  front_desk_actor::pointer self_;
  std::shared_ptr<environment> env_;
};

} // namespace

front_desk_actor spawn_published_desk(std::shared_ptr<environment> env) {
  auto& system = env->system;
  return system.spawn<caf::hidden>(
    [](front_desk_actor::stateful_pointer<published_desk_state> self,
       std::shared_ptr<environment> env) {
      return self->state.make_behavior(std::move(env));
    },
    std::move(env));
}

} // namespace tertulia::detail
