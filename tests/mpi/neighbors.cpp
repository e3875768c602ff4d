// MPI's neighbourhood calls on grids (with sides of one and two, whose rank before is the rank behind), graphs and
// distributed graphs (edges one way, several between two ranks, to oneself, none): blocking, non-blocking and
// persistent; random counts, places with gaps and in any order, derived datatypes. Every int of every buffer is
// compared with what was computed by hand, and the counters say who served.
//
//   neighbors ALGORITHM     as the MCA variable coll_topo_neighborhood_algorithm has it
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <string_view>

#include "calls.h"
#include "uneven_sides.h"

namespace {

using namespace mpi_test;

/// A rank's edges. Those that it receives by know the sender's number of theirs.
struct Graph {
  std::string name;
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0;
  std::vector<int> to, from;    // ranks, or MPI_PROC_NULL
  std::vector<int> numbers_of;  // [edge of `from`]
  bool crosses = false;         // a rank's neighbours on both sides are one
};

/// The number that the sender of each edge gives it: of several between two ranks each side counts its own.
std::vector<int> numbered(int rank, const std::vector<int>& from, const std::function<std::vector<int>(int)>& to_of) {
  std::map<int, int> seen;
  std::vector<int> numbers;
  for (const int source : from) {
    const std::vector<int> to = source == MPI_PROC_NULL ? std::vector<int>{} : to_of(source);
    int nth = seen[source]++, number = -1;
    for (std::size_t i = 0; i < to.size() && number < 0; ++i)
      if (to[i] == rank && nth-- == 0) number = static_cast<int>(i);
    numbers.push_back(number);
  }
  return numbers;
}

Graph grid(const std::string& name, std::vector<int> sides, const std::vector<int>& periods) {
  Graph graph{name, MPI_COMM_NULL, 0, {}, {}, {}, false};
  MPI_Cart_create(MPI_COMM_WORLD, static_cast<int>(sides.size()), sides.data(), periods.data(), 0, &graph.comm);
  graph.rank = rank_in(graph.comm);
  for (int side = 0; side < static_cast<int>(sides.size()); ++side) {
    int before = 0, behind = 0;
    MPI_Cart_shift(graph.comm, side, 1, &before, &behind);
    for (const int peer : {before, behind}) {
      // What comes from before left its sender for the rank behind that one.
      graph.numbers_of.push_back(static_cast<int>(graph.to.size()) ^ 1);
      graph.to.push_back(peer);
    }
    const auto at = static_cast<std::size_t>(side);
    graph.crosses = graph.crosses || (periods[at] != 0 && sides[at] <= 2);
  }
  graph.from = graph.to;
  return graph;
}

/// A ring, with a chord through each rank and its opposite where there are enough.
std::vector<int> around(int rank, int ranks) {
  std::vector<int> all = {(rank + 1) % ranks, (rank + ranks - 1) % ranks};
  if (ranks % 2 == 0 && ranks > 2) all.push_back((rank + ranks / 2) % ranks);
  return all;
}

Graph ring(int ranks) {
  std::vector<int> ends, edges;
  for (int rank = 0; rank < ranks; ++rank) {
    for (const int peer : around(rank, ranks)) edges.push_back(peer);
    ends.push_back(static_cast<int>(edges.size()));
  }
  Graph graph{"ring", MPI_COMM_NULL, 0, {}, {}, {}, false};
  MPI_Graph_create(MPI_COMM_WORLD, ranks, ends.data(), edges.data(), 0, &graph.comm);
  graph.rank = rank_in(graph.comm);
  graph.to = graph.from = around(graph.rank, ranks);
  graph.numbers_of = numbered(graph.rank, graph.from, [&](int source) { return around(source, ranks); });
  return graph;
}

Graph random_graph(int ranks, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::vector<int>> to(static_cast<std::size_t>(ranks)), from(to.size());
  const auto any = [&] { return static_cast<int>(random() % static_cast<unsigned>(ranks)); };
  const auto edges = random() % static_cast<unsigned>(3 * ranks + 1);
  for (unsigned i = 0; i < edges; ++i) {
    const int source = any(), target = i % 5 == 0 && i > 0 ? source : any();
    for (unsigned times = 0; times <= random() % 3 / 2; ++times) {
      to[static_cast<std::size_t>(source)].push_back(target);
      from[static_cast<std::size_t>(target)].push_back(source);
    }
  }
  for (auto& all : {&to, &from})
    for (auto& list : *all) std::shuffle(list.begin(), list.end(), random);
  const auto own = static_cast<std::size_t>(rank_in(MPI_COMM_WORLD));
  Graph graph{"random " + std::to_string(seed), MPI_COMM_NULL, static_cast<int>(own), to[own], from[own], {}, false};
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, static_cast<int>(graph.from.size()), graph.from.data(), MPI_UNWEIGHTED,
                                 static_cast<int>(graph.to.size()), graph.to.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &graph.comm);
  graph.numbers_of = numbered(graph.rank, graph.from, [&](int source) { return to[static_cast<std::size_t>(source)]; });
  return graph;
}

