// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <sqlite3.h>

namespace tertulia::test {

/// Disk of SQLite during the lifetime of this object: it fails on demand, flips
/// bits, and knows what would be left of its files after a power cut.
///
/// A call is an operation that changes something or makes a change durable:
/// write, truncate, sync, open or delete. Operations on data that SQLite keeps
/// in memory, such as the index of a write-ahead log, are not calls.
///
/// @threads  all members; only one such object at a time.
/// @lifetime outlives all connections that are opened in its lifetime.
class faulty_vfs {
public:
  faulty_vfs() : real_(sqlite3_vfs_find(nullptr)) {
    current() = this;
    vfs_ = *real_;
    vfs_.zName = "faulty";
    vfs_.szOsFile = static_cast<int>(sizeof(file)) + real_->szOsFile;
    vfs_.pNext = nullptr;
    vfs_.xOpen = [](sqlite3_vfs*, const char* name, sqlite3_file* to, int flags,
                    int* out) { return current()->open(name, to, flags, out); };
    vfs_.xDelete = [](sqlite3_vfs*, const char* name, int sync) {
      return current()->erase(name, sync);
    };
    sqlite3_vfs_register(&vfs_, 1);
  }

  faulty_vfs(const faulty_vfs&) = delete;
  faulty_vfs& operator=(const faulty_vfs&) = delete;

  ~faulty_vfs() {
    sqlite3_vfs_unregister(&vfs_);
    sqlite3_vfs_register(real_, 1);
    current() = nullptr;
  }

  /// Makes the nth call from now on fail, and all later calls if `from_then_on`
  /// is true; 0 for none.
  void fail_at(std::uint64_t call, bool from_then_on) {
    const std::scoped_lock guard{mutex_};
    calls_ = {0, call, from_then_on};
  }

  /// Makes the nth read from now on fail, and all later reads if `from_then_on`
  /// is true; 0 for none. Reads are not calls.
  void fail_read_at(std::uint64_t read, bool from_then_on) {
    const std::scoped_lock guard{mutex_};
    reads_ = {0, read, from_then_on};
  }

  /// Limits the further growth of the files to a number of bytes.
  void fill_after(std::int64_t bytes) {
    const std::scoped_lock guard{mutex_};
    room_ = bytes;
  }

  /// Flips a bit whenever it is read, until another bit is set.
  /// @param bit position in the file, from its beginning.
  void flip(const std::filesystem::path& file, std::uint64_t bit) {
    const std::scoped_lock guard{mutex_};
    flipped_file_ = file.string();
    flipped_bit_ = bit;
  }

  /// Calls a function before the nth call from now on; 0 for none.
  void watch(std::uint64_t call, std::function<void()> fn) {
    const std::scoped_lock guard{mutex_};
    calls_.count = 0;
    watch_at_ = call;
    watcher_ = std::move(fn);
  }

  /// Returns the number of calls since the last `fail_at` or `watch`.
  [[nodiscard]] std::uint64_t calls() const {
    const std::scoped_lock guard{mutex_};
    return calls_.count;
  }

  /// Returns the number of reads since the last `fail_read_at`.
  [[nodiscard]] std::uint64_t reads() const {
    const std::scoped_lock guard{mutex_};
    return reads_.count;
  }

  /// Writes the files as a power cut would leave them now: all synced data, and
  /// any part of the later writes in any order, the last one torn.
  ///
  /// @pre called by a function that `watch` calls, or while the disk is not in
  ///      use.
  void cut_power(const std::filesystem::path& to, std::uint32_t seed) const {
    std::mt19937 random{seed};
    for (const auto& [name, kept] : files_) {
      auto content = kept.synced;
      auto changes = kept.changes;
      std::shuffle(changes.begin(), changes.end(), random);
      changes.resize(changes.empty() ? 0 : random() % (changes.size() + 1));
      for (auto& change : changes) {
        if (&change == &changes.back() && !change.bytes.empty())
          change.bytes.resize(1 + random() % change.bytes.size());
        change.apply(content);
      }
      std::ofstream file{to / std::filesystem::path{name}.filename(),
                         std::ios::binary};
      file << content;
    }
  }

private:
  /// Counter of operations that decides which of them fail.
  struct countdown {
    /// Counts one more operation.
    /// @returns whether that operation fails.
    bool next() {
      ++count;
      return fail_at != 0
             && (from_then_on ? count >= fail_at : count == fail_at);
    }

