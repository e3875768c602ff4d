#include "probe/measure.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <functional>

#include "comm/constants.h"

namespace colltopo::probe {

namespace {

constexpr double k_long_enough = 0.01;                   // s, of a row that counts
constexpr std::size_t k_rows = 3;                        // at most, of which the middle one counts
constexpr double k_least_growth = 2, k_most_growth = 8;  // of repetitions
constexpr int k_burst = 16;                              // messages
constexpr std::size_t k_small = 8, k_large = std::size_t{256} << 10, k_local = std::size_t{1} << 20;  // bytes
constexpr int k_nobody = -1;

// Seconds of one call, as the slowest rank has it in a row of so many.
double seconds_in_row(const std::function<void()>& once, int times) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double start = MPI_Wtime();
  for (int i = 0; i < times; ++i) once();
  const double seconds = MPI_Wtime() - start;
  double slowest = 0;
  MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest / times;
}

// In ever more repetitions until they take long enough, then the middle of three rows, or the lesser of two long ones:
// on more ranks than processors one that waits for a processor has all wait, and a few calls after a barrier took six
// times what they take in a row.
double seconds_of(const std::function<void()>& once) {
  once();
  for (int times = 1;;) {
    std::vector<double> rows;
    for (double spent = 0; rows.size() < 2 || (rows.size() < k_rows && spent < k_rows * k_long_enough);) {
      rows.push_back(seconds_in_row(once, times));
      spent += times * rows.back();
    }
    std::ranges::sort(rows);
    const double least = times * rows.front();
    if (least >= k_long_enough || times >= 1 << 20) return rows[(rows.size() - 1) / 2];
    const double growth = 1.2 * k_long_enough / std::max(least, 1e-9);
    times = static_cast<int>(times * std::clamp(growth, k_least_growth, k_most_growth));
  }
}

class Exchange {
 public:
  Exchange() : out_(k_large * 1, 'x'), in_(k_large) {}

