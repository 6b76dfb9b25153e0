// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/memory_store.hpp>
#include <tertulia/protocol.hpp>
#include <tertulia/status.hpp>
#include <tertulia/store_handlers.hpp>
#include <tertulia/testing/failing_store.hpp>

#include <caf/actor_cast.hpp>
#include <caf/exit_reason.hpp>
#include <caf/send.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace tertulia::testing {

namespace {

using scripted = managed_store::extend<caf::reacts_to<done_atom>>;

} // namespace

/// State shared by the actors and the test. It keeps the actor `front` alive,
/// which keeps this state alive, until the test is over.
class failing_store::script {
public:
  struct fault {
    effect what;
    errc code;
  };

  struct step {
    std::type_index verb;
    fault next;
  };

  /// Takes the instruction for the next request of this verb; empty if there is
  /// none.
  std::optional<fault> take(std::type_index verb) {
    const std::lock_guard guard{mutex};
    ++requests;
    for (auto i = steps.begin(); i != steps.end(); ++i)
      if (i->verb == typeid(void) || i->verb == verb) {
        const auto result = i->next;
        steps.erase(i);
        return result;
      }
    return std::nullopt;
  }

  static managed_store start(caf::actor_system& system,
                             const std::shared_ptr<script>& with);

  std::mutex mutex;
  std::deque<step> steps;
  std::uint64_t requests = 0;
  std::uint32_t starts = 0;
  std::uint32_t failed_starts = 0;
  bool over = false;
  managed_store behind;
  managed_store front;

private:
  class actor_state;
};

class failing_store::script::actor_state {
public:
  static inline const char* name = "tertulia.failing_store";

  explicit actor_state(scripted::pointer self) : self_(self) {}

  scripted::behavior_type make_behavior(std::shared_ptr<script> with) {
    script_ = std::move(with);
    return handle_verbs<scripted>([this](auto x) { return obey(std::move(x)); },
                                  [this](done_atom) {
                                    for (auto& x : std::exchange(hung_, {}))
                                      x.go_on();
                                  });
  }

  /// Answers what it still holds, as a store must.
  ~actor_state() {
    for (auto& x : hung_)
      if (!silent_)
        x.refuse();
  }

private:
  struct hung_request {
    std::function<void()> go_on;
    std::function<void()> refuse;
  };

  template <class Verb, class Reply = store_reply_t<Verb>>
  caf::result<Reply> obey(Verb x) {
    const auto next = script_->take(typeid(Verb));
    if (!next)
      return self_->delegate(script_->behind, std::move(x));
    switch (next->what) {
      case effect::fail: return fail(next->code, "as the script says");
      case effect::lose: {
        auto promise = self_->template make_response_promise<Reply>();
        auto deliver = [=]() mutable {
          promise.deliver(fail(next->code, "as the script says"));
        };
        // No time-out: the store behind answers or is killed by the test.
        self_->request(script_->behind, caf::infinite, std::move(x))
          .then([=](Reply&) mutable { deliver(); },
                [=](caf::error&) mutable { deliver(); });
        return promise;
      }
      case effect::hang: break;
      case effect::die_silently: silent_ = true; [[fallthrough]];
      case effect::die: self_->quit(caf::exit_reason::kill);
    }
    auto promise = self_->template make_response_promise<Reply>();
    hung_.push_back({[this, promise, x = std::move(x)]() mutable {
                       promise.delegate(script_->behind, std::move(x));
                     },
                     [promise]() mutable {
                       promise.deliver(
                         fail(errc::unavailable, "the store has died"));
                     }});
    return promise;
  }

  scripted::pointer self_;
  std::shared_ptr<script> script_;
  std::vector<hung_request> hung_;
  bool silent_ = false;
};

managed_store
failing_store::script::start(caf::actor_system& system,
                             const std::shared_ptr<script>& with) {
  managed_store result = system.spawn<caf::hidden>(
    [](scripted::stateful_pointer<actor_state> self,
       std::shared_ptr<script> with) {
      return self->state.make_behavior(std::move(with));
    },
    with);
  const std::lock_guard guard{with->mutex};
  ++with->starts;
  if (!with->over)
    with->front = result;
  return result;
}

failing_store::failing_store(caf::actor_system& system)
  : failing_store(system, spawn_memory_store(system)) {}

failing_store::failing_store(caf::actor_system& system, managed_store behind)
  : script_(std::make_shared<script>()) {
  script_->behind = std::move(behind);
  static_cast<void>(script::start(system, script_));
}

failing_store::~failing_store() {
  const std::lock_guard guard{script_->mutex};
  script_->over = true;
  caf::anon_send_exit(script_->front, caf::exit_reason::user_shutdown);
  script_->front = nullptr;
}

managed_store failing_store::store() const {
  const std::lock_guard guard{script_->mutex};
  return script_->front;
}

std::function<managed_store(caf::actor_system&)>
failing_store::factory() const {
  return [with = script_](caf::actor_system& system) -> managed_store {
    {
      const std::lock_guard guard{with->mutex};
      if (with->failed_starts > 0) {
        --with->failed_starts;
        throw status_error{errc::internal, "the store does not start"};
      }
    }
    return script::start(system, with);
  };
}

void failing_store::fail_start(std::uint32_t n) {
  const std::lock_guard guard{script_->mutex};
  script_->failed_starts = n;
}

void failing_store::answer_hung() {
  caf::anon_send(caf::actor_cast<scripted>(store()), done_atom_v);
}

std::uint64_t failing_store::requests() const {
  const std::lock_guard guard{script_->mutex};
  return script_->requests;
}

std::uint32_t failing_store::starts() const {
  const std::lock_guard guard{script_->mutex};
  return script_->starts;
}

void failing_store::plan_for(std::type_index verb, std::uint32_t n, effect what,
                             errc code) {
  const std::lock_guard guard{script_->mutex};
  script_->steps.insert(script_->steps.end(), n, {verb, {what, code}});
}

} // namespace tertulia::testing
