#include "choice/noise.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <sstream>
#include <utility>

#include "base/plain.h"
#include "base/read_file.h"
#include "colltopo/error.h"

namespace colltopo::replay {

namespace {

constexpr double k_most_medians = 2;  // that a recorded call counts for: others used the machine

// Numbers that are the same on every machine, as the distributions of the standard library are not.
class Draws {
 public:
  explicit Draws(std::uint64_t seed) : generator_(seed) {}

  double uniform() { return (static_cast<double>(generator_() >> 11) + 0.5) * 0x1p-53; }  // between 0 and 1
  double exponential() { return -std::log(uniform()); }
  // Polar method, both numbers of a pair.
  double normal() {
    if (has_spare_) {
      has_spare_ = false;
      return spare_;
    }
    double x = 0, y = 0, square = 0;
    do {
      x = 2 * uniform() - 1;
      y = 2 * uniform() - 1;
      square = x * x + y * y;
    } while (square >= 1);
    const double factor = std::sqrt(-2 * std::log(square) / square);
    spare_ = y * factor;
    has_spare_ = true;
    return x * factor;
  }

 private:
  std::mt19937_64 generator_;
  double spare_ = 0;
  bool has_spare_ = false;
};

class MadeTimes : public Times {
 public:
  MadeTimes(const Noise& noise, std::vector<double> means, std::uint64_t seed)
      : noise_(noise), means_(std::move(means)), draws_(seed), keeps_(std::exp(-1 / noise.tau)) {
    drift_ = noise_.drift * draws_.normal();
  }

  std::size_t contestants() const override { return means_.size(); }
  double mean(std::size_t contestant) const override { return means_[contestant]; }
  double next(std::size_t contestant) override {
    drift_ = keeps_ * drift_ + noise_.drift * std::sqrt(1 - keeps_ * keeps_) * draws_.normal();
    double factor = std::exp(noise_.sigma * draws_.normal() - noise_.sigma * noise_.sigma / 2 + drift_);
    if (draws_.uniform() < noise_.spikes) factor += noise_.spike_size * draws_.exponential();
    return means_[contestant] * factor;
  }

 private:
  Noise noise_;
  std::vector<double> means_;
  Draws draws_;
  double keeps_, drift_ = 0;
};

class RecordedTimes : public Times {
 public:
  RecordedTimes(const Series& series, std::vector<std::size_t> order, std::uint64_t seed)
      : series_(series), order_(std::move(order)) {
    Draws draws(seed);
    place_ = static_cast<std::size_t>(draws.uniform() * static_cast<double>(length()));
  }

  std::size_t contestants() const override { return order_.size(); }
  double mean(std::size_t contestant) const override { return series_.rows[order_[contestant]].mean; }
  double next(std::size_t contestant) override {
    const double seconds = series_.rows[order_[contestant]].seconds[place_];
    place_ = (place_ + 1) % length();
    return seconds;
  }

 private:
  std::size_t length() const { return series_.rows.front().seconds.size(); }

  const Series& series_;
  std::vector<std::size_t> order_;  // [contestant]
  std::size_t place_ = 0;
};

double mean_of(const std::vector<double>& seconds) {
  std::vector<double> sorted = seconds;
  std::ranges::nth_element(sorted, sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2));
  const double most = k_most_medians * sorted[sorted.size() / 2];
  double sum = 0;
  for (const double one : seconds) sum += std::min(one, most);
  return sum / static_cast<double>(seconds.size());
}

}  // namespace

const std::vector<Noise>& noises() {
  static const std::vector<Noise> all = {
      {"quiet", 0.05, 0.02, 50, 0.01, 2}, {"shared", 0.2, 0.1, 30, 0.02, 3}, {"noisy", 0.4, 0.2, 20, 0.03, 4}};
  return all;
}

std::unique_ptr<Times> made_times(const Noise& noise, std::vector<double> means, std::uint64_t seed) {
  return std::make_unique<MadeTimes>(noise, std::move(means), seed);
}

Series read_series(const std::string& path) {
  Series series;
  series.name = std::filesystem::path(path).filename().string();
  std::istringstream lines(read_file(path, k_any_file));
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    const auto refuse = [&](const std::string& why) {
      throw Error(fmt::format("{}:{}: {}", plain_text(path), number, why));
    };
    std::istringstream words(line);
    Series::Row row;
    words >> row.name;
    for (double microseconds = 0; words >> microseconds;) {
      if (!(microseconds > 0)) refuse("a time is not above 0");
      row.seconds.push_back(microseconds * 1e-6);
    }
    if (!words.eof()) refuse("a time is no number; must be: NAME MICROSECONDS...");
    if (row.seconds.empty()) refuse("no times; must be: NAME MICROSECONDS...");
    if (!series.rows.empty() && row.seconds.size() != series.rows.front().seconds.size())
      refuse(
          fmt::format("{} times where the first line has {}", row.seconds.size(), series.rows.front().seconds.size()));
    row.mean = mean_of(row.seconds);
    series.rows.push_back(std::move(row));
  }
  if (series.rows.size() < 2) throw Error(fmt::format("{}: fewer than two series", plain_text(path)));
  return series;
}

std::unique_ptr<Times> recorded_times(const Series& series, std::vector<std::size_t> order, std::uint64_t seed) {
  return std::make_unique<RecordedTimes>(series, std::move(order), seed);
}

}  // namespace colltopo::replay
