// SPDX-License-Identifier: BSD-3-Clause

#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

// How to add a row: write a `question` in a file of its own and enrol it there.
//
//   namespace {
//
//   class turn final : public question { ... };
//
//   const enrol turn_row{{.name = "turn",
//                         .unit = "us",
//                         .promise = target::at_most(6),
//                         .operations = 50'000,
//                         .make = make_question<turn>}};
//
//   } // namespace

namespace tertulia::bench {

/// What a row promises, in the unit of the row or as a ratio to its baseline.
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

/// A number that a question found besides its answer.
struct fact {
  std::string name;
  std::string unit;
  double value = 0;
};

/// Measures one thing, and next to it what the same costs in raw CAF.
///
/// Made once per row; what it sets up is not measured. Both sides run in the
/// same actor system, in turns.
///
/// @threads only on the main thread, which may block.
class question {
public:
  question() = default;
  question(const question&) = delete;
  question& operator=(const question&) = delete;
  virtual ~question() = default;

  /// Does `operations` operations and returns what one costs, in the unit of
  /// the row.
  /// @errors throws `std::exception` if something went wrong: the run fails.
  virtual double ours(std::size_t operations) = 0;

  /// The same in raw CAF.
  virtual double baseline(std::size_t operations) = 0;

  /// What else the samples so far have shown.
  virtual std::vector<fact> facts() const {
    return {};
  }
};

/// One line of the table.
struct row {
  std::string name;
  std::string unit;
  /// Without one the row is listed for information only.
  target promise = {};
  /// How many operations one sample has, at best some 50 ms of them.
  std::size_t operations = 1;
  /// The same for `--smoke`.
  std::size_t smoke_operations = 100;
  /// How many samples each side has.
  int samples = 21;
  std::function<std::unique_ptr<question>()> make = {};
};

/// All rows, sorted by name.
std::vector<row> enrolled_rows();

/// For `row::make`.
template <class Question, auto... Xs>
std::unique_ptr<question> make_question() {
  return std::make_unique<Question>(Xs...);
}

/// Adds a row; meant for objects at namespace scope.
struct enrol {
  explicit enrol(row x);
};

} // namespace tertulia::bench
