#include "probe/algorithms.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "probe/caller.h"

namespace colltopo::probe {

namespace {

constexpr double k_block = 1e-4;  // s, of calls in a row: long against the clock and who leaves a barrier first
constexpr int k_most_calls_of_block = 100;
// As programs make them: one call alone, from a barrier to its slowest rank, takes up to half as long again as one of
// several in a row, and not with every algorithm.
constexpr int k_calls_in_a_row = 5;
constexpr double k_alone = 1e-2;        // s, of a call that tells as much alone as in a row
constexpr double k_row = 2.5e-2;        // s, which longer rows are not worth
constexpr double k_share_of_row = 0.1;  // of a call alone, above which it does not tell what one of several takes
constexpr double k_least_share = 0.1;   // of a meeting, below which a call after it cannot be told
constexpr int k_first_calls = 2;
constexpr int k_most_blocks = 15;  // of one size in a round
constexpr std::size_t k_enough_blocks = 5;
// Of those near the fastest. Small calls vary most and come first: a connection that carried large ones is another.
constexpr int k_full_rounds = 2, k_rounds = 24;
constexpr double k_near = 1.5, k_far = 3;  // times the fastest
constexpr double k_share_of_small = 0.5;   // of the time, at most

// Times the fastest, beyond which who is measured has no further turns.
struct Field {
  double ours, previous;
};
constexpr Field k_all{std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
constexpr Field k_near_ones{k_near, k_near};
// With the one that calls are left to: how sure it is that it is behind says whether a job tries it.
constexpr Field k_near_and_previous{k_near, k_far};

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
  bool leaves_time() const {
    int leaves = MPI_Wtime() - start_ <= seconds_;
    MPI_Bcast(&leaves, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return leaves != 0;
  }

 private:
  double start_ = MPI_Wtime(), seconds_;
};

std::vector<std::size_t> sizes_of(Collective collective) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return probe::sizes_of(collective, ranks);
}

// How long the calls of one size go on.
struct Effort {
  int least_blocks;
  double long_enough;  // s
};

// Some of the sizes of every collective, [begin, end) by index into sizes_of(), and how long the first calls of one
// size go on, however little time there is, and further ones.
struct Part {
  std::size_t begin, end;
  Effort first, further;
};
constexpr Part k_small_calls{0, k_common_sizes / 2, {3, 2e-3}, {4, 2.5e-2}};
constexpr Part k_large_calls{k_common_sizes / 2, k_common_sizes, {2, 2e-3}, {3, 2.5e-2}};
constexpr Part k_long_calls{k_common_sizes, k_common_sizes + 1, k_large_calls.first, k_large_calls.further};

template <class Sizes>
std::vector<std::size_t> sizes_in(const Part& part, Collective collective, const Sizes& sizes) {
  const std::vector<std::size_t> common = sizes_of(collective);
  std::vector<std::size_t> some;
  std::ranges::copy_if(sizes, std::back_inserter(some), [&](std::size_t bytes) {
    const auto at = static_cast<std::size_t>(std::ranges::upper_bound(common, bytes) - common.begin()) - 1;
    return part.begin <= at && at < part.end;
  });
  return some;
}

// The calls of one contender, from round to round; its communicator lives as long.
class Measured {
 public:
  Measured(const Contender& contender, const std::string& constants, const Counters* counters, Buffers& buffers,
           Meetings& meetings)
      : contender_(contender),
        sizes_(contender.sizes.begin(), contender.sizes.end()),
        comm_(contender, constants),
        counters_(counters),
        buffers_(buffers),
        meetings_(meetings) {}

