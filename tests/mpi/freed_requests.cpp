// MPI_Request_free of requests under way, which MPI forbids for collectives: they end all the same, and the calls after
// them, which are like them and may use what served them, are right. Served and, as first calls of a communicator and
// as persistent ones, left to libnbc.
#include <unistd.h>

#include <deque>
#include <functional>

#include "any_call.h"

namespace {

using namespace mpi_test;

// Their buffers are used until they end.
std::deque<std::function<bool()>> to_end;

template <typename Call>
void expect_the_end(std::shared_ptr<Call> freed) {
  to_end.emplace_back([freed = std::move(freed)] { return freed->is_there(); });
}

template <typename Call>
void run(Call& call) {
  MPI_Wait(call.request(), MPI_STATUS_IGNORE);
  call.check();
}

template <typename Call>
void start(Call& call, bool is_persistent) {
  if constexpr (std::is_same_v<Call, One>)
    is_persistent ? call.init() : call.start();
  else
    call.begin(false);
  if (is_persistent) MPI_Start(call.request());
}

/// Rank 0 comes late, so that the others' requests are under way. `warm`: calls before, which leave what serves the
/// next.
template <typename Make>
void freed_under_way(const Make& make, bool is_persistent, int warm) {
  const auto one_call = [&] {
    const auto call = make();
    start(*call, is_persistent);
    run(*call);
    if (is_persistent) MPI_Request_free(call->request());
  };
  for (int i = 0; i < warm; ++i) one_call();
  MPI_Barrier(MPI_COMM_WORLD);
  const bool is_late = rank_in(MPI_COMM_WORLD) == 0;
  if (is_late) usleep(5000);
  const auto freed = make();
  start(*freed, is_persistent);
  if (is_late) {
    run(*freed);
    if (is_persistent) MPI_Request_free(freed->request());
  } else {
    MPI_Request_free(freed->request());
    expect_the_end(freed);
  }
  for (int i = 0; i < 20; ++i) one_call();
}

void on_communicator(MPI_Comm world, const std::vector<std::string>& settings, const std::string& name, int warm) {
  const Graph graph(world, false);
  const auto fresh = [&](bool has_graph) { return with_settings(has_graph ? graph.comm : world, settings); };
  for (const Kind kind : k_kinds) {
    for (const bool is_persistent : {false, true}) {
      MPI_Comm comm = fresh(false);
      int salt = 0;
      freed_under_way([&] { return std::make_shared<One>(comm, kind, 4, 1, false, ++salt); }, is_persistent, warm);
      MPI_Comm_free(&comm);
    }
  }
  for (int call = 0; call < k_any; ++call) {
    for (const bool is_persistent : {false, true}) {
      MPI_Comm comm = fresh(is_among_neighbors(static_cast<Any>(call)));
      int round = 0;
      freed_under_way(
          [&] {
            const AnyCall::Form form{static_cast<Any>(call), is_persistent, round % 2 == 1, round % 3 == 1};
            auto made = std::make_shared<AnyCall>(comm, form, graph.neighbors, name);
            made->fill(++round);
            return made;
          },
          is_persistent, warm);
      MPI_Comm_free(&comm);
    }
  }
}

void expect_all_have_ended() {
  int found = 0;
  for (const auto& has_ended : to_end)
    while (!has_ended()) MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  expect(true, "all requests that were freed to have ended");
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

int main(int argc, char** argv) {
  Job job(&argc, &argv);
  const std::vector<std::string> forced = {
      "alltoall_algorithm",     "tra",      "allgather_algorithm", "ring",     "allreduce_algorithm",      "ring",
      "bcast_algorithm",        "binomial", "reduce_algorithm",    "binomial", "reduce_scatter_algorithm", "ring",
      "gather_algorithm",       "binomial", "scatter_algorithm",   "binomial", "allgatherv_algorithm",     "ring",
      "alltoallv_algorithm",    "linear",   "alltoallw_algorithm", "linear",   "gatherv_algorithm",        "linear",
      "neighborhood_algorithm", "linear",   "scatterv_algorithm",  "linear"};
  const Counter served("coll_topo_operations"), left("coll_topo_fallbacks");
  on_communicator(MPI_COMM_WORLD, forced, "forced", 3);
  on_communicator(MPI_COMM_WORLD, forced, "forced, first", 0);
  expect(served.since_made() > 0 && left.since_made() == 0, "all calls served, not %llu and %llu", served.since_made(),
         left.since_made());
  on_communicator(MPI_COMM_WORLD, {"choice", "off"}, "left to libnbc", 0);
  expect(left.since_made() > 0, "calls left to libnbc");
  expect_all_have_ended();
  return job.verdict();
}