std::vector<Graph> graphs(int ranks) {
  std::vector<int> sides(2, 0);
  MPI_Dims_create(ranks, 2, sides.data());
  std::vector<Graph> all = {grid("line", {ranks}, {0}),
                            grid("circle", {ranks}, {1}),
                            grid("torus", sides, {1, 1}),
                            grid("mesh", sides, {0, 1}),
                            grid("flat torus", {1, ranks, 1}, {1, 1, 0}),
                            ring(ranks)};
  if (ranks % 2 == 0) all.push_back(grid("sides of two", {2, ranks / 2}, {1, 1}));
  for (unsigned seed = 1; seed <= 6; ++seed) all.push_back(random_graph(ranks, seed));
  return all;
}

enum class Call { allgather, allgatherv, alltoall, alltoallv, alltoallw };
constexpr Call k_calls[] = {Call::allgather, Call::allgatherv, Call::alltoall, Call::alltoallv, Call::alltoallw};
constexpr const char* k_names[] = {"neighbor_allgather", "neighbor_allgatherv", "neighbor_alltoall",
                                   "neighbor_alltoallv", "neighbor_alltoallw"};
enum class Form { blocking, nonblocking, persistent };

/// Ints of an edge, by its sender's number of it; even.
int ints_of(Call call, unsigned seed, int sender, int number) {
  if (call == Call::alltoall || call == Call::allgather)
    return (1 + static_cast<int>(seed % 7)) * 6;  // MPI passes no call of nothing on
  std::mt19937 random(seed * 7919 + static_cast<unsigned>(sender) * 131 +
                      (call == Call::allgatherv ? 0 : static_cast<unsigned>(number)));
  const auto kind = random() % 12;
  return kind < 3 ? 0 : kind == 11 ? 40000 : 2 * static_cast<int>(random() % 200);
}

class Exchange {
 public:
  Exchange(const Graph& graph, Call call, unsigned seed, const Element& sent, const Element& received)
      : graph_(graph), call_(call), seed_(seed) {
    const bool spreads = call == Call::allgather || call == Call::allgatherv;
    std::vector<int> in_ints, out_ints;
    for (std::size_t i = 0; i < (spreads ? 1 : graph.to.size()); ++i)
      in_ints.push_back(ints_of(call, seed, graph.rank, static_cast<int>(i)));
    for (std::size_t i = 0; i < graph.from.size(); ++i)
      out_ints.push_back(graph.from[i] == MPI_PROC_NULL && (call == Call::alltoall || call == Call::allgather)
                             ? ints_of(call, seed, 0, 0)
                         : graph.from[i] == MPI_PROC_NULL ? 8
                                                          : ints_of(call, seed, graph.from[i], graph.numbers_of[i]));
    std::vector<Element> in_kinds(in_ints.size(), sent), out_kinds(out_ints.size(), received);
    if (call == Call::alltoallw) {
      for (std::size_t i = 0; i < in_kinds.size(); i += 2) in_kinds[i] = received;
      for (std::size_t i = 0; i < out_kinds.size(); i += 3) out_kinds[i] = sent;
    }
    std::mt19937 random(seed * 100 + static_cast<unsigned>(graph.rank));
    in_ = std::make_unique<Side>(in_ints, in_kinds, random);
    out_ = std::make_unique<Side>(out_ints, out_kinds, random);
    if (call == Call::alltoall || call == Call::allgather) {
      in_row(*in_);
      in_row(*out_);
    }
    sent_ints_ = static_cast<int>(sent.places.size());
    received_ints_ = static_cast<int>(received.places.size());
    sent_type_ = sent.type;
    received_type_ = received.type;
    fill(0);
  }

  void fill(int round) {
    const int add = 1000 * round;
    std::fill(out_->memory.begin(), out_->memory.end(), k_untouched);
    wanted_ = std::make_unique<Side>(*out_);
    const bool spreads = call_ == Call::allgather || call_ == Call::allgatherv;
    for (std::size_t i = 0; i < in_->counts.size(); ++i) in_->fill(i, graph_.rank + add, static_cast<int>(i));
    for (std::size_t i = 0; i < graph_.from.size(); ++i)
      if (graph_.from[i] != MPI_PROC_NULL) wanted_->fill(i, graph_.from[i] + add, spreads ? 0 : graph_.numbers_of[i]);
  }