  Collective collective() const { return contender_.collective; }
  bool is_previous() const { return contender_.algorithm == k_previous; }
  const std::set<std::size_t>& sizes() const { return sizes_; }
  void also(std::size_t bytes) { sizes_.insert(bytes); }
  /// Whether its calls have this size, and it did not leave them to another component.
  bool serves(std::size_t bytes) const { return sizes_.contains(bytes) && !left_.contains(bytes); }
  /// Before each visit; false where it has no more part in this one. `fastest`: s, that the best one is known to take.
  /// Whoever was far from it, and still is in the first two calls, has no more of them: at first any may be, as
  /// connections are cold for tens of calls.
  bool begin(std::size_t bytes, double fastest) {
    caller_.emplace(comm_.get(), counters_, buffers_, collective(), bytes);
    for (int i = 0; i < k_first_calls; ++i) caller_->time(1);
    const double meeting = rooted(collective()) ? meetings_.median() : 0;
    std::vector<double> seconds = caller_->slowest();
    if (seconds.back() > k_row / k_calls_in_a_row && meetings_.of_a_row() > k_share_of_row * seconds.back()) {
      caller_->time(k_calls_in_a_row);
      seconds = caller_->slowest();
    }
    for (double& each : seconds) each = std::max(0.0, each - meeting);
    const double second = seconds.back();
    one_ = second + 2 * meeting;
    const double far = k_far * (fastest + meeting) - meeting;
    const bool was_far = timed_.contains(bytes) && best_visit(bytes) > far;
    const bool left = was_left(bytes), is_enough = second > k_alone || (second > far && was_far);
    if (second <= k_alone || !timed_.contains(bytes)) seconds = {second};  // after connections and plans
    if (!left && is_enough) timed_[bytes].add(seconds, middle_of(seconds));
    if (left || is_enough) {
      caller_.reset();
      return false;
    }
    calls_ = as_many(k_block, one_, as_many(k_row, one_, 1, k_calls_in_a_row), k_most_calls_of_block);
    return true;
  }
  /// s, of a call and two meetings, and how many of them make a row.
  double one() const { return one_; }
  int calls() const { return calls_; }
  void time() { caller_->time(calls_); }
  /// `meetings`: [row], taken off; empty where there is no root.
  void end(std::size_t bytes, const std::vector<double>& meetings) {
    std::vector<double> rows = caller_->slowest();
    const bool left = was_left(bytes);
    caller_.reset();
    if (left) return;
    for (std::size_t i = 0; i < meetings.size(); ++i) rows[i] -= meetings[i];
    Timed& timed = timed_[bytes];
    if (++timed.visits == 2) timed.forget();  // cold ones
    timed.add(rows, middle_of(rows));
  }
  /// s; infinite where it was not measured.
  double seconds(std::size_t bytes) const {
    const auto found = timed_.find(bytes);
    return found == timed_.end() ? std::numeric_limits<double>::infinity()
                                 : std::max(middle_of(found->second.rows), least());
  }
  /// The same in the best visit: on a slow network a whole visit may be disturbed by messages that an earlier one lost.
  double best_visit(std::size_t bytes) const {
    const auto found = timed_.find(bytes);
    return found == timed_.end() ? std::numeric_limits<double>::infinity()
                                 : std::max(found->second.best_visit, least());
  }
  ConstantsRecord::Times times() const {
    ConstantsRecord::Times times{std::string(name(collective())), contender_.algorithm, {}, contender_.component};
    for (const auto& [bytes, timed] : timed_) {
      const double seconds = middle_of(timed.rows);
      if (seconds <= least()) continue;
      times.seconds[bytes] = seconds;
      if (const auto error = standard_error_of(timed.middles)) times.errors[bytes] = *error / seconds;
    }
    return times;
  }

 private:
  // The calls of one size.
  struct Timed {
    std::vector<double> rows;     // s a call
    std::vector<double> middles;  // of each visit
    double best_visit = std::numeric_limits<double>::infinity();
    int visits = 0;  // of several rows each

    void forget() {
      rows.clear();
      middles.clear();
    }
    void add(const std::vector<double>& visit, double middle) {
      std::ranges::copy(visit, std::back_inserter(rows));
      middles.push_back(middle);
      best_visit = std::min(best_visit, median_of(visit));
    }
  };

  // The median; of few the least, as the first calls of a connection are slow. Where a meeting was taken off, whose own
  // length varies by more than a short call has, both ways, the mean of the middle ones varies less.
  double middle_of(const std::vector<double>& all) const {
    if (rooted(collective())) return middle_half_of(all);
    return all.size() >= k_enough_blocks ? median_of(all) : *std::ranges::min_element(all);
  }

  bool was_left(std::size_t bytes) {
    const bool left = !caller_->was_always(!is_previous());
    if (left) left_.insert(bytes);
    return left;
  }

  // s, that can be told.
  double least() const { return rooted(collective()) ? k_least_share * meetings_.median() : 0; }

