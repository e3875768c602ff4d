// Times of calls, made or recorded, for playing a policy of choice without a machine.
//
// Made: time = mean x exp(sigma g - sigma^2 / 2) x exp(d), d an autoregressive process of first order that all
// contestants share; at times a spike comes on top. Recorded: a file of series, a line per contestant, in which the
// same place is the same time of day.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace colltopo::replay {

/// One after the other, the times of the calls of a job.
class Times {
 public:
  virtual ~Times() = default;
  virtual std::size_t contestants() const = 0;
  /// Seconds of a call in the long run; what regret is counted in.
  virtual double mean(std::size_t contestant) const = 0;
  /// Seconds of the next call, if this contestant serves it.
  virtual double next(std::size_t contestant) = 0;
};

struct Noise {
  const char* name;
  double sigma;               // of a call's logarithm
  double drift, tau;          // its standard deviation, and its length in calls
  double spikes, spike_size;  // how often, and its mean in calls
};

/// quiet, shared, noisy.
const std::vector<Noise>& noises();

std::unique_ptr<Times> made_times(const Noise& noise, std::vector<double> means, std::uint64_t seed);

/// A file of recorded series.
struct Series {
  struct Row {
    std::string name;
    std::vector<double> seconds;
    double mean = 0;  // of calls that count for no more than two medians
  };
  std::string name;
  std::vector<Row> rows;  // the last one is Open MPI's own
};

/// Throws Error: a file that cannot be read, a line without numbers, lines of different lengths.
Series read_series(const std::string& path);

/// Plays `order` of its rows from a place that the seed says, and round again.
std::unique_ptr<Times> recorded_times(const Series& series, std::vector<std::size_t> order, std::uint64_t seed);

}  // namespace colltopo::replay
