#include "probe/algorithms.h"

#include <mpi.h>

#include <algorithm>
#include <deque>
#include <iterator>
#include <map>
#include <span>
#include <string>

#include "probe/meet.h"

namespace colltopo::probe {

namespace {

constexpr double k_block = 1e-4;  // s, of calls in a row: long against the clock and who leaves a barrier first
constexpr int k_most_calls_of_block = 100;
// As programs make them: one call alone, from a barrier to its slowest rank, takes up to half as long again as one of
// several in a row, and not with every algorithm.
constexpr int k_calls_in_a_row = 5;
constexpr double k_row = 1e-2;         // s, which longer rows are not worth
constexpr double k_least_share = 0.1;  // of a meeting, below which a call after it cannot be told
constexpr int k_first_calls = 2;
constexpr int k_most_blocks = 15;  // of one size in a round
constexpr std::size_t k_enough_blocks = 5;
constexpr int k_most_rounds = 5;
constexpr double k_share_of_small = 0.4;  // of the time, that the first round of small calls may take

int ranks_of(MPI_Comm comm) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  return ranks;
}

double median_of(std::vector<double> seconds) {
  std::ranges::sort(seconds);
  return seconds[seconds.size() / 2];
}

// What meetings took, on all ranks alike.
class Meetings {
 public:
  void add(const std::vector<double>& seconds) { std::ranges::copy(seconds, std::back_inserter(seconds_)); }
  double median() const { return median_of(seconds_); }

 private:
  std::vector<double> seconds_;
};

// One call of each collective, with bytes as in Request. Numbers are whole: any order of a sum has the same bits.
class Caller {
 public:
  Caller(MPI_Comm comm, const Counters* counters, Meetings& meetings, Collective collective, std::size_t bytes)
      : comm_(comm),
        counters_(counters),
        meetings_(meetings),
        collective_(collective),
        count_(static_cast<int>(bytes)) {
    const std::size_t shards = row(collective).counts_shards() ? static_cast<std::size_t>(ranks_of(comm)) : 1;
    const std::size_t all = bytes * shards;
    counts_.assign(shards, static_cast<int>(bytes / sizeof(int)));
    in_.assign(all / sizeof(int), 1);
    out_.assign(all / sizeof(int), 0);
  }

  void call() {
    const int words = count_ / static_cast<int>(sizeof(int));
    switch (collective_) {
      case Collective::alltoall:
        MPI_Alltoall(in_.data(), count_, MPI_BYTE, out_.data(), count_, MPI_BYTE, comm_);
        break;
      case Collective::allgather:
        MPI_Allgather(in_.data(), count_, MPI_BYTE, out_.data(), count_, MPI_BYTE, comm_);
        break;
      case Collective::reduce_scatter:
        MPI_Reduce_scatter(in_.data(), out_.data(), counts_.data(), MPI_INT, MPI_SUM, comm_);
        break;
      case Collective::allreduce:
        MPI_Allreduce(in_.data(), out_.data(), words, MPI_INT, MPI_SUM, comm_);
        break;
      case Collective::bcast:
        MPI_Bcast(in_.data(), count_, MPI_BYTE, 0, comm_);
        break;
      case Collective::reduce:
        MPI_Reduce(in_.data(), out_.data(), words, MPI_INT, MPI_SUM, 0, comm_);
        break;
      case Collective::gather:
        MPI_Gather(in_.data(), count_, MPI_BYTE, out_.data(), count_, MPI_BYTE, 0, comm_);
        break;
      case Collective::scatter:
        MPI_Scatter(in_.data(), count_, MPI_BYTE, out_.data(), count_, MPI_BYTE, 0, comm_);
        break;
      default:
        break;
    }
  }

