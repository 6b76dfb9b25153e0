// SPDX-License-Identifier: BSD-3-Clause

#include "sqlite_log.hpp"

#include <tertulia/status.hpp>

#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace tertulia {

namespace {

// The format is SQLite's own: https://sqlite.org/fileformat2.html#walformat

constexpr std::size_t header_size = 32;
constexpr std::size_t frame_header_size = 24;
constexpr std::uint32_t magic = 0x377f0682; // the last bit is the byte order

std::uint32_t number_at(std::string_view bytes, std::size_t at) {
  std::uint32_t result = 0;
  for (const char x : bytes.substr(at, 4))
    result = result << 8u | static_cast<unsigned char>(x);
  return result;
}

struct checksum {
  /// Adds bytes, whose number is a multiple of eight.
  void update(std::string_view bytes, bool is_big_endian) {
    for (std::size_t i = 0; i + 8 <= bytes.size(); i += 8) {
      a += word(bytes.substr(i, 4), is_big_endian) + b;
      b += word(bytes.substr(i + 4, 4), is_big_endian) + a;
    }
  }

  static std::uint32_t word(std::string_view bytes, bool is_big_endian) {
    const auto x = number_at(bytes, 0);
    return is_big_endian ? x
                         : (x >> 24u) | (x >> 8u & 0xff00u)
                             | (x << 8u & 0xff0000u) | (x << 24u);
  }

  /// Reads a stored checksum.
  static checksum at(std::string_view bytes, std::size_t place) {
    return {number_at(bytes, place), number_at(bytes, place + 4)};
  }

  friend bool operator==(const checksum&, const checksum&) = default;

  std::uint32_t a = 0;
  std::uint32_t b = 0;
};

/// Reads the next bytes of a file.
/// @returns whether there were enough of them.
bool read(std::ifstream& from, std::string& to, std::size_t size) {
  to.resize(size);
  from.read(to.data(), static_cast<std::streamsize>(size));
  if (from.bad())
    throw status_error{errc::unavailable, "cannot be read"};
  return static_cast<std::size_t>(from.gcount()) == size;
}

} // namespace

std::uint64_t lost_transactions(const std::string& log) {
  std::ifstream file{log, std::ios::binary};
  std::string bytes;
  if (!file || !read(file, bytes, header_size)
      || (number_at(bytes, 0) & ~1u) != magic)
    return 0;
  const auto is_big_endian = (number_at(bytes, 0) & 1u) != 0;
  const auto page_size = number_at(bytes, 8);
  const auto salts = bytes.substr(16, 8);
  checksum before;
  before.update(std::string_view{bytes}.substr(0, 24), is_big_endian);
  constexpr std::uint32_t largest_page = 65'536;
  if (before != checksum::at(bytes, 24) || page_size > largest_page)
    return 0;

  auto is_read = true; // by SQLite
  std::uint64_t result = 0;
  std::uint32_t last_commit = 0; // page of the frame before, if it commits
  while (read(file, bytes, frame_header_size + page_size)) {
    const std::string_view frame{bytes};
    auto sum = before;
    sum.update(frame.substr(0, 8), is_big_endian);
    sum.update(frame.substr(frame_header_size), is_big_endian);
    before = checksum::at(frame, 16);
    const auto page = number_at(frame, 0);
    // After a damaged frame, each frame still follows from the checksum that is
    // stored in the frame before it, unless it was written before the log was
    // restarted.
    const auto follows
      = page != 0 && frame.substr(8, 8) == salts && sum == before;
    is_read = is_read && follows;
    const auto commits = follows && number_at(frame, 4) != 0;
    // The last frame may be repeated to fill a sector of the disk.
    if (commits && !is_read && last_commit != page)
      ++result;
    last_commit = commits ? page : 0;
  }
  return result > 1 ? result : 0;
}

/// Flushes a file or a directory to the disk, because the next step may destroy
/// its source.
void flush(const std::filesystem::path& path) {
  const auto file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const auto failed = file < 0 || ::fsync(file) != 0;
  const auto code = errno;
  if (file >= 0)
    ::close(file);
  if (failed)
    throw std::system_error{code, std::generic_category(), path.string()};
}

std::string kept_log_of(const std::string& file) {
  return file + "-wal-damaged";
}

void keep_damaged_log(const std::string& file) {
  const auto log = file + "-wal";
  if (lost_transactions(log) == 0)
    return;
  const auto kept = kept_log_of(file);
  // If the process is killed while it copies, it leaves this file, never a
  // partial log under the final name.
  const auto half = kept + ".part";
  try {
    if (std::filesystem::exists(kept))
      return;
    std::filesystem::copy_file(
      log, half, std::filesystem::copy_options::overwrite_existing);
    flush(half);
    std::filesystem::rename(half, kept);
    flush(std::filesystem::absolute(kept).parent_path());
  } catch (const std::system_error& error) {
    std::error_code ignored;
    std::filesystem::remove(half, ignored);
    std::filesystem::remove(kept, ignored);
    throw status_error{errc::unavailable,
                       log + " is damaged and cannot be kept: " + error.what()};
  }
}

} // namespace tertulia
