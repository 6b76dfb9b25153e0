// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

// To add a row, write a `question` in a file of its own and enrol it there.
//
//   namespace {
//
//   class turn final : public question { ... };
//
//   const enrol turn_row{{.name = "turn",
//                         .promise = target::at_most_times_baseline(3),
//                         .operations = 50'000,
//                         .make = make_question<turn>}};
//
//   } // namespace

namespace tertulia::bench {

/// Upper limit of a row, in the unit of the row or as a ratio to its baseline.
struct target {
  enum class kind { none, value, ratio };

  static target at_most(double value) {
    return {kind::value, value};
  }

  static target at_most_times_baseline(double ratio) {
    return {kind::ratio, ratio};
  }

  kind of = kind::none;
  double limit = 0;
};

/// An additional number that a question has measured.
struct fact {
  std::string name;
  std::string unit;
  double value = 0;
};

/// Measures one operation, and next to it the equivalent in raw CAF.
///
/// Created once per row; the set-up is not measured. Both sides run in the same
/// actor system, in turns.
///
/// @threads only on the main thread, which may block.
class question {
public:
  question() = default;
  question(const question&) = delete;
  question& operator=(const question&) = delete;
  virtual ~question() = default;

  /// Runs `operations` operations and returns the cost of one, in the unit of
  /// the row.
  /// @errors throws `std::exception` if an operation fails; then the run fails.
  virtual double ours(std::size_t operations) = 0;

  /// Runs the equivalent in raw CAF and returns the cost of one operation.
  virtual double baseline(std::size_t operations) = 0;

  /// Returns additional numbers of the samples so far.
  virtual std::vector<fact> facts() const {
    return {};
  }
};

/// One line of the table.
struct row {
  std::string name;
  std::string unit = "us";
  /// A row without a target is listed for information only.
  target promise = {};
  /// Operations per sample, ideally some 50 ms of them.
  std::size_t operations = 1;
  /// Operations per sample with `--smoke`.
  std::size_t smoke_operations = 100;
  /// Number of samples of each side.
  int samples = 21;
  std::function<std::unique_ptr<question>()> make = {};
};

/// Returns all rows, sorted by name.
std::vector<row> enrolled_rows();

/// Creates a question, for `row::make`.
template <class Question, auto... Xs>
std::unique_ptr<question> make_question() {
  return std::make_unique<Question>(Xs...);
}

/// Adds a row; meant for objects at namespace scope.
struct enrol {
  explicit enrol(row x);
};

} // namespace tertulia::bench
