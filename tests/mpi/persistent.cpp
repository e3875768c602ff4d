// Persistent collectives: made once, begun again and again, one by one and all together, against values computed by
// hand; without an allocation, and without a progress function when nothing is under way.
#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <random>
#include <string_view>

#include "calls.h"

// glibc's, under the names that it exports for programs which bring their own.
extern "C" {
void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
}

namespace {

std::atomic<bool> counting = false;
std::atomic<long> allocations = 0;
void count_allocation() {
  if (counting.load(std::memory_order_relaxed)) allocations.fetch_add(1, std::memory_order_relaxed);
}

int registered = 0;  // progress functions of the component

using Progress = int (*)();

// Open MPI registers others when it runs short of something.
bool is_of_component(Progress function) {
  Dl_info found{};
  return dladdr(reinterpret_cast<void*>(function), &found) != 0 &&
         std::string_view(found.dli_fname).find("mca_coll_topo") != std::string_view::npos;
}
using Register = int (*)(Progress);
int forwarded(const char* name, Progress function) {
  return reinterpret_cast<Register>(dlsym(RTLD_NEXT, name))(function);
}

}  // namespace

extern "C" {
__attribute__((visibility("default"))) void* malloc(std::size_t bytes) {
  count_allocation();
  return __libc_malloc(bytes);
}
__attribute__((visibility("default"))) void* calloc(std::size_t number, std::size_t bytes) {
  count_allocation();
  return __libc_calloc(number, bytes);
}
__attribute__((visibility("default"))) void* realloc(void* memory, std::size_t bytes) {
  count_allocation();
  return __libc_realloc(memory, bytes);
}
__attribute__((visibility("default"))) void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  count_allocation();
  return __libc_memalign(alignment, bytes);
}
__attribute__((visibility("default"))) int opal_progress_register(Progress function) {
  if (is_of_component(function)) ++registered;
  return forwarded("opal_progress_register", function);
}
__attribute__((visibility("default"))) int opal_progress_unregister(Progress function) {
  const int code = forwarded("opal_progress_unregister", function);
  if (code == 0 && is_of_component(function)) --registered;
  return code;
}
}

namespace {

using namespace mpi_test;

void every_call(MPI_Comm comm) {
  const Counter served("coll_topo_operations"), left("coll_topo_fallbacks");
  unsigned long long starts = 0;
  for (const Kind kind : k_kinds) {
    for (const std::size_t count : {1u, 50u, 20000u}) {
      for (const bool in_place : {false, true}) {
        One call(comm, kind, count, 1, in_place);
        call.init();
        for (int round = 0; round < 5; ++round, ++starts) {
          call.fill();
          MPI_Start(call.request());
          MPI_Wait(call.request(), MPI_STATUS_IGNORE);
          expect(*call.request() != MPI_REQUEST_NULL, "a persistent request to stay");
          call.check();
        }
        MPI_Request_free(call.request());
      }
    }
  }
  expect(served.since_made() == starts, "%llu starts served, not %llu", starts, served.since_made());
  expect(left.since_made() == 0, "none left to the next component, not %llu", left.since_made());
}

void all_together(MPI_Comm comm) {
  std::vector<std::unique_ptr<One>> all;
  std::vector<MPI_Request> requests;
  for (int i = 0; i < 100; ++i) {
    all.push_back(std::make_unique<One>(comm, k_kinds[static_cast<std::size_t>(i) % std::size(k_kinds)],
                                        static_cast<std::size_t>(1 + i * i), i, i % 3 == 0, i));
    all.back()->init();
    requests.push_back(*all.back()->request());
  }
  std::mt19937 own(static_cast<unsigned>(rank_in(comm)));
  const int number = static_cast<int>(requests.size());
  for (int round = 0; round < 10; ++round) {
    for (auto& call : all) call->fill();
    MPI_Startall(number, requests.data());
    // An inactive request is as good as none to Waitany.
    for (int i = 0; i < number / 2; ++i) {
      int index = -1;
      MPI_Waitany(number, requests.data(), &index, MPI_STATUS_IGNORE);
      expect(index >= 0 && index < number, "one of them, not %d", index);
    }
    long sum = 0;
    const long mine = 1;
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, comm);
    expect(sum == ranks_of(comm), "a blocking call meanwhile to be right, not %ld", sum);
    MPI_Waitall(number, requests.data(), MPI_STATUSES_IGNORE);
    for (auto& call : all) call->check();
  }
  std::shuffle(requests.begin(), requests.end(), own);
  for (MPI_Request& request : requests) MPI_Request_free(&request);
}

void declined(MPI_Comm world) {
  MPI_Comm comm = with_settings(world, {"allreduce_algorithm", "fallback", "alltoall_algorithm", "tra"});
  const Counter served("coll_topo_operations"), left("coll_topo_fallbacks");
  One first(comm, Kind::allreduce, 10, 0, false), second(comm, Kind::alltoall, 10, 0, false),
      third(comm, Kind::allreduce, 10, 0, false, 3);
  for (One* const call : {&first, &second, &third}) call->init();
  for (int round = 0; round < 5; ++round) {
    for (One* const call : {&third, &second, &first}) {
      call->fill();
      MPI_Start(call->request());
    }
    for (One* const call : {&second, &first, &third}) {
      MPI_Wait(call->request(), MPI_STATUS_IGNORE);
      call->check();
    }
  }
  for (One* const call : {&first, &second, &third}) MPI_Request_free(call->request());
  expect(left.since_made() == 2 && served.since_made() == 5, "2 declined and 5 starts served, not %llu and %llu",
         left.since_made(), served.since_made());
  MPI_Comm_free(&comm);
}

