// SPDX-License-Identifier: BSD-3-Clause

#include "damaged_log.hpp"

#include <tertulia/status.hpp>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>

#include "file_hold.hpp"
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace tertulia {

namespace {

/// Returns the number of frames that SQLite has read from the log of a file;
/// nothing if the file does not have a log. The number is in SQLite's index of
/// the log, see https://sqlite.org/walformat.html#the_wal_index_file_format.
std::optional<std::uint64_t> frames_read(sqlite_db& db) {
  if (db.text("PRAGMA journal_mode") != "wal")
    return std::nullopt;
  constexpr int region_size = 32'768;
  sqlite3_file* file = nullptr;
  void volatile* index = nullptr;
  sqlite3_file_control(db.get(), "main", SQLITE_FCNTL_FILE_POINTER, &file);
  if (const auto result
      = file->pMethods->xShmMap(file, 0, region_size, 0, &index);
      result != SQLITE_OK)
    db.raise(result);
  constexpr std::size_t frames = 4; // position of the number, in 32-bit words
  return index != nullptr ? std::optional{static_cast<std::uint64_t>(
           static_cast<const volatile std::uint32_t*>(index)[frames])}
                          : std::nullopt;
}

/// Returns the number of transactions in a log behind the frames that SQLite
/// has read. They are recognized by their last frames; checksums are not
/// verified. See https://sqlite.org/fileformat2.html#walformat.
std::uint64_t unread_transactions(const std::string& log, std::uint64_t frames,
                                  std::uint64_t page_size) {
  constexpr std::uint64_t log_header_size = 32;
  constexpr std::uint64_t frame_header_size = 24;
  std::ifstream file;
  file.exceptions(std::ios::failbit | std::ios::badbit);
  file.open(log, std::ios::binary);
  const auto read = [&](std::uint64_t position, std::size_t size) {
    std::string result(size, '\0');
    file.seekg(static_cast<std::streamoff>(position));
    file.read(result.data(), static_cast<std::streamsize>(size));
    return result;
  };
  const auto size = std::filesystem::file_size(log);
  const auto frame_size = frame_header_size + page_size;
  auto position = log_header_size + frames * frame_size;
  if (position + frame_size > size)
    return 0;
  // Frames from before the last restart of the log have other salts.
  const auto salts = read(16, 8);
  // To fill a sector of the disk the last frame of a transaction may be
  // repeated once, and SQLite does not wait for the repetition. So of last
  // frames in a row with the same page every other one may be a repetition.
  std::uint64_t result = 0;
  std::uint64_t in_a_row = frames > 0 ? 1 : 0;
  auto last_page = frames > 0 ? read(position - frame_size, 4) : std::string{};
  const auto end_row = [&] {
    result += (in_a_row + 1) / 2;
    in_a_row = 0;
  };
  for (; position + frame_size <= size; position += frame_size) {
    const auto header = read(position, 16);
    const auto page = header.substr(0, 4);
    const auto ends_transaction
      = header.substr(4, 4) != std::string_view{"\0\0\0\0", 4}
        && header.substr(8) == salts;
    if (!ends_transaction || page != last_page)
      end_row();
    in_a_row += ends_transaction ? 1 : 0;
    last_page = ends_transaction ? page : std::string{};
  }
  end_row();
  return result - (frames > 0 ? 1 : 0); // SQLite has read the first one
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

/// Copies a file completely or not at all.
void copy_durably(const std::string& from, const std::string& to) {
  // If the process is killed meanwhile, it leaves this file, never a partial
  // one under the final name.
  const auto part = to + ".part";
  try {
    std::filesystem::copy_file(
      from, part, std::filesystem::copy_options::overwrite_existing);
    flush(part);
    std::filesystem::rename(part, to);
    flush(std::filesystem::absolute(to).parent_path());
  } catch (const std::system_error&) {
    std::error_code ignored;
    std::filesystem::remove(part, ignored);
    std::filesystem::remove(to, ignored);
    throw;
  }
}

} // namespace

std::string kept_log_of(const std::string& file) {
  return file + "-wal-damaged";
}

void keep_damaged_log(sqlite_db& db) {
  const auto log = db.file() + "-wal";
  const auto kept = kept_log_of(db.file());
  // If this fails, closing the connection must not remove the log.
  db.configure(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1);
  try {
    const auto frames = frames_read(db);
    if (frames
        && unread_transactions(
             log, *frames,
             static_cast<std::uint64_t>(db.number("PRAGMA page_size")))
             > 1
        && !std::filesystem::exists(kept))
      copy_durably(log, kept);
  } catch (const std::system_error& error) {
    reject_file(
      errc::unavailable, log,
      fmt::format("cannot be examined for damage and kept: {}; make room "
                  "beside it, or copy the file with its -wal to another disk",
                  error.what()));
  }
  db.configure(SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 0);
}

} // namespace tertulia
