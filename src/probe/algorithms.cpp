#include "probe/algorithms.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <deque>
#include <iterator>
#include <set>
#include <span>

#include "probe/caller.h"
#include "probe/measured.h"

namespace colltopo::probe {

namespace {

constexpr int k_most_blocks = 15;  // of one size in a round
// Of those near the fastest. Small calls vary most and come first: a connection that carried large ones is another.
constexpr int k_full_rounds = 2, k_near_rounds = 2, k_rounds = 24;
constexpr int k_short_rounds = 3;  // of these without calls that tell at once
// Of the small calls' time: where the first calls of all take longer, full rounds are of those who may yet be near.
constexpr double k_scarce = 0.25;
constexpr double k_share_of_small = 0.5;  // of the time, at most
constexpr double k_step = 1.15;           // of the larger of two sizes to the smaller: with less there is none to find

// Who has a further turn: up to so many times the fastest, and to so many seconds a call.
struct Field {
  double ours, previous, longest;
};
constexpr Field k_all{k_infinite, k_infinite, k_sure};
constexpr Field k_not_far{k_far, k_far, k_sure};
// With the one that calls are left to: how sure it is that it is behind says whether a job tries it.
constexpr Field k_near_and_previous{k_near_fastest, k_far, k_infinite};
constexpr Field k_nearer_and_previous{1.25, k_far, k_infinite};  // after turns enough to tell
constexpr Field k_near_short_ones{k_near_fastest, k_near_fastest, k_sure};
constexpr Field k_near_ones{k_near_fastest, k_near_fastest, k_infinite};

const Field& field_of_small(int round, bool is_scarce) {
  if (round >= k_full_rounds + k_near_rounds) return k_nearer_and_previous;
  if (round >= k_full_rounds) return k_near_and_previous;
  return is_scarce ? k_not_far : k_all;
}

// Small calls in the order of how many connections they leave: with 64 ranks on two processors a meeting of all takes
// 2 ms before alltoalls and 6 after them, as a rank that waits looks after everyone whom it is connected to.
constexpr std::array k_order{Collective::bcast,          Collective::reduce,    Collective::scatter,
                             Collective::gather,         Collective::allreduce, Collective::allgather,
                             Collective::reduce_scatter, Collective::alltoall};

// Of the time that all contenders have together: rank 0's, by its clock.
class Limit {
 public:
  explicit Limit(double seconds) : seconds_(seconds) {}