    std::uint64_t count = 0;
    std::uint64_t fail_at = 0;
    bool from_then_on = false;
  };

  /// A write or a truncation.
  struct change {
    void apply(std::string& to) const {
      if (truncates) {
        to.resize(at);
        return;
      }
      if (to.size() < at + bytes.size())
        to.resize(at + bytes.size());
      std::copy(bytes.begin(), bytes.end(),
                to.begin() + static_cast<std::ptrdiff_t>(at));
    }

    std::size_t at = 0;
    std::string bytes;
    bool truncates = false;
  };

  struct image {
    std::string synced;
    std::vector<change> changes;
  };

  /// File as SQLite sees it, followed by the real file.
  struct file : sqlite3_file {
    faulty_vfs* vfs;
    image* kept;      // null for a file that is deleted when it is closed
    const char* name; // SQLite keeps it as long as the file

    sqlite3_file* real() {
      return reinterpret_cast<sqlite3_file*>(this + 1);
    }
  };

  static faulty_vfs*& current() {
    static faulty_vfs* result = nullptr;
    return result;
  }

  static file& of(sqlite3_file* x) {
    return *static_cast<file*>(x);
  }

  /// Counts a call.
  /// @returns whether it fails.
  bool fails() {
    const auto result = calls_.next();
    if (watch_at_ != 0 && calls_.count == watch_at_)
      watcher_();
    return result;
  }

  int open(const char* name, sqlite3_file* to, int flags, int* out) {
    const std::scoped_lock guard{mutex_};
    auto& x = of(to);
    to->pMethods = nullptr; // must not be closed
    if (fails())
      return SQLITE_CANTOPEN;
    x.vfs = this;
    x.kept = nullptr;
    x.name = name;
    const auto result = real_->xOpen(real_, name, x.real(), flags, out);
    if (result != SQLITE_OK)
      return result;
    if (name != nullptr && (flags & SQLITE_OPEN_DELETEONCLOSE) == 0)
      x.kept = &image_of(name);
    to->pMethods = &methods();
    return result;
  }

  image& image_of(const char* name) {
    const auto [i, is_new] = files_.try_emplace(name);
    if (is_new) {
      std::ifstream old{name, std::ios::binary};
      i->second.synced.assign(std::istreambuf_iterator<char>{old}, {});
    }
    return i->second;
  }

  int erase(const char* name, int sync) {
    const std::scoped_lock guard{mutex_};
    if (fails())
      return SQLITE_IOERR_DELETE;
    // Connections that have the file open continue with data that is lost.
    if (const auto i = files_.find(name); i != files_.end())
      i->second = image{};
    return real_->xDelete(real_, name, sync);
  }

  int write(file& x, const void* bytes, int size, sqlite3_int64 at) {
    const std::scoped_lock guard{mutex_};
    if (fails())
      return SQLITE_IOERR_WRITE;
    sqlite3_int64 old = 0;
    x.real()->pMethods->xFileSize(x.real(), &old);
    const auto growth = std::max<sqlite3_int64>(at + size - old, 0);
    if (room_ >= 0 && growth > room_)
      return SQLITE_FULL;
    if (room_ >= 0)
      room_ -= growth;
    if (x.kept != nullptr)
      x.kept->changes.push_back({static_cast<std::size_t>(at),
                                 std::string(static_cast<const char*>(bytes),
                                             static_cast<std::size_t>(size)),
                                 false});
    return x.real()->pMethods->xWrite(x.real(), bytes, size, at);
  }