  /// [block] of a call, as the slowest rank has it, of `calls` in a row after all have begun together. Between blocks
  /// there is nothing but a barrier, as more messages would slow down what follows them. In calls with a root ranks
  /// would run ahead of each other, which is faster than one call by some algorithms and not by others: before each
  /// they meet, and what that takes is measured and taken off.
  std::vector<double> seconds(int blocks, int calls) {
    const unsigned long long before = served_calls();
    const bool meets = rooted(collective_);
    std::vector<double> own;
    for (int block = 0; block < blocks; ++block) {
      own.push_back(seconds_of(calls, [&] {
        if (meets) meet(MPI_COMM_WORLD);
        call();
      }));
      if (meets) own.push_back(seconds_of(calls, [] { meet(MPI_COMM_WORLD); }));
    }
    const unsigned long long by_us = served_calls() - before;
    was_served_ = was_served_ || by_us > 0;
    was_declined_ =
        was_declined_ || by_us < static_cast<unsigned long long>(blocks) * static_cast<unsigned long long>(calls);
    std::vector<double> slowest(own.size());
    MPI_Allreduce(own.data(), slowest.data(), static_cast<int>(own.size()), MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return meets ? less_meetings(slowest) : slowest;
  }
  /// All calls so far, by the component or by nobody else than the previous one.
  bool was_always(bool served) const {
    int other = served ? was_declined_ : was_served_;
    MPI_Bcast(&other, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return other == 0;
  }

 private:
  unsigned long long served_calls() const { return counters_ == nullptr ? 0 : counters_->value("calls"); }
  template <class Do>
  static double seconds_of(int times, const Do& what) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int i = 0; i < times; ++i) what();
    return (MPI_Wtime() - start) / times;
  }
  // [block] of pairs of a call after a meeting, and of a meeting alone. Short ones drift with the machine, so that
  // those of the same time count; a few are not enough to know them by, and count for little beside long calls.
  std::vector<double> less_meetings(const std::vector<double>& pairs) {
    std::vector<double> alone;
    for (std::size_t i = 1; i < pairs.size(); i += 2) alone.push_back(pairs[i]);
    meetings_.add(alone);
    const double meeting = alone.size() < k_enough_blocks ? meetings_.median() : median_of(alone);
    std::vector<double> calls;
    for (std::size_t i = 0; i < pairs.size(); i += 2) calls.push_back(std::max(0.0, pairs[i] - meeting));
    return calls;
  }

  MPI_Comm comm_;
  const Counters* counters_;  // null but on rank 0
  Meetings& meetings_;
  Collective collective_;
  int count_;
  std::vector<int> counts_, in_, out_;
  bool was_served_ = false, was_declined_ = false;  // rank 0's
};

// A communicator on which this algorithm serves its collective.
class ServedBy {
 public:
  ServedBy(const Contender& contender, const std::string& constants) {
    MPI_Info info = MPI_INFO_NULL;
    MPI_Info_create(&info);
    const std::string key = "coll_topo_" + std::string(name(contender.collective)) + "_algorithm";
    MPI_Info_set(info, key.c_str(), contender.algorithm.c_str());
    MPI_Info_set(info, "coll_topo_constants", constants.c_str());
    MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm_);
    MPI_Info_free(&info);
  }
  ~ServedBy() { MPI_Comm_free(&comm_); }
  ServedBy(const ServedBy&) = delete;
  ServedBy& operator=(const ServedBy&) = delete;
  MPI_Comm get() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

// How often `part` seconds, 0 for what no clock sees, go into `all`.
int as_many(double all, double part, int least, int most) {
  return part * most <= all ? most : std::max(least, static_cast<int>(all / part));
}

// Of the time that all contenders have together: rank 0's, by its clock.
class Limit {
 public:
  explicit Limit(double seconds) : seconds_(seconds) {}

  /// Collective.
  bool leaves_time(double share = 1) const {
    int leaves = MPI_Wtime() - start_ <= share * seconds_;
    MPI_Bcast(&leaves, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return leaves != 0;
  }

 private:
  double start_ = MPI_Wtime(), seconds_;
};

enum class Half { small, large };  // of the sizes

// How long the calls of one size go on in a round.
struct Effort {
  int small_blocks, large_blocks;  // at least
  double long_enough;              // s
};
// The first goes over all contenders, however little time there is.
constexpr Effort k_first_round{3, 2, 2e-3}, k_further_round{7, 3, 2.5e-2};

// The calls of one contender, from round to round; its communicator lives as long.
class Measured {
 public:
  Measured(const Contender& contender, const std::string& constants, const Counters* counters, Meetings& meetings,
           const Limit& limit)
      : contender_(contender), comm_(contender, constants), counters_(counters), meetings_(meetings), limit_(limit) {}

