// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <tertulia/ai/artifact.hpp>
#include <tertulia/ai/message.hpp>
#include <tertulia/json.hpp>
#include <tertulia/status.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace example {

/// A folder that limits the access of a model to its files.
///
/// File names are relative to the folder, such as `src/main.cpp`. No name leads
/// out of the folder: absolute names, `..` and names that start with a dot are
/// refused. Links are not followed, even if one is created concurrently. Files
/// are text of at most 64 KiB, in folders at most 15 deep, and at most 1 000 of
/// them may ever be changed. A reader sees a file before or after a change,
/// never in between.
///
/// Remembers the original content of all changed files, so that it can be
/// restored.
///
/// @errors  of all members: `permission_denied` for names that the model may
///          not use, `not_found`, `invalid_argument` for a file that is not
///          text, `resource_exhausted` for a file that is too large,
///          `unavailable` for errors of the system.
/// @threads all members are thread-safe; they block.
class sandbox_folder {
public:
  using errc = tertulia::errc;
  using status_error = tertulia::status_error;

  static constexpr std::size_t max_size = 64 * 1024;
  static constexpr std::size_t max_files = 1'000;
  static constexpr std::size_t max_path = 1'000;
  static constexpr std::size_t max_depth = 16;

  /// @pre the folder exists.
  explicit sandbox_folder(std::filesystem::path root)
    : root_(std::move(root)),
      folder_(::open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    check(folder_.get(), root_.string());
  }

  // -- for the model ----------------------------------------------------------

  /// Returns the names of the files that the model may use, sorted.
  [[nodiscard]] std::vector<std::string> list() const {
    namespace fs = std::filesystem;
    const std::lock_guard guard{mutex_};
    std::vector<std::string> result;
    std::error_code code;
    constexpr auto skip = fs::directory_options::skip_permission_denied;
    fs::recursive_directory_iterator at{root_, skip, code};
    for (; !code && at != fs::recursive_directory_iterator{};
         at.increment(code)) {
      std::error_code gone; // removed concurrently
      const auto kind = at->symlink_status(gone).type();
      const auto hidden = at->path().filename().string().front() == '.';
      if (hidden || at.depth() + 1 >= static_cast<int>(max_depth))
        at.disable_recursion_pending();
      if (!hidden && kind == fs::file_type::regular) {
        auto name = at->path().lexically_relative(root_).string();
        if (is_text(name))
          result.push_back(std::move(name));
        if (result.size() > max_files)
          throw status_error{errc::resource_exhausted,
                             "there are too many files"};
      }
    }
    if (code)
      throw status_error{errc::unavailable,
                         root_.string() + ": " + code.message()};
    std::sort(result.begin(), result.end());
    return result;
  }

  [[nodiscard]] std::string read(const std::string& name) const {
    const std::lock_guard guard{mutex_};
    return load(name);
  }

  void write(const std::string& name, const std::string& text) {
    const std::lock_guard guard{mutex_};
    change(name, text);
  }

  /// Replaces `old`, which must occur exactly once, with `text`.
  void replace(const std::string& name, std::string_view old,
               std::string_view text) {
    const std::lock_guard guard{mutex_};
    auto all = load(name);
    const auto position = all.find(old);
    if (old.empty() || position == std::string::npos
        || all.find(old, position + 1) != std::string::npos)
      throw status_error{errc::failed_precondition,
                         name + " must have that text once"};
    change(name, all.replace(position, old.size(), text));
  }

  // -- for the session --------------------------------------------------------

  /// Returns the files that were changed since the last call.
  [[nodiscard]] std::vector<tertulia::ai::artifact> take_changes() {
    const std::lock_guard guard{mutex_};
    std::vector<tertulia::ai::artifact> result;
    for (const auto& name : std::exchange(changed_, {}))
      result.emplace_back(name,
                          std::vector{tertulia::ai::part::text(now_.at(name))});
    return result;
  }

  /// Restores all files that were ever changed to their content in `files`, or,
  /// if they are not in `files`, to their original content. A file that was
  /// already restored to its original content is not touched: another program
  /// may have changed it since.
  void restore(const std::vector<tertulia::ai::artifact>& files) {
    const std::lock_guard guard{mutex_};
    std::map<std::string, std::string> wanted;
    for (const auto& file : files)
      wanted.emplace(file.name, tertulia::ai::text_of(file.parts));
    for (const auto& [name, text] : at_first_)
      if (!wanted.contains(name) && now_.contains(name)) {
        text ? store(name, *text) : remove(name);
        now_.erase(name);
      }
    for (const auto& [name, text] : wanted)
      if (const auto i = now_.find(name); i == now_.end() || i->second != text)
        change(name, text);
    changed_.clear();
  }

private:
  class descriptor {
  public:
    explicit descriptor(int fd) : fd_(fd) {}

    descriptor(descriptor&& other) noexcept
      : fd_(std::exchange(other.fd_, -1)) {}

    descriptor& operator=(descriptor&& other) noexcept {
      std::swap(fd_, other.fd_);
      return *this;
    }

    ~descriptor() {
      if (fd_ >= 0)
        ::close(fd_);
    }

    [[nodiscard]] int get() const noexcept {
      return fd_;
    }

  private:
    int fd_;
  };

  struct place {
    descriptor folder;
    std::string name;
  };

  // -- errors -----------------------------------------------------------------

  /// @param result of a system call; negative if the call has failed.
  static void check(long result, const std::string& name) {
    if (result >= 0)
      return;
    const auto why = errno;
    if (why == ENOENT)
      throw status_error{errc::not_found, "there is no " + name};
    if (why == ELOOP)
      throw status_error{errc::permission_denied, name + " is a link"};
    if (why == ENOTDIR)
      throw status_error{errc::permission_denied,
                         name + " is behind no folder"};
    throw status_error{errc::unavailable,
                       name + ": " + std::generic_category().message(why)};
  }