  /// The same start, and an earlier end.
  Limit until(double seconds) const {
    Limit earlier = *this;
    earlier.seconds_ = seconds;
    return earlier;
  }
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

// Powers of two beyond `low` and below `high`.
std::vector<std::size_t> octaves_between(std::size_t low, std::size_t high) {
  std::vector<std::size_t> octaves;
  for (std::size_t bytes = std::bit_floor(low) * 2; bytes < high; bytes *= 2) octaves.push_back(bytes);
  return octaves;
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
  double fastest = k_infinite;
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

void measure_again(std::deque<Measured>& all, Meetings& meetings, std::span<const Collective> collectives,
                   const Part& part, const Field& field, const Limit& limit) {
  for (const Collective collective : collectives)
    for (const std::size_t bytes : sizes_in(part, collective, sizes_of(collective, all))) {
      if (!limit.leaves_time()) return;
      std::vector<Measured*> here = serving(all, collective, bytes);
      const double fastest = fastest_of(here, bytes);
      std::erase_if(here, [&](const Measured* one) {
        const double seconds = one->best_visit(bytes);
        return seconds > field.longest || seconds > (one->is_previous() ? field.previous : field.ours) * fastest;
      });
      visit(here, meetings, bytes, part.further, fastest, limit);
    }
}

void measure_first(Measured& one, std::deque<Measured>& all, Meetings& meetings, const Part& part, std::size_t bytes,
                   const Limit& limit) {
  const std::vector<Measured*> here = serving(all, one.collective(), bytes);
  visit({&one}, meetings, bytes, part.first, fastest_of(here, bytes), limit);
}

bool is_near(const Measured& one, std::deque<Measured>& all, std::size_t bytes) {
  const double fastest = fastest_of(serving(all, one.collective(), bytes), bytes);
  return std::isfinite(fastest) && one.best_visit(bytes) <= k_near_fastest * fastest;
}

// Whoever was near the fastest is measured at the next size too, whatever the model says of it there.
void follow(std::deque<Measured>& all, Meetings& meetings, const Part& part, const Limit& limit) {
  for (const Collective collective : k_order) {
    const std::vector<std::size_t> sizes = sizes_of(collective);
    for (std::size_t at = part.begin; at < std::min(part.end, sizes.size()); ++at) {
      const std::size_t before = sizes[at - 1], bytes = sizes[at];
      for (Measured* const one : serving(all, collective, before)) {
        if (!is_near(*one, all, before) || one->sizes().contains(bytes) || !limit.leaves_time()) continue;
        one->also(bytes);
        measure_first(*one, all, meetings, part, bytes, limit);
      }
    }
  }
}

// Whether what `one` takes at sizes between these is not known from what it takes at them: it is near the fastest at
// one, and takes longer at the larger. That may be a step, of a packet more or another protocol, and not a slope.
bool may_step(const Measured& one, std::deque<Measured>& all, std::size_t low, std::size_t high) {
  const bool is_known = one.serves(low) && one.serves(high) && std::isfinite(one.seconds(low));
  return is_known && one.seconds(high) > k_step * one.seconds(low) &&
         (is_near(one, all, low) || is_near(one, all, high));
}

// The powers of two between the common sizes: of the one that calls are left to all of them, as it may change its
// algorithm there.
void fill(std::deque<Measured>& all, Meetings& meetings, std::span<const Collective> collectives, const Part& part,
          const Limit& limit) {
  for (const Collective collective : collectives) {
    const std::vector<std::size_t> common = sizes_of(collective);
    for (std::size_t at = std::max<std::size_t>(part.begin, 1); at < std::min(part.end, common.size()); ++at)
      for (const std::size_t bytes : octaves_between(common[at - 1], common[at]))
        for (Measured& one : all) {
          if (one.collective() != collective || std::isfinite(one.best_visit(bytes))) continue;
          if (!(one.is_previous() ? one.serves(bytes) : may_step(one, all, common[at - 1], common[at]))) continue;
          if (!limit.leaves_time()) return;
          one.also(bytes);
          measure_first(one, all, meetings, part, bytes, limit);
        }
  }
}

}  // namespace

std::vector<ConstantsRecord::Times> measure(const std::vector<Contender>& contenders, const std::string& constants,
                                            double seconds, const Counters* counters) {
  Buffers buffers;
  RunOrder order(MPI_COMM_WORLD);
  Meetings meetings(order);
  std::deque<Measured> all;
  std::vector<Measured*> begun(contenders.size());  // in `all`; null for whom there was no time yet
  const Limit limit(seconds);
  const auto measure_all = [&](Measured& one, const Part& part) {
    for (const std::size_t bytes : sizes_in(part, one.collective(), sizes_of(one.collective())))
      if (one.serves(bytes)) measure_first(one, all, meetings, part, bytes, limit);
  };
  const auto begin = [&](std::size_t i) {
    begun[i] = &all.emplace_back(contenders[i], constants, counters, buffers, order, meetings);
    measure_all(*begun[i], k_small_calls);
  };
  bool is_scarce = false;
  for (std::size_t place = 0; place < k_order.size(); ++place) {
    const double share = k_share_of_small * seconds / k_order.size();
    const Limit first = limit.until((static_cast<double>(place) + k_scarce) * share);
    const Limit of_small = limit.until(static_cast<double>(place + 1) * share);
    const std::span collective(&k_order[place], 1);
    for (std::size_t i = 0; i < contenders.size(); ++i)
      if (contenders[i].collective == k_order[place] && of_small.leaves_time()) begin(i);
    is_scarce = !first.leaves_time() || is_scarce;
    for (int round = 0; round < k_full_rounds + k_rounds; ++round) {
      if (round == k_full_rounds) fill(all, meetings, collective, k_small_calls, of_small);
      measure_again(all, meetings, collective, k_small_calls, field_of_small(round, is_scarce), of_small);
    }
  }
  for (std::size_t i = 0; i < contenders.size() && limit.leaves_time(); ++i) {
    if (begun[i] == nullptr) begin(i);
    measure_all(*begun[i], k_large_calls);
  }
  follow(all, meetings, k_large_calls, limit);
  measure_again(all, meetings, k_order, k_large_calls, is_scarce ? k_not_far : k_all, limit);
  for (Measured& one : all) measure_all(one, k_long_calls);
  follow(all, meetings, k_long_calls, limit);
  fill(all, meetings, k_order, k_large_calls, limit);
  for (int round = 0; round < k_rounds; ++round)
    for (const Part& part : {k_large_calls, k_long_calls}) {
      const Field& field = round < k_short_rounds ? k_near_short_ones : k_near_ones;
      measure_again(all, meetings, k_order, part, field, limit);
    }
  std::vector<ConstantsRecord::Times> found;
  for (const Measured& one : all) {
    ConstantsRecord::Times times = one.times();
    if (!times.seconds.empty()) found.push_back(std::move(times));
  }
  return found;
}

}  // namespace colltopo::probe