  void measure_again(Half half, const Effort& effort) {
    const std::vector<std::size_t> every = sizes_of(contender_.collective, ranks_of(MPI_COMM_WORLD));
    const auto first_large = std::ranges::lower_bound(contender_.sizes, every[every.size() / 2]);
    const std::span<const std::size_t> all(contender_.sizes);
    const auto small = static_cast<std::size_t>(first_large - contender_.sizes.begin());
    const int least_blocks = half == Half::small ? effort.small_blocks : effort.large_blocks;
    for (const std::size_t bytes : half == Half::small ? all.first(small) : all.subspan(small)) {
      if (!limit_.leaves_time()) break;
      Caller caller(comm_.get(), counters_, meetings_, contender_.collective, bytes);
      const double second = caller.seconds(k_first_calls, 1).back();  // after connections and plans
      const double one = second + (rooted(contender_.collective) ? 2 * meetings_.median() : 0);
      if (one > k_row && !seconds_.contains(bytes) && caller.was_always(contender_.algorithm != k_previous)) {
        seconds_[bytes].push_back(second);
        continue;
      }
      const int in_a_row = as_many(k_row, one, 1, k_calls_in_a_row);
      const int calls = as_many(k_block, one, in_a_row, k_most_calls_of_block);
      const int blocks = as_many(effort.long_enough, calls * one, least_blocks, k_most_blocks);
      const std::vector<double> some = caller.seconds(blocks, calls);
      if (!caller.was_always(contender_.algorithm != k_previous)) break;
      std::ranges::copy(some, std::back_inserter(seconds_[bytes]));
    }
  }
  // The medians, or the least of few: the first calls of a connection are slow.
  ConstantsRecord::Times times() const {
    ConstantsRecord::Times times{
        std::string(name(contender_.collective)), contender_.algorithm, {}, contender_.component};
    for (auto [bytes, all] : seconds_) {
      std::ranges::sort(all);
      const double seconds = all.size() < k_enough_blocks ? all.front() : all[all.size() / 2];
      if (!rooted(contender_.collective) || seconds > k_least_share * meetings_.median())
        times.seconds[bytes] = seconds;
    }
    return times;
  }

 private:
  const Contender& contender_;
  ServedBy comm_;
  const Counters* counters_;
  Meetings& meetings_;
  const Limit& limit_;
  std::map<std::size_t, std::vector<double>> seconds_;
};

}  // namespace

std::vector<ConstantsRecord::Times> measure(const std::vector<Contender>& contenders, std::size_t likely,
                                            const std::string& constants, double seconds, const Counters* counters) {
  Meetings meetings;
  std::deque<Measured> all;
  const Limit limit(seconds);
  const auto begin_next = [&]() -> Measured& {
    return all.emplace_back(contenders[all.size()], constants, counters, meetings, limit);
  };
  // Who begins has large calls too before all small ones are measured; what is less likely comes after that.
  while (all.size() < likely && limit.leaves_time(k_share_of_small))
    begin_next().measure_again(Half::small, k_first_round);
  for (Measured& one : all)
    if (limit.leaves_time()) one.measure_again(Half::large, k_first_round);
  while (all.size() < contenders.size() && limit.leaves_time()) {
    Measured& one = begin_next();
    for (const Half half : {Half::small, Half::large}) one.measure_again(half, k_first_round);
  }
  // In turn: for a while all calls may be slow.
  for (int round = 1; round < k_most_rounds; ++round)
    for (const Half half : {Half::small, Half::large})
      for (Measured& one : all)
        if (limit.leaves_time()) one.measure_again(half, k_further_round);
  std::vector<ConstantsRecord::Times> found;
  for (const Measured& one : all) {
    ConstantsRecord::Times times = one.times();
    if (!times.seconds.empty()) found.push_back(std::move(times));
  }
  return found;
}

}  // namespace colltopo::probe
