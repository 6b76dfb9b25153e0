// SPDX-License-Identifier: BSD-3-Clause

// Measures the cost per turn of long conversations: exporting one from a file;
// reading the tree of its snapshots with the text of each; adding one more
// artifact to the existing ones. Every eighth turn goes back four turns and
// continues from there. Baseline: the same for 100 turns, because a flat cost
// does not depend on the number of turns.

#include <tertulia/session_file.hpp>
#include <tertulia/sqlite_store.hpp>

#include <ostream>
#include <stdexcept>
#include <streambuf>

#include "../runtime/cli/snapshots/snapshot_tree.hpp"
#include "conversation.hpp"
#include "row.hpp"
#include "store_access.hpp"

namespace tertulia::bench {

namespace {

constexpr std::size_t few_turns = 100;

/// Discards all output.
class sink final : public std::streambuf {
private:
  std::streamsize xsputn(const char*, std::streamsize size) override {
    return size;
  }

  int_type overflow(int_type x) override {
    return traits_type::not_eof(x);
  }
};

/// Two conversations in a file: a long one, and one of `few_turns`.
class long_conversation : public question {
protected:
  explicit long_conversation(std::size_t turns) : turns_(turns) {
    fill(many_, turns);
    fill(few_, few_turns);
  }

  std::size_t turns_;
  stage stage_;
  caf::scoped_actor self_{stage_.system};
  scratch folder_;
  managed_store store_
    = spawn_sqlite_store(stage_.system, folder_ / "sessions.db");
  const session_ref many_{"/session-flow/chat", session_id{"many"}};
  const session_ref few_{"/session-flow/chat", session_id{"few"}};

private:
  void fill(const session_ref& session, std::size_t turns) {
    std::vector<state> contents{ai::to_state(history(0))};
    ask_all<save_result>(self_, store_, turns, [&](std::size_t i) {
      const auto parent = ++i % 8 == 0 ? i - 4 : i - 1;
      const auto& before = contents[parent];
      auto log = before.messages()
                   .with(ai::user_text(std::to_string(i) + utterance()))
                   .with(ai::model_text(utterance()));
      contents.push_back(before.with_messages(std::move(log)));
      snapshot_record record;
      record.agent = session.agent;
      record.session = session.id;
      record.state = contents.back().id();
      record.id = snapshot_id{record.state.str()};
      record.parent = parent;
      return save_snapshot_request{std::move(record), contents.back(),
                                   append_rule::anywhere};
    });
  }
};

template <std::size_t Turns>
class exporting final : public long_conversation {
public:
  exporting() : long_conversation(Turns) {}

  double ours(std::size_t) override {
    return time(many_) / static_cast<double>(turns_);
  }

  double baseline(std::size_t) override {
    return time(few_) / static_cast<double>(few_turns);
  }

private:
  double time(const session_ref& session) {
    return time_calls(1, [&] {
      sink nowhere;
      std::ostream to{&nowhere};
      export_session(stage_.system, store_, session, to);
    });
  }
};

template <std::size_t Turns>
class tree final : public long_conversation {
public:
  tree() : long_conversation(Turns) {}

  double ours(std::size_t) override {
    return time(many_, turns_) / static_cast<double>(turns_);
  }

  double baseline(std::size_t) override {
    return time(few_, few_turns) / static_cast<double>(few_turns);
  }

private:
  double time(const session_ref& session, std::size_t turns) {
    return time_calls(1, [&] {
      std::vector<snapshot_record> records;
      std::size_t said = 0;
      list_snapshots_request x{session};
      x.with_orphans = true;
      x.detail = detail_level::state;
      for (auto more = true; more;) {
        auto page = ask<snapshot_page>(self_, store_, x);
        for (auto& y : page.snapshots) {
          x.after = y.record.sequence;
          said += y.content.messages().back().text().size();
          records.push_back(std::move(y.record));
        }
        more = page.more;
      }
      if (tool::as_tree(records).size() != turns || said == 0)
        throw std::runtime_error{"snapshots are missing"};
    });
  }
};

/// Adds one artifact to a state that has one for each turn. Nothing is stored.
template <std::size_t Count>
class artifacts final : public question {
public:
  artifacts() {
    for (std::size_t i = 0; i < Count; ++i) {
      many_ = many_.with_artifact(file(i));
      if (i < few_turns)
        few_ = many_;
    }
  }

  double ours(std::size_t operations) override {
    return time(many_, operations);
  }

  double baseline(std::size_t operations) override {
    return time(few_, operations);
  }

private:
  static ai::artifact file(std::size_t i) {
    return {"file-" + std::to_string(i), {ai::part::text(utterance())}};
  }

  static double time(const state& before, std::size_t operations) {
    return time_calls(operations, [&, i = Count]() mutable {
      if (before.with_artifact(file(i++)).artifacts().size()
          != before.artifacts().size() + 1)
        throw std::runtime_error{"an artifact is missing"};
    });
  }

  state many_ = ai::to_state(history(0));
  state few_ = many_;
};

template <class Question>
enrol long_row(std::string name, target promise, std::size_t operations = 1) {
  return enrol{{.name = std::move(name),
                .promise = promise,
                .operations = operations,
                .smoke_operations = 1,
                .samples = 5,
                .make = make_question<Question>}};
}

const enrol rows_of_many_turns[] = {
  long_row<exporting<1'000>>("export_1000",
                             target::at_most_times_baseline(1.5)),
  long_row<exporting<16'000>>("export_16000",
                              target::at_most_times_baseline(1.5)),
  long_row<tree<1'000>>("tree_1000", target::at_most_times_baseline(1.5)),
  long_row<tree<16'000>>("tree_16000", target::at_most_times_baseline(1.5)),
  long_row<artifacts<1'000>>("artifact_1000", {}, 2'000),
  long_row<artifacts<16'000>>("artifact_16000", target::at_most(100), 2'000),
};

} // namespace

} // namespace tertulia::bench
