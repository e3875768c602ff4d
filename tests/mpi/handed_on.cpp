// Calls that do not block, and persistent ones, whose arrays are overwritten and whose datatypes, operations and
// communicators are freed as soon as the call has returned: each as the first call of its communicator, which the
// component may hand on when the ranks have compared their settings, and as a later one; served or left to libnbc.
// Argument: settings of all communicators as NAME=VALUE, or none.
#include "any_call.h"

namespace {

using namespace mpi_test;

struct Case {
  AnyCall::Form form;
  bool is_first = true, frees_communicator = false;
};

void warm_up(MPI_Comm comm, const Case& one, const Graph& graph, const std::string& name) {
  for (int i = 0; i < 2; ++i) {
    AnyCall before(comm, one.form, graph.neighbors, name);
    before.fill(i);
    before.begin(false);
    if (one.form.is_persistent) MPI_Start(before.request());
    MPI_Wait(before.request(), MPI_STATUS_IGNORE);
    if (one.form.is_persistent) MPI_Request_free(before.request());
    before.check();
  }
}

void run(const Case& one, const Graph& graph, MPI_Comm world, const std::vector<std::string>& settings,
         const std::string& name) {
  MPI_Comm comm = with_settings(is_among_neighbors(one.form.call) ? graph.comm : world, settings);
  if (!one.is_first) warm_up(comm, one, graph, name);
  AnyCall call(comm, one.form, graph.neighbors, name);
  call.fill(3);
  call.begin(one.frees_communicator);
  for (int start = 0; start < (one.form.is_persistent ? 3 : 1); ++start) {
    if (one.form.is_persistent) {
      call.fill(4 + start);
      MPI_Start(call.request());
    }
    MPI_Wait(call.request(), MPI_STATUS_IGNORE);
    call.check();
  }
  if (one.form.is_persistent) MPI_Request_free(call.request());
  if (!one.frees_communicator) MPI_Comm_free(&comm);
}

void every_call(MPI_Comm world, const std::vector<std::string>& settings, const std::string& name) {
  const Graph graph(world, false), grid(world, ranks_of(world) > 2);
  unsigned turn = 0;
  for (int call = 0; call < k_any; ++call) {
    for (const bool is_persistent : {false, true}) {
      for (const bool in_place : {false, true}) {
        if (in_place && !has_in_place(static_cast<Any>(call))) continue;
        for (const bool is_first : {true, false}) {
          for (const bool has_gaps : {true, false}) {
            const Case one{{static_cast<Any>(call), is_persistent, in_place, has_gaps}, is_first, turn % 3 != 0};
            run(one, ++turn % 2 == 0 ? grid : graph, world, settings, name);
          }
        }
      }
    }
  }
}

/// Many of all kinds under way on one communicator, of which the first was handed on late.
void all_at_once(MPI_Comm world, const std::vector<std::string>& settings, const std::string& name) {
  const Graph graph(world, false);
  MPI_Comm comm = with_settings(graph.comm, settings);
  std::vector<std::unique_ptr<AnyCall>> calls;
  for (int i = 0; i < 3 * k_any; ++i) {
    const bool has_gaps = i % 2 == 0;
    calls.push_back(std::make_unique<AnyCall>(
        comm, AnyCall::Form{static_cast<Any>(i * 7 % k_any), i % 3 == 2, i % 4 == 0, has_gaps}, graph.neighbors, name));
    calls.back()->fill(i);
    calls.back()->begin(false);
    if (i % 3 == 2) MPI_Start(calls.back()->request());
  }
  MPI_Comm_free(&comm);
  for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
    MPI_Wait((*call)->request(), MPI_STATUS_IGNORE);
    (*call)->check();
  }
  for (int i = 2; i < 3 * k_any; i += 3) MPI_Request_free(calls[static_cast<std::size_t>(i)]->request());
}

}  // namespace

int main(int argc, char** argv) {
  Job job(&argc, &argv);
  std::vector<std::string> settings;
  std::string name;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    const std::size_t mark = word.find('=');
    settings.push_back(word.substr(0, mark));
    settings.push_back(word.substr(mark + 1));
    name += (name.empty() ? "" : " ") + word;
  }
  const Counter served("coll_topo_operations"), left("coll_topo_fallbacks");
  every_call(MPI_COMM_WORLD, settings, name);
  all_at_once(MPI_COMM_WORLD, settings, name);
  const bool is_forced = name.find("allgatherv_algorithm") != std::string::npos;
  expect(is_forced ? served.since_made() > 0 && left.since_made() == 0 : left.since_made() > 0,
         "%s, not %llu served and %llu left", is_forced ? "all calls served" : "calls left to libnbc",
         served.since_made(), left.since_made());
  return job.verdict();
}