  void begin(Form form) {
    sent_counts_ = in_->counts;
    received_counts_ = out_->counts;
    sent_places_ = in_->displacements();
    received_places_ = out_->displacements();
    sent_bytes_ = bytes_of(*in_);
    received_bytes_ = bytes_of(*out_);
    sent_types_ = in_->types();
    received_types_ = out_->types();
    // Open MPI wants arrays of nothing to be somewhere.
    for (auto* const all : {&sent_counts_, &received_counts_, &sent_places_, &received_places_}) all->reserve(1);
    for (auto* const all : {&sent_bytes_, &received_bytes_}) all->reserve(1);
    for (auto* const all : {&sent_types_, &received_types_}) all->reserve(1);
    const void* const in = in_->memory.data();
    const void* const own = in_->memory.data() + (in_->places.empty() ? 0 : in_->places[0]);
    void* const out = out_->memory.data();
    // Open MPI compares both sides, also where a rank has no edges.
    const int sent = in_->counts.empty() ? ints_of(call_, seed_, 0, 0) / sent_ints_ : in_->counts[0];
    const int received = ints_of(call_, seed_, 0, 0) / received_ints_;
    const int *const sc = sent_counts_.data(), *const rc = received_counts_.data();
    const int *const sp = sent_places_.data(), *const rp = received_places_.data();
    const MPI_Aint *const sb = sent_bytes_.data(), *const rb = received_bytes_.data();
    const MPI_Datatype st = sent_type_, rt = received_type_;
    const MPI_Datatype *const sts = sent_types_.data(), *const rts = received_types_.data();
    const MPI_Info none = MPI_INFO_NULL;
    MPI_Request* const r = &request_;
    const MPI_Comm comm = graph_.comm;
#define MPI_TEST_CALL(name, ...)                                \
  if (form == Form::blocking)                                   \
    MPI_Neighbor_##name(__VA_ARGS__, comm);                     \
  else if (form == Form::nonblocking)                           \
    MPI_Ineighbor_##name(__VA_ARGS__, comm, r);                 \
  else                                                          \
    MPI_TEST_INIT(Neighbor_##name)(__VA_ARGS__, comm, none, r); \
  break
    switch (call_) {
      case Call::allgather:
        MPI_TEST_CALL(allgather, own, sent, st, out, received, rt);
      case Call::allgatherv:
        MPI_TEST_CALL(allgatherv, own, sent, st, out, rc, rp, rt);
      case Call::alltoall:
        MPI_TEST_CALL(alltoall, in, sent, st, out, received, rt);
      case Call::alltoallv:
        MPI_TEST_CALL(alltoallv, in, sc, sp, st, out, rc, rp, rt);
      case Call::alltoallw:
        MPI_TEST_CALL(alltoallw, in, sc, sb, sts, out, rc, rb, rts);
    }
#undef MPI_TEST_CALL
  }
  void wait() { MPI_Wait(&request_, MPI_STATUS_IGNORE); }
  MPI_Request* request() { return &request_; }

  void check() const {
    const Place place{graph_.comm, graph_.rank, 0, graph_.name, seed_, false, {}, {}};
    compare(k_names[static_cast<std::size_t>(call_)], place, *out_, *wanted_);
  }

 private:
  static void in_row(Side& side) {
    int end = 0;
    for (std::size_t i = 0; i < side.counts.size(); ++i) {
      side.places[i] = end;
      end += side.counts[i] * side.kinds[i].extent;
    }
    side.memory.assign(static_cast<std::size_t>(end) + 8, k_untouched);
  }
  static std::vector<MPI_Aint> bytes_of(const Side& side) {
    std::vector<MPI_Aint> all;
    for (const int place : side.places) all.push_back(static_cast<MPI_Aint>(place) * MPI_Aint{sizeof(int)});
    return all;
  }

  const Graph& graph_;
  Call call_;
  unsigned seed_;
  int sent_ints_ = 1, received_ints_ = 1;  // of an element
  std::unique_ptr<Side> in_, out_, wanted_;
  MPI_Datatype sent_type_ = MPI_INT, received_type_ = MPI_INT;
  std::vector<int> sent_counts_, received_counts_, sent_places_, received_places_;
  std::vector<MPI_Aint> sent_bytes_, received_bytes_;
  std::vector<MPI_Datatype> sent_types_, received_types_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

struct Kinds {
  Element plain, gaps;

  Exchange exchange(const Graph& graph, Call call, unsigned seed) const {
    return {graph, call, seed, seed % 4 == 1 || seed % 4 == 3 ? gaps : plain,
            seed % 4 == 2 || seed % 4 == 3 ? gaps : plain};
  }
};

/// How many of them coll/topo may serve: of a distributed graph nobody knows whether it is in one piece, and in another
/// part MPI may return from a call of one count without asking.
unsigned long long blocking(const Graph& graph, const Kinds& kinds) {
  int status = MPI_UNDEFINED;
  MPI_Topo_test(graph.comm, &status);
  unsigned long long calls = 0;
  for (unsigned seed = 0; seed < 8; ++seed) {
    for (const Call call : k_calls) {
      Exchange one = kinds.exchange(graph, call, seed);
      one.begin(Form::blocking);
      one.check();
      calls += status == MPI_DIST_GRAPH && (call == Call::allgather || call == Call::alltoall) ? 0 : 1;
    }
  }
  return calls;
}

/// Two pairs of ranks, of which one exchanges nothing: a communicator's first calls, and later ones.
void in_parts(int rank, MPI_Comm comm) {
  int own = rank, got = -1;
  const int count = rank < 2 ? 0 : 1;
  for (int call = 0; call < 3; ++call) {
    MPI_Neighbor_allgather(&own, count, MPI_INT, &got, count, MPI_INT, comm);
    expect(got == (rank < 2 ? -1 : rank ^ 1), "the neighbour's number in a graph of parts, not %d", got);
    MPI_Neighbor_alltoall(&own, count, MPI_INT, &got, count, MPI_INT, comm);
    expect(got == (rank < 2 ? -1 : rank ^ 1), "the neighbour's number in a graph of parts, not %d", got);
  }
  MPI_Comm_free(&comm);
}

void in_parts(int rank) {
  int peer = rank ^ 1;
  const int ends[] = {1, 2, 3, 4}, edges[] = {1, 0, 3, 2};
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &peer, MPI_UNWEIGHTED, 1, &peer, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &comm);
  in_parts(rank, comm);
  MPI_Graph_create(MPI_COMM_WORLD, 4, ends, edges, 0, &comm);
  in_parts(rank, comm);
}

unsigned long long nonblocking(const Graph& graph, const Kinds& kinds) {
  std::vector<std::unique_ptr<Exchange>> all;
  for (unsigned i = 0; i < 20; ++i) {
    all.push_back(std::make_unique<Exchange>(kinds.exchange(graph, k_calls[i % 5], i)));
    all.back()->begin(Form::nonblocking);
    if (i % 6 == 5) kinds.exchange(graph, Call::alltoallv, 3).begin(Form::blocking);
  }
  std::mt19937 random(static_cast<unsigned>(graph.rank));
  std::shuffle(all.begin(), all.end(), random);
  for (auto& one : all) {
    one->wait();
    one->check();
  }
  return all.size();
}

unsigned long long persistent(const Graph& graph, const Kinds& kinds) {
  constexpr int k_rounds = 3;
  std::vector<std::unique_ptr<Exchange>> all;
  std::vector<MPI_Request> requests;
  for (unsigned i = 0; i < 10; ++i) {
    all.push_back(std::make_unique<Exchange>(kinds.exchange(graph, k_calls[i % 5], i)));
    all.back()->begin(Form::persistent);
    requests.push_back(*all.back()->request());
  }
  for (int round = 0; round < k_rounds; ++round) {
    for (auto& one : all) one->fill(round);
    MPI_Startall(static_cast<int>(requests.size()), requests.data());
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (auto& one : all) one->check();
  }
  for (MPI_Request& request : requests) MPI_Request_free(&request);
  return k_rounds * all.size();
}

}  // namespace

