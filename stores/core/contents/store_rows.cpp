// SPDX-License-Identifier: BSD-3-Clause

#include <tertulia/store_rows.hpp>

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <string_view>
#include <utility>

namespace tertulia {

namespace {

/// Hash of the columns of a row. A number is `i` and eight bytes, the least
/// significant first; a text is `b`, its size as such a number without `i`, and
/// its bytes. An optional value that is not set and an empty list of turns are
/// nothing, so that a column can be added without writing all rows again.
class row_hash {
public:
  void operator()(const char*, std::string_view x) {
    add('b', x.size());
    add(x);
  }

  template <class T>
  requires std::integral<T> || std::is_enum_v<T>
  void operator()(const char*, T x) {
    add('i', static_cast<std::uint64_t>(x));
  }

  template <class T>
  void operator()(const char* name, const std::optional<T>& x) {
    if (x)
      (*this)(name, *x);
  }

  void operator()(const char* name, timestamp x) {
    (*this)(name, x.time_since_epoch().count());
  }

  template <class Kind>
  void operator()(const char* name, const identifier<Kind>& x) {
    (*this)(name, std::string_view{x.str()});
  }

  void operator()(const char* name, const stored_type& x) {
    (*this)(name, x.name());
    (*this)(name, x.version());
  }

  void operator()(const char* name, const std::vector<std::string>& xs) {
    (*this)(name, xs.size());
    for (const auto& x : xs)
      (*this)(name, std::string_view{x});
  }

  void operator()(const char* name, const std::vector<past_turn>& xs) {
    for (const auto& x : xs) {
      (*this)(name, x.name);
      (*this)(name, x.inputs);
    }
  }

  [[nodiscard]] std::int64_t result() {
    flush();
    const auto digest = hash_.digest();
    std::uint64_t result = 0;
    for (std::size_t i = 0; i < sizeof result; ++i)
      result = result << 8u | digest.at(i);
    return static_cast<std::int64_t>(result);
  }

private:
  void add(char kind, std::uint64_t x) {
    std::array<char, 1 + sizeof x> bytes{kind};
    for (std::size_t i = 1; i < bytes.size(); ++i) {
      bytes.at(i) = static_cast<char>(x & 0xffu);
      x >>= 8u;
    }
    add({bytes.data(), bytes.size()});
  }

  // The small parts of a row are gathered, because an update has a fixed cost.
  void add(std::string_view x) {
    if (x.size() > gathered_.size() - size_)
      flush();
    if (x.size() > gathered_.size())
      return hash_.update(x);
    std::copy(x.begin(), x.end(), gathered_.begin() + size_);
    size_ += x.size();
  }

  void flush() {
    hash_.update({gathered_.data(), std::exchange(size_, 0)});
  }

  sha256 hash_;
  std::array<char, 512> gathered_;
  std::size_t size_ = 0;
};

template <class Row>
std::int64_t checksum(const Row& x) {
  row_hash hash;
  for_each_column(x, hash);
  return hash.result();
}

} // namespace

std::int64_t checksum_of(const session_row& x) {
  return checksum(x);
}

std::int64_t checksum_of(const record_row& x) {
  return checksum(x);
}

} // namespace tertulia
