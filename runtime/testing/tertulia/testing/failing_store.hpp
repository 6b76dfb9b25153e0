// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/memory_store.hpp>
#include <tertulia/protocol.hpp>
#include <tertulia/status.hpp>
#include <tertulia/store.hpp>
#include <tertulia/store_handlers.hpp>

#include <caf/all.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <typeindex>
#include <typeinfo>
#include <utility>
#include <vector>

#include <boost/describe.hpp>

namespace tertulia::testing {

/// Ways in which a store may fail a request.
enum class store_fault { fails, loses_its_answer, hangs, dies };
BOOST_DESCRIBE_ENUM(store_fault, fails, loses_its_answer, hangs, dies)

/// Store that obeys the test, and otherwise forwards requests to the store
/// behind it. An instruction holds for the next requests, or for the next
/// requests of one verb: `fail_next<save_snapshot_request>(2,
/// errc::unavailable)`.
///
/// @threads  any.
/// @lifetime must not outlive its actor system.
/// @design   docs/testing.md#stores.
class failing_store {
public:
  /// Creates a failing store in front of a memory store.
  explicit failing_store(caf::actor_system& system)
    : failing_store(system, spawn_memory_store(system)) {}

  failing_store(caf::actor_system& system, managed_store behind)
    : script_(std::make_shared<script>()) {
    script_->behind = std::move(behind);
    (void)start(system, script_);
  }

  failing_store(const failing_store&) = delete;
  failing_store& operator=(const failing_store&) = delete;

  /// Ends the store, whatever it holds back. A supervisor may start it again.
  ~failing_store() {
    const std::lock_guard guard{script_->mutex};
    script_->over = true;
    caf::anon_send_exit(script_->front, caf::exit_reason::user_shutdown);
    script_->front = nullptr;
  }

  /// Returns the store; the one that was started last if there were several.
  [[nodiscard]] managed_store store() const {
    const std::lock_guard guard{script_->mutex};
    return script_->front;
  }

  /// Returns a factory for a supervisor. It starts the store again with the
  /// same store behind it and the rest of the script.
  [[nodiscard]] std::function<managed_store(caf::actor_system&)>
  factory() const {
    return [script = script_](caf::actor_system& system) -> managed_store {
      {
        const std::lock_guard guard{script->mutex};
        if (script->failed_starts > 0) {
          --script->failed_starts;
          throw status_error{errc::internal, "the store does not start"};
        }
      }
      return start(system, script);
    };
  }

  /// Makes the next n requests have no effect and this answer.
  template <class Verb = void>
  void fail_next(std::uint32_t n, errc code) {
    plan<Verb>(n, {what::fail, code});
  }

  /// Makes the next n requests have their effect, but this answer.
  template <class Verb = void>
  void lose_next(std::uint32_t n, errc code) {
    plan<Verb>(n, {what::lose, code});
  }

  /// Makes the next n requests have no effect and no answer before
  /// `answer_hung`.
  template <class Verb = void>
  void hang_next(std::uint32_t n) {
    plan<Verb>(n, {what::hang});
  }

  /// Makes the store die of the next request.
  template <class Verb = void>
  void die_next() {
    plan<Verb>(1, {what::die});
  }

  /// Makes the store die of the next request without an answer to the requests
  /// that it holds.
  template <class Verb = void>
  void die_silently_next() {
    plan<Verb>(1, {what::die_silently});
  }

  /// Breaks the next request in this way.
  template <class Verb>
  void break_next(store_fault how) {
    switch (how) {
      case store_fault::fails: return fail_next<Verb>(1, errc::unavailable);
      case store_fault::loses_its_answer:
        return lose_next<Verb>(1, errc::unavailable);
      case store_fault::hangs: return hang_next<Verb>(1);
      case store_fault::dies: return die_next<Verb>();
    }
  }

  /// Makes the next n starts through `factory` throw.
  void fail_start(std::uint32_t n) {
    const std::lock_guard guard{script_->mutex};
    script_->failed_starts = n;
  }

  /// Gives the pending requests their effect and their answer.
  void answer_hung() {
    caf::anon_send(caf::actor_cast<scripted>(store()), done_atom_v);
  }

  /// Returns the number of requests.
  [[nodiscard]] std::uint64_t requests() const {
    const std::lock_guard guard{script_->mutex};
    return script_->requests;
  }

  /// Returns the number of starts.
  [[nodiscard]] std::uint32_t starts() const {
    const std::lock_guard guard{script_->mutex};
    return script_->starts;
  }

private:
  using scripted = managed_store::extend<caf::reacts_to<done_atom>>;

  enum class what { fail, lose, hang, die, die_silently };

  struct fault {
    fault(what kind, errc code = errc::ok) : kind(kind), code(code) {}

    what kind;
    errc code;
  };

  struct step {
    std::type_index verb;
    fault next;
  };

  /// State shared by the actors and the test. It keeps the actor `front` alive,
  /// which keeps this state alive, until the test is over.
  struct script {
    template <class Verb>
    std::optional<fault> take() {
      const std::lock_guard guard{mutex};
      ++requests;
      for (auto i = steps.begin(); i != steps.end(); ++i)
        if (i->verb == typeid(void) || i->verb == typeid(Verb)) {
          const auto result = i->next;
          steps.erase(i);
          return result;
        }
      return std::nullopt;
    }

    std::mutex mutex;
    std::deque<step> steps;
    std::uint64_t requests = 0;
    std::uint32_t starts = 0;
    std::uint32_t failed_starts = 0;
    bool over = false;
    managed_store behind;
    managed_store front;
  };

  class scripted_state {
  public:
    static inline const char* name = "tertulia.failing_store";

    explicit scripted_state(scripted::pointer self) : self_(self) {}

    scripted::behavior_type make_behavior(std::shared_ptr<script> with) {
      script_ = std::move(with);
      return handle_verbs<scripted>(
        [this](auto x) { return obey(std::move(x)); },
        [this](done_atom) {
          for (auto& x : std::exchange(hung_, {}))
            x.go_on();
        });
    }

    /// Answers what it still holds, as a store must.
    ~scripted_state() {
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
      const auto next = script_->template take<Verb>();
      if (!next)
        return self_->delegate(script_->behind, std::move(x));
      switch (next->kind) {
        case what::fail: return fail(next->code, "as the script says");
        case what::lose: {
          auto promise = self_->template make_response_promise<Reply>();
          auto deliver = [=]() mutable {
            promise.deliver(fail(next->code, "as the script says"));
          };
          self_->request(script_->behind, caf::infinite, std::move(x))
            .then([=](Reply&) mutable { deliver(); },
                  [=](caf::error&) mutable { deliver(); });
          return promise;
        }
        case what::hang: break;
        case what::die_silently: silent_ = true; [[fallthrough]];
        case what::die: self_->quit(caf::exit_reason::kill);
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

  static managed_store start(caf::actor_system& system,
                             const std::shared_ptr<script>& with) {
    managed_store result = system.spawn<caf::hidden>(
      [](scripted::stateful_pointer<scripted_state> self,
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

  template <class Verb>
  void plan(std::uint32_t n, fault next) {
    static_assert(
      std::is_void_v<
        Verb> || caf::response_type<managed_store::signatures, Verb>::valid,
      "a failing_store fails requests of the protocol, such as "
      "save_snapshot_request");
    const std::lock_guard guard{script_->mutex};
    script_->steps.insert(script_->steps.end(), n, {typeid(Verb), next});
  }

  std::shared_ptr<script> script_;
};

} // namespace tertulia::testing