  const Contender& contender_;
  std::set<std::size_t> sizes_;  // bytes
  ServedBy comm_;
  const Counters* counters_;
  Buffers& buffers_;
  Meetings& meetings_;
  std::map<std::size_t, Timed> timed_;  // by bytes
  std::set<std::size_t> left_;          // bytes
  std::optional<Caller> caller_;        // of the visit
  double one_ = 0;
  int calls_ = 0;
};

// That some contender of the collective has.
std::set<std::size_t> sizes_of(Collective collective, const std::deque<Measured>& all) {
  std::set<std::size_t> sizes;
  for (const Measured& one : all)
    if (one.collective() == collective) sizes.insert(one.sizes().begin(), one.sizes().end());
  return sizes;
}

std::vector<Measured*> serving(std::deque<Measured>& all, Collective collective, std::size_t bytes) {
  std::vector<Measured*> here;
  for (Measured& one : all)
    if (one.collective() == collective && one.serves(bytes)) here.push_back(&one);
  return here;
}

// s; infinite where nobody was measured.
double fastest_of(const std::vector<Measured*>& all, std::size_t bytes) {
  double fastest = std::numeric_limits<double>::infinity();
  for (const Measured* one : all) fastest = std::min(fastest, one->seconds(bytes));
  return fastest;
}

// Rows of these in turns: for a while all calls may be slow, and many in a row of one of them take another time than in
// a job that makes other calls between.
void visit(std::vector<Measured*> some, Meetings& meetings, std::size_t bytes, const Effort& effort, double fastest,
           const Limit& limit) {
  std::erase_if(some, [&](Measured* one) { return !limit.leaves_time() || !one->begin(bytes, fastest); });
  if (some.empty()) return;
  const bool meets = rooted(some.front()->collective());
  int blocks = k_most_blocks, calls = 1;
  for (const Measured* one : some) {
    blocks =
        std::min(blocks, as_many(effort.long_enough, one->calls() * one->one(), effort.least_blocks, k_most_blocks));
    calls = std::max(calls, one->calls());
  }
  for (int block = 0; block < blocks; ++block) {
    for (Measured* one : some) one->time();
    if (meets) meetings.time(calls);
    std::ranges::reverse(some);
  }
  const std::vector<double> alone = meets ? meetings.slowest() : std::vector<double>{};
  for (Measured* one : some) one->end(bytes, alone);
}

void measure_again(std::deque<Measured>& all, Meetings& meetings, const Part& part, const Field& field,
                   const Limit& limit) {
  for (int i = 0; i < k_collectives; ++i) {
    const auto collective = static_cast<Collective>(i);
    for (const std::size_t bytes : sizes_in(part, collective, sizes_of(collective, all))) {
      if (!limit.leaves_time()) return;
      std::vector<Measured*> here = serving(all, collective, bytes);
      const double fastest = fastest_of(here, bytes);
      std::erase_if(here, [&](const Measured* one) {
        return one->best_visit(bytes) > (one->is_previous() ? field.previous : field.ours) * fastest;
      });
      visit(here, meetings, bytes, part.further, fastest, limit);
    }
  }
}

void measure_first(Measured& one, std::deque<Measured>& all, Meetings& meetings, const Part& part, std::size_t bytes,
                   const Limit& limit) {
  const std::vector<Measured*> here = serving(all, one.collective(), bytes);
  visit({&one}, meetings, bytes, part.first, fastest_of(here, bytes), limit);
}

// Whoever was near the fastest is measured at the next size too, whatever the model says of it there.
void follow(std::deque<Measured>& all, Meetings& meetings, const Part& part, const Limit& limit) {
  for (int i = 0; i < k_collectives; ++i) {
    const auto collective = static_cast<Collective>(i);
    const std::vector<std::size_t> sizes = sizes_of(collective);
    for (std::size_t at = part.begin; at < std::min(part.end, sizes.size()); ++at) {
      const std::size_t before = sizes[at - 1], bytes = sizes[at];
      const double fastest = fastest_of(serving(all, collective, before), before);
      for (Measured* const one : serving(all, collective, before)) {
        const bool is_near = std::isfinite(fastest) && one->best_visit(before) <= k_near * fastest;
        if (!is_near || one->sizes().contains(bytes) || !limit.leaves_time()) continue;
        one->also(bytes);
        measure_first(*one, all, meetings, part, bytes, limit);
      }
    }
  }
}

}  // namespace

std::vector<ConstantsRecord::Times> measure(const std::vector<Contender>& contenders, const std::string& constants,
                                            double seconds, const Counters* counters) {
  Buffers buffers;
  Meetings meetings;
  std::deque<Measured> all;
  const Limit of_small(k_share_of_small * seconds), limit(seconds);
  const auto begin_next = [&]() -> Measured& {
    return all.emplace_back(contenders[all.size()], constants, counters, buffers, meetings);
  };
  const auto measure_all = [&](Measured& one, const Part& part) {
    for (const std::size_t bytes : sizes_in(part, one.collective(), sizes_of(one.collective())))
      if (one.serves(bytes)) measure_first(one, all, meetings, part, bytes, limit);
  };
  while (all.size() < contenders.size() && of_small.leaves_time()) measure_all(begin_next(), k_small_calls);
  for (int round = 0; round < k_full_rounds; ++round) measure_again(all, meetings, k_small_calls, k_all, of_small);
  for (int round = 0; round < k_rounds; ++round)
    measure_again(all, meetings, k_small_calls, k_near_and_previous, of_small);
  for (Measured& one : all) measure_all(one, k_large_calls);
  while (all.size() < contenders.size() && limit.leaves_time()) {
    Measured& one = begin_next();
    for (const Part& part : {k_small_calls, k_large_calls}) measure_all(one, part);
  }
  follow(all, meetings, k_large_calls, limit);
  measure_again(all, meetings, k_large_calls, k_all, limit);
  for (Measured& one : all) measure_all(one, k_long_calls);
  follow(all, meetings, k_long_calls, limit);
  for (int round = 0; round < k_rounds; ++round)
    for (const Part& part : {k_large_calls, k_long_calls}) measure_again(all, meetings, part, k_near_ones, limit);
  std::vector<ConstantsRecord::Times> found;
  for (const Measured& one : all) {
    ConstantsRecord::Times times = one.times();
    if (!times.seconds.empty()) found.push_back(std::move(times));
  }
  return found;
}

}  // namespace colltopo::probe
