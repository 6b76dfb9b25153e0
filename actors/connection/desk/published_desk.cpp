// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/caller.hpp>
#include <tertulia/detail/environment.hpp>
#include <tertulia/detail/front_desk.hpp>
#include <tertulia/detail/registry.hpp>
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
        const auto& chosen = x.options;
        const auto caller = chosen.caller.value_or(caller_name{});
        const auto run = chosen.attach ? chosen.attach->run : run_id{};
        const access_request access{caller.str(), access_verb::attach, x.key,
                                    run.str(), chosen.session.str()};
        caf::error refusal;
        if (chosen.attach)
          refusal = check(access);
        if (!refusal && (!chosen.attach || chosen.attach->or_open))
          refusal = check({access.caller, access_verb::open, access.key,
                           access.run, access.session});
        if (refusal)
          return refusal;
        return self_->delegate(env_->desk, std::move(x));
      },
      [this](run_request& x) -> caf::result<run_info> {
        if (auto refusal
            = check({x.caller.str(),
                     x.verb == run_verb::abort ? access_verb::abort
                                               : access_verb::inspect,
                     x.key, x.run.str(), x.session.str()}))
          return refusal;
        return self_->delegate(env_->desk, std::move(x));
      },
      [this](list_runs_request& x) -> caf::result<run_page> {
        if (auto refusal = check({x.caller.str(),
                                  access_verb::list,
                                  x.agent,
                                  {},
                                  x.session.str()}))
          return refusal;
        auto answer = self_->make_response_promise<run_page>();
        // The desk gives its store a time limit.
        self_->request(env_->desk, caf::infinite, std::move(x))
          .then(
            [answer](run_page& page) mutable {
              // Other nodes do not learn which processes run this application.
              for (auto& run : page.runs)
                run.owner.clear();
              answer.deliver(std::move(page));
            },
            [answer](caf::error& reason) mutable { answer.deliver(reason); });
        return answer;
      },
      [this](list_atom) {
        auto all = env_->actions.list();
        std::erase_if(all, [this](const auto& x) {
          return static_cast<bool>(
            check({{}, access_verb::see, x.key, {}, {}}));
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
  /// Returns why a caller of another node may not do this; none if it may.
  /// @param x its session as the caller names it.
  [[nodiscard]] caf::error check(access_request x) const {
    if (x.key.empty() || !env_->exposed.contains(x.key))
      return fail(errc::not_found, no_action(x.key));
    const auto& rule = env_->options.authorize;
    if (rule && !x.caller.empty() && !x.session.empty()) {
      const auto whole
        = session_of(caller_name{x.caller}, session_id{x.session});
      x.session = whole.str();
    }
    if (!detail::allows(rule, x))
      return fail(errc::permission_denied, "the caller may not do this");
    return caf::none;
  }

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