int main(int argc, char** argv) {
  Job job(&argc, &argv);
  const std::string_view algorithm = argc > 1 ? argv[1] : "";
  const bool named = algorithm != "fallback" && algorithm != "auto";
  Kinds kinds;
  kinds.gaps = with_a_gap();
  if (job.ranks == 4) in_parts(job.rank);
  for (Graph& graph : graphs(job.ranks)) {
    const Counter calls("coll_topo_calls"), operations("coll_topo_operations"), left("coll_topo_fallbacks");
    unsigned long long expected = blocking(graph, kinds);
    const bool served = named && job.ranks > 1;
    expect(calls.since_made() == (served ? expected : 0), "%s: %llu blocking calls served, not %llu",
           graph.name.c_str(), served ? expected : 0, calls.since_made());
    // Where a rank is its neighbour twice, libnbc exchanges blocks in a wrong order, and is not asked.
    const bool safe = job.ranks > 1 || !graph.crosses;
    const unsigned long long begun = safe ? nonblocking(graph, kinds) + persistent(graph, kinds) : 0;
    const bool by_us = safe && job.ranks > 1 && (graph.crosses || served);
    expect(operations.since_made() == (by_us ? begun : 0), "%s: %llu operations, not %llu", graph.name.c_str(),
           by_us ? begun : 0, operations.since_made());
    expect(!named || left.since_made() == 0, "%s: none left to the next component, not %llu", graph.name.c_str(),
           left.since_made());
    MPI_Comm_free(&graph.comm);
  }
  MPI_Type_free(&kinds.gaps.type);
  return job.verdict();
}
