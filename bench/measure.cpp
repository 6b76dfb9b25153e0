// SPDX-License-Identifier: BSD-3-Clause

#include "measure.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <utility>

#include <benchmark/benchmark.h>

// Google Benchmark repeats and counts. One repetition is one sample: the
// baseline and then ours, so that other load on the machine affects both.

namespace tertulia::bench {

namespace {

double quantile(std::vector<double> xs, double q) {
  std::sort(xs.begin(), xs.end());
  const auto at = q * static_cast<double>(xs.size() - 1);
  const auto low = static_cast<std::size_t>(std::floor(at));
  const auto high = static_cast<std::size_t>(std::ceil(at));
  return std::lerp(xs[low], xs[high], at - std::floor(at));
}

double lower_quartile(const std::vector<double>& xs) {
  return quantile(xs, 0.25);
}

double upper_quartile(const std::vector<double>& xs) {
  return quantile(xs, 0.75);
}

/// Collects the samples of a row.
class sampler {
public:
  sampler(row of, bool smoke) : smoke_(smoke) {
    result_.of = std::move(of);
    result_.samples = smoke ? 1 : result_.of.samples;
    result_.operations
      = smoke ? result_.of.smoke_operations : result_.of.operations;
  }

  void sample(benchmark::State& state) {
    try {
      if (!question_) {
        question_ = result_.of.make();
        if (!smoke_) { // else nobody reads the times
          question_->baseline(result_.of.smoke_operations); // warms up
          question_->ours(result_.of.smoke_operations);
        }
      }
      double baseline = 0;
      double ours = 0;
      for ([[maybe_unused]] auto _ : state) {
        baseline = question_->baseline(result_.operations);
        ours = question_->ours(result_.operations);
      }
      state.counters["baseline"] = baseline;
      state.counters["ours"] = ours;
      state.counters["ratio"] = ours / baseline;
      result_.facts = question_->facts();
    } catch (const std::exception& x) {
      state.SkipWithError(x.what());
    }
  }

  int samples() const {
    return result_.samples;
  }

  /// Stores the aggregates that Google Benchmark has computed from the samples.
  void take(const std::vector<benchmark::BenchmarkReporter::Run>& runs) {
    for (const auto& x : runs) {
      if (x.error_occurred)
        result_.failure = x.error_message;
      else if (samples() == 1) // which has no aggregates
        for (const auto part : {&distribution::median, &distribution::lower,
                                &distribution::upper})
          take(x, part);
      else if (x.aggregate_name == "median")
        take(x, &distribution::median);
      else if (x.aggregate_name == "lower")
        take(x, &distribution::lower);
      else if (x.aggregate_name == "upper")
        take(x, &distribution::upper);
    }
  }

  /// Ends the actors of the question, so that they do not disturb the next one.
  result finish() {
    question_.reset();
    return std::move(result_);
  }

private:
  void take(const benchmark::BenchmarkReporter::Run& x,
            double distribution::*what) {
    result_.ours.*what = x.counters.at("ours");
    result_.baseline.*what = x.counters.at("baseline");
    result_.ratio.*what = x.counters.at("ratio");
  }

  bool smoke_;
  result result_;
  std::unique_ptr<question> question_;
};

class reporter final : public benchmark::BenchmarkReporter {
public:
  explicit reporter(sampler& to) : to_(to) {}

  bool ReportContext(const Context&) override {
    return true;
  }

  void ReportRuns(const std::vector<Run>& runs) override {
    to_.take(runs);
  }

private:
  sampler& to_;
};

} // namespace

std::optional<bool> result::holds() const {
  if (!failure.empty())
    return std::nullopt;
  switch (of.promise.of) {
    case target::kind::value: return ours.median <= of.promise.limit;
    case target::kind::ratio: return ratio.median <= of.promise.limit;
    default: return std::nullopt;
  }
}

std::vector<result> measure(const std::vector<row>& rows, bool smoke) {
  std::vector<result> results;
  for (const auto& x : rows) {
    sampler at{x, smoke};
    benchmark::RegisterBenchmark(
      x.name.c_str(), [&at](benchmark::State& state) { at.sample(state); })
      ->Iterations(1)
      ->Repetitions(at.samples())
      ->ComputeStatistics("lower", lower_quartile)
      ->ComputeStatistics("upper", upper_quartile)
      ->UseRealTime();
    reporter report{at};
    benchmark::RunSpecifiedBenchmarks(&report, ".");
    benchmark::ClearRegisteredBenchmarks();
    results.push_back(at.finish());
  }
  return results;
}

} // namespace tertulia::bench