  int read(file& x, void* to, int size, sqlite3_int64 at) {
    const std::scoped_lock guard{mutex_};
    if (reads_.next())
      return SQLITE_IOERR_READ;
    const auto result = x.real()->pMethods->xRead(x.real(), to, size, at);
    if (x.name == nullptr || flipped_file_ != x.name)
      return result;
    const auto byte = static_cast<sqlite3_int64>(flipped_bit_ / 8);
    if (byte >= at && byte < at + size)
      static_cast<unsigned char*>(to)[byte - at]
        ^= static_cast<unsigned char>(1u << flipped_bit_ % 8);
    return result;
  }

  int truncate(file& x, sqlite3_int64 size) {
    const std::scoped_lock guard{mutex_};
    if (fails())
      return SQLITE_IOERR_TRUNCATE;
    if (x.kept != nullptr)
      x.kept->changes.push_back({static_cast<std::size_t>(size), {}, true});
    return x.real()->pMethods->xTruncate(x.real(), size);
  }

  int sync(file& x) {
    const std::scoped_lock guard{mutex_};
    if (fails())
      return SQLITE_IOERR_FSYNC;
    if (x.kept != nullptr)
      for (const auto& y : std::exchange(x.kept->changes, {}))
        y.apply(x.kept->synced);
    return SQLITE_OK; // the real disk is not under test
  }

  /// Calls the same method of the real file.
  template <auto Method, class Result, class... Args>
  static Result pass(sqlite3_file* f, Args... args) {
    return (of(f).real()->pMethods->*Method)(of(f).real(), args...);
  }

  static const sqlite3_io_methods& methods() {
    static const sqlite3_io_methods result = [] {
      sqlite3_io_methods x{};
      x.iVersion = 2; // no memory mapping, which would bypass this
      x.xClose = pass<&sqlite3_io_methods::xClose>;
      x.xRead = [](sqlite3_file* f, void* to, int size, sqlite3_int64 at) {
        return of(f).vfs->read(of(f), to, size, at);
      };
      x.xWrite
        = [](sqlite3_file* f, const void* from, int size, sqlite3_int64 at) {
            return of(f).vfs->write(of(f), from, size, at);
          };
      x.xTruncate = [](sqlite3_file* f, sqlite3_int64 size) {
        return of(f).vfs->truncate(of(f), size);
      };
      x.xSync = [](sqlite3_file* f, int) { return of(f).vfs->sync(of(f)); };
      x.xFileSize = pass<&sqlite3_io_methods::xFileSize>;
      x.xLock = pass<&sqlite3_io_methods::xLock>;
      x.xUnlock = pass<&sqlite3_io_methods::xUnlock>;
      x.xCheckReservedLock = pass<&sqlite3_io_methods::xCheckReservedLock>;
      x.xFileControl = pass<&sqlite3_io_methods::xFileControl>;
      x.xSectorSize = pass<&sqlite3_io_methods::xSectorSize>;
      // No guarantees that a real disk may give.
      x.xDeviceCharacteristics = [](sqlite3_file*) { return 0; };
      x.xShmMap = pass<&sqlite3_io_methods::xShmMap>;
      x.xShmLock = pass<&sqlite3_io_methods::xShmLock>;
      x.xShmBarrier = pass<&sqlite3_io_methods::xShmBarrier>;
      x.xShmUnmap = pass<&sqlite3_io_methods::xShmUnmap>;
      return x;
    }();
    return result;
  }

  sqlite3_vfs* real_;
  sqlite3_vfs vfs_{};

  mutable std::mutex mutex_;
  std::map<std::string, image> files_;
  countdown calls_;
  countdown reads_;
  std::int64_t room_ = -1;
  std::uint64_t watch_at_ = 0;
  std::function<void()> watcher_;
  std::string flipped_file_;
  std::uint64_t flipped_bit_ = 0;
};

} // namespace tertulia::test
