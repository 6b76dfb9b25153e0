// SPDX-License-Identifier: BSD-3-Clause

// A store of one's own: rows in memory, and a file with one line of JSON for
// each transaction, which is read when the store is opened. The requests and
// their rules are those of the library, see docs/stores.md#write-a-store.

#include <tertulia/define_agent.hpp>
#include <tertulia/describe.hpp>
#include <tertulia/runtime.hpp>
#include <tertulia/store_actor.hpp>
#include <tertulia/store_supervisor.hpp>
#include <tertulia/store_tables.hpp>

#include <caf/actor_system.hpp>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <unistd.h>

namespace {

using tertulia::json;
using tertulia::record_row;
using tertulia::session_row;

// --(rows-begin)--
// The columns of a row, and the state itself.
template <class Row>
json to_line(const Row& x) {
  auto result = json::object();
  for_each_column(x, [&](const char* name, const auto& value) {
    result[name] = tertulia::to_json(value);
  });
  result["held"] = tertulia::to_json(tertulia::encoded_state{x.content.held});
  return result;
}

template <class Row>
Row from_line(const json& x) {
  Row result;
  for_each_column(result, [&]<class T>(const char* name, T& value) {
    value = tertulia::from_json<T>(x.at(name));
  });
  result.content.held
    = tertulia::from_json<tertulia::encoded_state>(x.at("held")).decode();
  return result;
}
// --(rows-end)--

class file_tables final : public tertulia::store_tables {
public:
  explicit file_tables(std::filesystem::path file) : file_(std::move(file)) {
    read();
  }

  tertulia::store_contents& contents() noexcept override {
    return *contents_;
  }

  // --(transactions-begin)--
  bool has_transactions() const noexcept override {
    return true;
  }

  bool in_transaction() const noexcept override {
    return is_open_;
  }

  std::int64_t written() const noexcept override {
    return static_cast<std::int64_t>(changes_.size());
  }

  void begin() override {
    is_open_ = true;
  }

  // The changes are durable when their line is on the disk.
  void commit() override {
    const auto line = changes_.dump() + '\n';
    const std::unique_ptr<FILE, int (*)(FILE*)> to{
      std::fopen(file_.c_str(), "a"), &std::fclose};
    if (!to || std::fwrite(line.data(), 1, line.size(), to.get()) < line.size()
        || std::fflush(to.get()) != 0 || ::fsync(::fileno(to.get())) != 0)
      throw tertulia::engine_error{tertulia::errc::unavailable,
                                   file_.string() + " cannot be written"};
    changes_ = json::array();
    is_open_ = false;
  }

  void roll_back() noexcept override {
    changes_ = json::array();
    is_open_ = false;
    read();
  }
  // --(transactions-end)--

  // --(sessions-begin)--
  std::optional<session_row>
  find_session(const tertulia::session_ref& name) override {
    const auto found = sessions_.find(name);
    return found != sessions_.end() ? std::optional{found->second}
                                    : std::nullopt;
  }

  std::optional<session_row> find_session(std::int64_t key) override {
    for (const auto& [name, row] : sessions_)
      if (row.key == key)
        return row;
    return std::nullopt;
  }

  void for_each_session(const tertulia::session_ref& after,
                        const std::function<bool(session_row)>& fn) override {
    for (auto i = sessions_.upper_bound(after); i != sessions_.end(); ++i)
      if (!fn(i->second))
        return;
  }

  std::int64_t add(const tertulia::session_ref& name) override {
    session_row made;
    made.key = last_key_ + 1;
    made.info.agent = name.agent;
    made.info.id = name.id;
    write(made);
    return made.key;
  }

  void write(const session_row& x) override {
    change({{"session", to_line(x)}});
  }

  void erase(const session_row& x) override {
    change({{"gone", x.key}});
  }
  // --(sessions-end)--

  // --(records-begin)--
  void for_each_record(std::int64_t session, std::uint64_t first,
                       std::uint64_t last,
                       const std::function<bool(record_row)>& fn) override {
    for (auto i = records_.lower_bound({session, first});
         i != records_.end() && i->first <= std::pair{session, last}; ++i)
      if (!fn(i->second))
        return;
  }

  void write(const record_row& x) override {
    change({{"record", to_line(x)}});
  }

  void erase(const record_row& x) override {
    change({{"gone", x.session}, {"sequence", x.sequence}});
  }
  // --(records-end)--

private:
  // --(reading-begin)--
  void change(json x) {
    apply(x);
    changes_.push_back(std::move(x));
  }

  void apply(const json& x) {
    if (x.contains("session")) {
      const auto row = from_line<session_row>(x.at("session"));
      last_key_ = std::max(last_key_, row.key);
      sessions_[row.name()] = row;
    } else if (x.contains("record")) {
      const auto row = from_line<record_row>(x.at("record"));
      records_[{row.session, row.sequence}] = row;
    } else if (x.contains("sequence")) {
      records_.erase({x.at("gone"), x.at("sequence")});
    } else {
      const std::int64_t key = x.at("gone");
      std::erase_if(sessions_, [&](auto& y) { return y.second.key == key; });
      std::erase_if(records_, [&](auto& y) { return y.first.first == key; });
    }
  }

  // A line that was not completed belongs to a transaction that was never
  // acknowledged.
  void read() {
    sessions_.clear();
    records_.clear();
    std::uintmax_t size = 0;
    std::ifstream from{file_};
    for (std::string line; std::getline(from, line) && !from.eof();) {
      size += line.size() + 1;
      for (const auto& x : tertulia::parse_json<json>(line))
        apply(x);
    }
    if (std::filesystem::exists(file_))
      std::filesystem::resize_file(file_, size);
  }
  // --(reading-end)--

  std::filesystem::path file_;
  std::map<tertulia::session_ref, session_row> sessions_;
  std::map<std::pair<std::int64_t, std::uint64_t>, record_row> records_;
  std::int64_t last_key_ = 0;
  json changes_ = json::array();
  bool is_open_ = false;
  std::shared_ptr<tertulia::store_contents> contents_
    = tertulia::make_held_contents();
};

// --(spawn-begin)--
tertulia::managed_store spawn_file_store(caf::actor_system& system,
                                         const std::filesystem::path& file) {
  return tertulia::supervise_store(system, [=](caf::actor_system& where) {
    tertulia::store_actor_options options;
    options.max_batch = 64;
    options.blocks = true;
    return tertulia::spawn_store_actor(
      where, std::make_shared<file_tables>(file), options);
  });
}
// --(spawn-end)--

tertulia::task<int> count(tertulia::context, tertulia::agent_session<int> cups,
                          tertulia::input<int> in,
                          tertulia::agent_responder<int>) {
  while (auto more = co_await in.next())
    co_await cups.update_state(co_await cups.state() + *more);
  co_return co_await cups.state();
}

} // namespace

int main() {
  const auto file = std::filesystem::temp_directory_path()
                    / ("cups-" + std::to_string(::getpid()) + ".jsonl");
  for (const auto cups : {2, 3}) { // the second program continues
    tertulia::config cfg;
    caf::actor_system system{cfg};
    tertulia::runtime rt{system};
    auto talk
      = tertulia::define_agent(
          rt, "cups", count,
          tertulia::with_snapshot_store(spawn_file_store(system, file)))
          .stream_bidi(tertulia::with_session_id(tertulia::session_id{"home"}));
    talk.send(cups);
    talk.close();
    std::cout << talk.output().output << " cups\n";
  }
  std::filesystem::remove(file);
  return 0;
}