  /// Of one message each way with `partner`.
  double seconds(int partner, std::size_t bytes) {
    return seconds_of([&] {
      if (partner == k_nobody) return;
      MPI_Sendrecv(out_.data(), static_cast<int>(bytes), MPI_BYTE, partner, 0, in_.data(), static_cast<int>(bytes),
                   MPI_BYTE, partner, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    });
  }
  /// Of a burst of small ones each way.
  double burst_seconds(int partner) {
    return seconds_of([&] {
      if (partner == k_nobody) return;
      std::array<MPI_Request, std::size_t{2} * k_burst> requests;
      for (std::size_t i = 0; i < k_burst; ++i)
        MPI_Irecv(&in_[i * 64], k_small, MPI_BYTE, partner, static_cast<int>(i), MPI_COMM_WORLD, &requests[i]);
      for (std::size_t i = 0; i < k_burst; ++i)
        MPI_Isend(&out_[i * 64], k_small, MPI_BYTE, partner, static_cast<int>(i), MPI_COMM_WORLD,
                  &requests[k_burst + i]);
      MPI_Waitall(2 * k_burst, requests.data(), MPI_STATUSES_IGNORE);
    });
  }

 private:
  std::vector<char> out_, in_;
};

// Bytes per second of `ranks` ranks that together send so much in a step whose latency is known.
double rate(double ranks, double seconds, double latency) {
  return ranks * static_cast<double>(k_large) / std::max(seconds - latency, 0.1 * seconds);
}

int beside(int index, int count) { return (index ^ 1) < count ? index ^ 1 : k_nobody; }

// The rank on node `other` at this rank's position; nobody where there is none.
int opposite(const Places& places, int other) {
  if (other == k_nobody) return k_nobody;
  const auto& there = places.ranks_on[static_cast<std::size_t>(other)];
  const auto position = static_cast<std::size_t>(places.position);
  return position < there.size() ? there[position] : k_nobody;
}

// Ranks of a node that have an opposite on `other(node)`, of the node that has most: its pair of nodes takes longest.
double most_opposites(const Places& places, const std::function<int(int)>& other) {
  std::size_t most = 1;
  for (int node = 0; node < static_cast<int>(places.hosts.size()); ++node)
    if (const int there = other(node); there != k_nobody)
      most = std::max(most, std::min(places.ranks_on[static_cast<std::size_t>(node)].size(),
                                     places.ranks_on[static_cast<std::size_t>(there)].size()));
  return static_cast<double>(most);
}

void measure_node(const Places& places, Exchange& exchange, Measurements& found) {
  if (places.ranks_per_host() < 2) return;
  const auto& mine = places.ranks_on[static_cast<std::size_t>(places.node_of[static_cast<std::size_t>(places.rank)])];
  const int next = beside(places.position, static_cast<int>(mine.size()));
  const int partner = next == k_nobody ? k_nobody : mine[static_cast<std::size_t>(next)];
  const auto fullest = std::ranges::max_element(places.ranks_on, {}, &std::vector<int>::size) - places.ranks_on.begin();
  const bool is_one = places.node_of[static_cast<std::size_t>(places.rank)] == fullest && places.position < 2;
  const int alone = is_one ? partner : k_nobody;
  found.alone["latency_node"] = exchange.seconds(alone, k_small);
  found.alone["bandwidth_node"] = rate(1, exchange.seconds(alone, k_large), found.alone["latency_node"]);
  const double latency = found.loaded["latency_node"] = exchange.seconds(partner, k_small);
  found.loaded["bandwidth_node"] = rate(1, exchange.seconds(partner, k_large), latency);
  found.loaded["message_overhead"] = std::max(1e-9, (exchange.burst_seconds(partner) - latency) / (k_burst - 1));
}

// Pairs of nodes, with all their ranks and all pairs at once: neighbours, and nodes half of all away.
void measure_network(const Places& places, Exchange& exchange, Measurements& found) {
  const int nodes = static_cast<int>(places.hosts.size());
  if (nodes < 2) return;
  const int node = places.node_of[static_cast<std::size_t>(places.rank)];
  const auto neighbour = [&](int of) { return beside(of, nodes); };
  const int half = nodes / 2;
  const auto across = [&](int of) { return of >= 2 * half ? k_nobody : (of + half) % (2 * half); };
  const int partner = opposite(places, neighbour(node));
  const int alone = node < 2 && places.position == 0 ? partner : k_nobody;
  found.alone["latency_network"] = exchange.seconds(alone, k_small);
  found.alone["bandwidth_network"] = rate(1, exchange.seconds(alone, k_large), found.alone["latency_network"]);
  const double latency = found.loaded["latency_network"] = exchange.seconds(partner, k_small);
  found.loaded["bandwidth_network"] =
      rate(most_opposites(places, neighbour), exchange.seconds(partner, k_large), latency);
  found.loaded["bandwidth_cut"] =
      rate(most_opposites(places, across), exchange.seconds(opposite(places, across(node)), k_large), latency);
  if (!found.loaded.contains("message_overhead"))
    found.loaded["message_overhead"] = std::max(1e-9, (exchange.burst_seconds(partner) - latency) / (k_burst - 1));
}

void measure_processor(const Places& places, Measurements& found) {
  std::vector<double> from(k_local / sizeof(double), 1.0), to(from);
  const auto copy = [&] { std::memcpy(to.data(), from.data(), k_local); };
  const auto reduce = [&] {
    MPI_Reduce_local(from.data(), to.data(), static_cast<int>(from.size()), MPI_DOUBLE, MPI_SUM);
  };
  const auto bytes = static_cast<double>(k_local);
  for (const bool alone : {true, false}) {
    auto& into = alone ? found.alone : found.loaded;
    const bool works = !alone || places.rank == 0;
    into["bandwidth_copy"] = bytes / seconds_of([&] { works ? copy() : void(); });
    into["bandwidth_reduce"] = bytes / seconds_of([&] { works ? reduce() : void(); });
  }
}

}  // namespace

Places::Places() {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  constexpr int k_name = MPI_MAX_PROCESSOR_NAME;
  std::vector<char> names(static_cast<std::size_t>(ranks) * k_name), own(k_name);
  int length = 0;
  MPI_Get_processor_name(own.data(), &length);
  MPI_Allgather(own.data(), k_name, MPI_CHAR, names.data(), k_name, MPI_CHAR, MPI_COMM_WORLD);
  for (int r = 0; r < ranks; ++r) {
    host_of.push_back(without_domain(names.data() + static_cast<std::size_t>(r) * k_name));
    const auto node = std::ranges::find(hosts, host_of.back()) - hosts.begin();
    if (static_cast<std::size_t>(node) == hosts.size()) {
      hosts.push_back(host_of.back());
      ranks_on.emplace_back();
    }
    node_of.push_back(static_cast<int>(node));
    auto& there = ranks_on[static_cast<std::size_t>(node)];
    if (r == rank) position = static_cast<int>(there.size());
    there.push_back(r);
  }
}

int Places::ranks_per_host() const {
  return static_cast<int>(std::ranges::max_element(ranks_on, {}, &std::vector<int>::size)->size());
}

Measurements measure(const Places& places) {
  Measurements found;
  Exchange exchange;
  measure_node(places, exchange, found);
  measure_network(places, exchange, found);
  measure_processor(places, found);
  return found;
}

}  // namespace colltopo::probe