  static bool is_text(const std::string& x) {
    try {
      return !tertulia::to_json_text(x).empty();
    } catch (const status_error&) { // invalid UTF-8
      return false;
    }
  }

  // -- files, called with the mutex held --------------------------------------

  static std::vector<std::string> names_in(const std::string& path) {
    if (path.size() > max_path
        || std::count(path.begin(), path.end(), '/')
             >= static_cast<std::ptrdiff_t>(max_depth))
      throw status_error{errc::permission_denied,
                         "that name is too long for the sandbox"};
    std::vector<std::string> result;
    for (std::size_t from = 0; from <= path.size();) {
      const auto to = std::min(path.find('/', from), path.size());
      auto name = path.substr(from, to - from);
      if (name.empty() || name.front() == '.'
          || name.find('\0') != std::string::npos)
        throw status_error{errc::permission_denied,
                           path + " is not in the sandbox"};
      result.push_back(std::move(name));
      from = to + 1;
    }
    return result;
  }

  /// Opens one folder after the other, so that a link cannot be inserted into
  /// the path between a check and its use.
  [[nodiscard]] place find(const std::string& path, bool make_folders) const {
    constexpr auto how = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
    auto names = names_in(path);
    place result{descriptor{::openat(folder_.get(), ".", how)}, names.back()};
    check(result.folder.get(), path);
    names.pop_back();
    for (const auto& name : names) {
      const auto above = result.folder.get();
      if (make_folders)
        static_cast<void>(::mkdirat(above, name.c_str(), 0777));
      descriptor next{::openat(above, name.c_str(), how)};
      check(next.get(), path);
      result.folder = std::move(next);
    }
    return result;
  }

  [[nodiscard]] std::string load(const std::string& path) const {
    const auto position = find(path, false);
    // O_NONBLOCK, because opening a pipe would block.
    const descriptor file{
      ::openat(position.folder.get(), position.name.c_str(),
               O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)};
    check(file.get(), path);
    struct stat info {};
    check(::fstat(file.get(), &info), path);
    if (!S_ISREG(info.st_mode))
      throw status_error{errc::permission_denied, path + " is not a file"};
    std::string result(max_size + 1, '\0');
    std::size_t size = 0;
    for (ssize_t got = 1; got > 0 && size < result.size(); size += got)
      check(got = ::read(file.get(), &result[size], result.size() - size),
            path);
    if (size > max_size)
      throw status_error{errc::resource_exhausted,
                         path + " is larger than 64 KiB"};
    result.resize(size);
    if (!is_text(result))
      throw status_error{errc::invalid_argument, path + " is not text"};
    return result;
  }

  void change(const std::string& path, const std::string& text) {
    if (text.size() > max_size)
      throw status_error{errc::resource_exhausted,
                         path + " would be larger than 64 KiB"};
    if (!at_first_.contains(path)) {
      if (at_first_.size() >= max_files)
        throw status_error{errc::resource_exhausted,
                           "too many files were changed"};
      at_first_.emplace(path, load_if_any(path));
    }
    store(path, text);
    now_[path] = text;
    changed_.insert(path);
  }

  [[nodiscard]] std::optional<std::string>
  load_if_any(const std::string& path) const {
    try {
      return load(path);
    } catch (const status_error& x) {
      if (x.code() != errc::not_found)
        throw;
      return std::nullopt;
    }
  }

  /// Writes a temporary file and renames it, so that no reader sees a partial
  /// file.
  void store(const std::string& path, std::string_view text) const {
    const auto position = find(path, true);
    const auto folder = position.folder.get();
    const auto fresh = '.' + position.name + ".tertulia";
    ::unlinkat(folder, fresh.c_str(), 0); // left by a program that has died
    const descriptor file{
      ::openat(folder, fresh.c_str(),
               O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666)};
    check(file.get(), path);
    try {
      struct stat old {};
      if (::fstatat(folder, position.name.c_str(), &old, AT_SYMLINK_NOFOLLOW)
          == 0)
        check(::fchmod(file.get(), old.st_mode & 0777), path);
      while (!text.empty()) {
        const auto written = ::write(file.get(), text.data(), text.size());
        check(written, path);
        text.remove_prefix(static_cast<std::size_t>(written));
      }
      check(::fsync(file.get()), path);
      check(::renameat(folder, fresh.c_str(), folder, position.name.c_str()),
            path);
    } catch (...) {
      ::unlinkat(folder, fresh.c_str(), 0);
      throw;
    }
  }

  /// Removes a file, whatever its current content.
  void remove(const std::string& path) const {
    try {
      const auto position = find(path, false);
      struct stat info {};
      check(::fstatat(position.folder.get(), position.name.c_str(), &info,
                      AT_SYMLINK_NOFOLLOW),
            path);
      if (!S_ISREG(info.st_mode))
        throw status_error{errc::permission_denied, path + " is not a file"};
      check(::unlinkat(position.folder.get(), position.name.c_str(), 0), path);
    } catch (const status_error& x) {
      if (x.code() != errc::not_found)
        throw;
    }
  }

  mutable std::mutex mutex_;
  std::filesystem::path root_;
  descriptor folder_;
  /// Original content of changed files; empty if the file did not exist.
  std::map<std::string, std::optional<std::string>> at_first_;
  /// Written content of changed files; has no entry after a restore of the
  /// original content.
  std::map<std::string, std::string> now_;
  std::set<std::string> changed_;
};

} // namespace example
