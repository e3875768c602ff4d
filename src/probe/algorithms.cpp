#include "probe/algorithms.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <string>

#include "probe/counters.h"

namespace colltopo::probe {

namespace {

constexpr double k_long_enough = 8e-3;  // s, of the calls of one size
constexpr int k_least_calls = 3, k_enough_calls = 5, k_most_calls = 15;

int ranks_of(MPI_Comm comm) {
  int ranks = 0;
  MPI_Comm_size(comm, &ranks);
  return ranks;
}

// One call of each collective, with bytes as in Request. Numbers are whole: any order of a sum has the same bits.
class Caller {
 public:
  Caller(MPI_Comm comm, const Counters& counters, Collective collective, std::size_t bytes)
      : comm_(comm), counters_(counters), collective_(collective), count_(static_cast<int>(bytes)) {
    const std::size_t shards = row(collective).counts_shards() ? static_cast<std::size_t>(ranks_of(comm)) : 1;
    const std::size_t all = bytes * shards;
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
        MPI_Reduce_scatter_block(in_.data(), out_.data(), words, MPI_INT, MPI_SUM, comm_);
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

  /// As the slowest rank has it, after all have begun together.
  double seconds() {
    const auto served = [&] { return counters_.value("calls"); };
    MPI_Barrier(MPI_COMM_WORLD);
    const unsigned long long before = served();
    const double start = MPI_Wtime();
    call();
    double own = MPI_Wtime() - start, slowest = 0;
    was_served_ = was_served_ && served() > before;
    MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
  }
  /// On every rank, all calls so far.
  bool was_served() const {
    int served = was_served_ ? 1 : 0, by_all = 0;
    MPI_Allreduce(&served, &by_all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    return by_all == 1;
  }

 private:
  MPI_Comm comm_;
  const Counters& counters_;
  Collective collective_;
  int count_;
  std::vector<int> in_, out_;
  bool was_served_ = true;
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

// The median, or the least of few: the first calls of a connection are slow.
double usual_seconds(Caller& caller) {
  const double first = caller.seconds();  // connections, plans
  const int calls = std::clamp(static_cast<int>(k_long_enough / first), k_least_calls, k_most_calls);
  std::vector<double> all(static_cast<std::size_t>(calls));
  for (double& seconds : all) seconds = caller.seconds();
  std::ranges::sort(all);
  return calls < k_enough_calls ? all.front() : all[all.size() / 2];
}

}  // namespace

std::vector<ConstantsRecord::Times> measure(const std::vector<Contender>& contenders, const std::string& constants,
                                            double seconds) {
  const Counters counters;
  std::vector<ConstantsRecord::Times> all;
  const double start = MPI_Wtime();
  for (const Contender& contender : contenders) {
    double taken = MPI_Wtime() - start;
    MPI_Bcast(&taken, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    if (taken > seconds) break;
    const ServedBy served(contender, constants);
    ConstantsRecord::Times times{std::string(name(contender.collective)), contender.algorithm, {}};
    for (const std::size_t bytes : sizes_of(contender.collective, ranks_of(MPI_COMM_WORLD))) {
      Caller caller(served.get(), counters, contender.collective, bytes);
      const double seconds_of_call = usual_seconds(caller);
      if (!caller.was_served()) break;
      times.seconds[bytes] = seconds_of_call;
    }
    if (!times.seconds.empty()) all.push_back(std::move(times));
  }
  return all;
}

}  // namespace colltopo::probe