// Handles go, what they stand for stays until the request goes.
void handles_are_freed() {
  MPI_Comm comm = served_by_force(MPI_COMM_WORLD);
  const int ranks = ranks_of(comm), rank = rank_in(comm);
  MPI_Datatype every_second = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, 0, 2 * static_cast<MPI_Aint>(sizeof(int)), &every_second);
  MPI_Type_commit(&every_second);
  const auto all = static_cast<std::size_t>(ranks * 20);
  static std::vector<int> out, in;  // the last start may end at any time
  out.assign(2 * all, 0);
  in.assign(2 * all, 0);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_TEST_INIT(Alltoall)
  (out.data(), 20, every_second, in.data(), 20, every_second, comm, MPI_INFO_NULL, &request);
  MPI_Type_free(&every_second);
  MPI_Comm_free(&comm);
  for (int round = 0; round < 10; ++round) {
    std::fill(in.begin(), in.end(), -5);
    for (std::size_t i = 0; i < all; ++i) out[2 * i] = value(rank, static_cast<int>(i) / 20, i % 20) + round;
    MPI_Start(&request);
    int done = 0;
    while (done == 0) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    for (std::size_t i = 0; i < 2 * all; ++i) {
      const int wanted = i % 2 == 0 ? value(static_cast<int>(i / 40), rank, i / 2 % 20) + round : -5;
      expect(in[i] == wanted, "%d at %zu of round %d, not %d", wanted, i, round, in[i]);
    }
  }
  MPI_Start(&request);
  MPI_Request_free(&request);  // forbidden while it is active; it ends all the same
  MPI_Barrier(MPI_COMM_WORLD);
}

void progress_until_nothing_is_registered(int before) {
  int found = 0;
  for (int i = 0; i < 10 && registered != before; ++i)
    MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
}

// Of non-blocking calls each is like the one before.
void nothing_is_allocated(MPI_Comm comm, Kind kind, std::size_t count, bool persistent) {
  One call(comm, kind, count, 0, false);
  if (persistent) call.init();
  const int starts = ranks_of(comm) > 4 ? 1000 : 10000;
  // Ranks that run ahead would have Open MPI keep their messages until they are wanted.
  const auto rounds = [&](int number) {
    for (int i = 0; i < number; ++i) {
      if (persistent)
        MPI_Start(call.request());
      else
        call.start();
      MPI_Wait(call.request(), MPI_STATUS_IGNORE);
      if (i % 20 == 0) MPI_Barrier(comm);
    }
  };
  rounds(starts / 10);  // Open MPI's lists of requests grow
  allocations = 0;
  counting = true;
  rounds(starts);
  counting = false;
  // Those lists may once more, by chance; what every start did would show ten thousand times.
  expect(allocations <= 20, "nothing allocated in %d %s of kind %d, but %ld times", starts,
         persistent ? "starts" : "calls", static_cast<int>(kind), allocations.load());
  call.check();
  if (persistent) MPI_Request_free(call.request());
}

void idle_has_no_progress_function(MPI_Comm comm) {
  progress_until_nothing_is_registered(0);
  One warm(comm, Kind::allreduce, 4, 0, false);
  warm.start();
  MPI_Wait(warm.request(), MPI_STATUS_IGNORE);
  MPI_Barrier(comm);
  int found = 0;
  for (int i = 0; i < 100; ++i) MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  const int idle = registered;
  One call(comm, Kind::alltoall, 30000, 0, false);
  call.init();
  expect(registered == idle, "no progress function by a request that is not begun: %d, not %d", registered, idle);
  MPI_Start(call.request());
  const int under_way = registered;
  MPI_Wait(call.request(), MPI_STATUS_IGNORE);
  expect(under_way <= idle + 1, "one progress function at most for what is under way, not %d", under_way - idle);
  progress_until_nothing_is_registered(idle);
  expect(registered == idle, "none when nothing is under way, not %d", registered - idle);
  std::vector<std::unique_ptr<One>> all;
  for (int i = 0; i < 50; ++i) {
    all.push_back(std::make_unique<One>(comm, Kind::alltoall, 3000, 0, false, i));
    all.back()->start();
  }
  expect(registered <= idle + 1, "one progress function for 50 calls under way, not %d", registered - idle);
  if (rank_in(comm) == 0) expect(registered == idle + 1, "it to be registered while 50 calls are under way");
  for (auto& one : all) MPI_Wait(one->request(), MPI_STATUS_IGNORE);
  progress_until_nothing_is_registered(idle);
  expect(registered == idle, "none after that, not %d", registered - idle);
  call.check();
  MPI_Request_free(call.request());
}

}  // namespace

int main(int argc, char** argv) {
  mpi_test::Job job(&argc, &argv);
  MPI_Comm comm = served_by_force(MPI_COMM_WORLD);
  every_call(comm);
  all_together(comm);
  declined(MPI_COMM_WORLD);
  handles_are_freed();
  for (const Kind kind : k_kinds) nothing_is_allocated(comm, kind, kind == Kind::alltoall ? 3 : 1, true);
  nothing_is_allocated(comm, Kind::allreduce, 5000, true);
  for (const Kind kind : {Kind::allreduce, Kind::alltoall, Kind::bcast})
    nothing_is_allocated(comm, kind, kind == Kind::alltoall ? 3 : 1, false);
  idle_has_no_progress_function(comm);
  MPI_Comm_free(&comm);
  return job.verdict();
}
