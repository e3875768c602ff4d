#include "overhead.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <malloc.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "probe/meet.h"

namespace colltopo::bench {

namespace {

double allocated_bytes() {
  const struct mallinfo2 now = mallinfo2();
  return static_cast<double>(now.uordblks) + static_cast<double>(now.hblkhd);
}

struct Fresh {
  double created_bytes = 0;
  double used_bytes = 0;
  double first_call_us = 0;
};

// Creates, uses once and frees `communicators` duplicates that live at the same time.
Fresh fresh(const Contender& contender, Exchange& exchange, int communicators, MPI_Comm control) {
  std::vector<MPI_Comm> comms(static_cast<std::size_t>(communicators));
  std::vector<double> times;
  times.reserve(comms.size());
  const double before = allocated_bytes();
  for (MPI_Comm& comm : comms) comm = contender.duplicate();
  const double created = allocated_bytes();
  for (const MPI_Comm comm : comms) {
    meet(control);
    const double begin = MPI_Wtime();
    exchange.call(comm);
    times.push_back((MPI_Wtime() - begin) * 1e6);
  }
  const double used = allocated_bytes();
  for (MPI_Comm& comm : comms) MPI_Comm_free(&comm);
  const auto count = static_cast<double>(communicators);
  return {(created - before) / count, (used - created) / count, quantiles(std::move(times)).median};
}

// Algorithms that serve the collective on any number of ranks.
std::vector<std::string> served_anywhere(Kind kind) {
  switch (kind) {
    case Kind::alltoall:
      return {"linear", "pairwise", "tra"};
    case Kind::allgather:
      return {"bruck", "ring"};
    case Kind::allreduce:
      return {"recursive-doubling", "ring"};
    case Kind::bcast:
    case Kind::reduce:
      return {"binomial", "scatter-allgather"};
    case Kind::gather:
    case Kind::scatter:
      return {"linear", "binomial"};
    case Kind::reduce_scatter:
    case Kind::reduce_scatter_block:
      break;
    case Kind::allgatherv:
      return {"ring", "bruck"};
    case Kind::gatherv:
    case Kind::scatterv:
      return {"linear"};
    case Kind::alltoallv:
    case Kind::alltoallw:
    case Kind::neighbor_alltoallv:
      return {"linear", "pairwise", "tra"};
  }
  return {"ring"};
}

bool serves(const Contender& contender, Exchange& exchange, const Counters& counters, MPI_Comm control) {
  const ServedSince since(counters);
  exchange.call(contender.comm());
  int served = since.now().by_topo > 0 ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &served, 1, MPI_INT, MPI_MIN, control);
  return served != 0;
}

// The same on all ranks: measured times are the slowest rank's.
std::string fastest(const std::vector<std::string>& algorithms, Kind kind, Exchange& exchange, MPI_Comm control) {
  std::vector<std::unique_ptr<Contender>> contenders;
  std::vector<std::function<void()>> calls;
  for (const std::string& algorithm : algorithms) {
    contenders.push_back(std::make_unique<Contender>(algorithm, kind));
    calls.emplace_back([&exchange, comm = contenders.back()->comm()] { exchange.call(comm); });
  }
  const Measured measured = measure(calls, {.calls = 1000, .warmup = 10, .seconds = 0}, control);
  const auto best = std::ranges::min_element(measured.timings, {}, [](const Timing& t) { return t.call_us.median; });
  return algorithms[static_cast<std::size_t>(best - measured.timings.begin())];
}

}  // namespace

Overhead overhead(const Case& what, const std::string& algorithm, int communicators, const Effort& effort,
                  const Counters& counters, MPI_Comm control) {
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(control, &rank);
  MPI_Comm_size(control, &ranks);
  Exchange exchange(what, rank, ranks);
  exchange.fill(1);
  Overhead result;
  result.algorithm = algorithm;
  auto asked = std::make_unique<Contender>(algorithm, what.kind);
  if (ranks > 1 && asked->server() == Server::either && !serves(*asked, exchange, counters, control)) {
    const std::vector<std::string> candidates = served_anywhere(what.kind);
    result.instead = fmt::format("{}", fmt::join(candidates, ", "));
    result.algorithm = fastest(candidates, what.kind, exchange, control);
    asked = std::make_unique<Contender>(result.algorithm, what.kind);
  }
  const Contender& topo = *asked;
  const Contender native("native", what.kind);

  // A first round each: connections, pools and the C library's arenas belong to the process, not to a communicator.
  fresh(topo, exchange, 2, control);
  fresh(native, exchange, 2, control);
  const Fresh with = fresh(topo, exchange, communicators, control);
  const Fresh without = fresh(native, exchange, communicators, control);

  const std::array<std::function<void()>, 2> calls = {[&] { exchange.call(topo.comm()); },
                                                      [&] { exchange.call(native.comm()); }};
  exchange.call(topo.comm());
  const ServedSince since(counters);
  const Measured measured = measure(calls, effort, control);
  const Served served = since.now();

  result.first_call_us = with.first_call_us;
  result.cached_call_us = measured.timings[0].call_us.median;
  result.native_call_us = measured.timings[1].call_us.median;
  result.cached_ratio = measured.timings[0].ratio;
  if (served.by_topo > 0) {
    const auto made = static_cast<double>(served.by_topo);
    result.messages_per_call = static_cast<double>(served.messages) / made;
    result.plan_hit_share = static_cast<double>(served.plan_hits) / made;
    // Every message of these collectives that a rank sends has one that it receives.
    result.cached_op_us = result.cached_call_us / std::max(2 * result.messages_per_call, 1.0);
  }
  result.created_bytes = with.created_bytes - without.created_bytes;
  result.used_bytes = with.used_bytes - without.used_bytes;
  return result;
}

}  // namespace colltopo::bench
