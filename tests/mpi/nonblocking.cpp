// Non-blocking collectives: every call in every form against values computed by hand, completed in any order, among
// blocking calls and calls that are declined, a thousand at once, on duplicates that are freed meanwhile.
#include <algorithm>
#include <deque>
#include <memory>
#include <numeric>
#include <random>

#include "calls.h"

namespace {

using namespace mpi_test;

// The first call of a communicator comes back although nobody else has made it.
void first_call_comes_back() {
  MPI_Comm comm = served_by_force(MPI_COMM_WORLD);
  const int rank = rank_in(comm), ranks = ranks_of(comm), last = ranks - 1;
  int token = 0;
  if (rank == last) MPI_Recv(&token, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const Counter served("coll_topo_operations");
  One call(comm, Kind::allreduce, 3, 1, false);
  call.start();
  if (rank == 0) {
    int done = -1;
    MPI_Test(call.request(), &done, MPI_STATUS_IGNORE);
    expect(done == 0, "the first call not to be over before all ranks have made it");
    MPI_Send(&token, 1, MPI_INT, last, 5, MPI_COMM_WORLD);
  }
  MPI_Wait(call.request(), MPI_STATUS_IGNORE);
  call.check();
  expect(served.since_made() == 1, "the first call served, not %llu", served.since_made());
  MPI_Comm_free(&comm);
}

void every_call(MPI_Comm comm) {
  const Counter served("coll_topo_operations"), left("coll_topo_fallbacks");
  unsigned long long calls = 0;
  for (const Kind kind : k_kinds) {
    for (const std::size_t count : {1u, 6u, 300u, 20000u}) {
      for (const bool in_place : {false, true}) {
        for (int root = 0; root < (is_rooted(kind) ? ranks_of(comm) : 1); ++root) {
          One call(comm, kind, count, root, in_place);
          call.start();
          MPI_Wait(call.request(), MPI_STATUS_IGNORE);
          expect(*call.request() == MPI_REQUEST_NULL, "no request after the wait");
          call.check();
          ++calls;
        }
      }
    }
  }
  expect(served.since_made() == calls, "%llu non-blocking calls served, not %llu", calls, served.since_made());
  expect(left.since_made() == 0, "none left to the next component, not %llu", left.since_made());
}

void no_data(MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  int buffer[64] = {7};
  MPI_Ialltoall(buffer, 0, MPI_INT, buffer + 32, 0, MPI_INT, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Iallreduce(buffer, buffer + 32, 0, MPI_INT, MPI_SUM, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Ibcast(buffer, 0, MPI_INT, 0, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(buffer[0] == 7, "nothing changed by calls without data");
}

// Blocking calls, calls that libnbc serves and calls that are declined come between; ranks complete in orders of their
// own, by any of MPI's functions.
void any_order(MPI_Comm comm, int seed, int calls) {
  std::mt19937 same(static_cast<unsigned>(seed)), own(static_cast<unsigned>(seed * 1000 + rank_in(comm)));
  const int ranks = ranks_of(comm);
  std::vector<std::unique_ptr<One>> all;
  std::vector<MPI_Request> barriers;
  for (int i = 0; i < calls; ++i) {
    const Kind kind = k_kinds[same() % std::size(k_kinds)];
    const std::size_t count = std::size_t{1} << same() % 12;
    const int root = static_cast<int>(same() % static_cast<unsigned>(ranks));
    all.push_back(std::make_unique<One>(comm, kind, count, root, same() % 4 == 0, i));
    all.back()->start();
    switch (same() % 6) {
      case 0:
        barriers.emplace_back();
        MPI_Ibarrier(comm, &barriers.back());
        break;
      case 1: {
        long sum = 0;
        const long mine = rank_in(comm) + i;
        MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, comm);
        expect(sum == static_cast<long>(ranks) * (ranks - 1) / 2 + static_cast<long>(ranks) * i,
               "a sum among requests, not %ld", sum);
        break;
      }
      case 2: {
        int done = 0;
        MPI_Test(all[own() % all.size()]->request(), &done, MPI_STATUS_IGNORE);
        break;
      }
      default:
        break;
    }
  }
  std::vector<MPI_Request> requests;
  for (auto& call : all) requests.push_back(*call->request());
  std::shuffle(requests.begin(), requests.end(), own);
  const int number = static_cast<int>(requests.size());
  std::vector<int> indices(requests.size());
  int left = number;
  while (left > 0) {
    int done = 0, index = 0;
    switch (own() % 5) {
      case 0:
        MPI_Waitany(number, requests.data(), &index, MPI_STATUS_IGNORE);
        left = index == MPI_UNDEFINED ? 0 : left;
        break;
      case 1:
        MPI_Testsome(number, requests.data(), &done, indices.data(), MPI_STATUSES_IGNORE);
        left = done == MPI_UNDEFINED ? 0 : left;
        break;
      case 2:
        MPI_Testany(number, requests.data(), &index, &done, MPI_STATUS_IGNORE);
        left = done != 0 && index == MPI_UNDEFINED ? 0 : left;
        break;
      case 3:
        MPI_Wait(&requests[own() % requests.size()], MPI_STATUS_IGNORE);
        break;
      default:
        MPI_Test(&requests[own() % requests.size()], &done, MPI_STATUS_IGNORE);
    }
  }
  MPI_Waitall(static_cast<int>(barriers.size()), barriers.data(), MPI_STATUSES_IGNORE);
  for (auto& call : all) call->check();
}

// Declined calls, known or not, between served ones: tags must agree though some ranks know sooner than others.
void declined_among_served(int round) {
  MPI_Comm comm = with_settings(MPI_COMM_WORLD, {"allreduce_algorithm", "fallback", "alltoall_algorithm", "tra",
                                                 "bcast_algorithm", "fallback", "allgather_algorithm", "ring"});
  const Counter left("coll_topo_fallbacks"), served("coll_topo_operations");
  std::vector<std::unique_ptr<One>> all;
  std::vector<MPI_Request> barriers;
  constexpr Kind k_some[] = {Kind::allreduce, Kind::alltoall, Kind::bcast, Kind::allgather, Kind::allreduce};
  std::mt19937 own(static_cast<unsigned>(17 * rank_in(comm) + round));
  for (int i = 0; i < 40; ++i) {
    all.push_back(std::make_unique<One>(comm, k_some[i % 5], static_cast<std::size_t>(1 + i % 3), 0, false, i));
    all.back()->start();
    // Some ranks look, others do not: turns end at different calls.
    int done = 0;
    if (own() % 2 == 0) MPI_Test(all.back()->request(), &done, MPI_STATUS_IGNORE);
    barriers.emplace_back();
    MPI_Ibarrier(comm, &barriers.back());
  }
  MPI_Waitall(static_cast<int>(barriers.size()), barriers.data(), MPI_STATUSES_IGNORE);
  for (auto call = all.rbegin(); call != all.rend(); ++call) {
    MPI_Wait((*call)->request(), MPI_STATUS_IGNORE);
    (*call)->check();
  }
  expect(left.since_made() == 24, "24 calls declined, not %llu", left.since_made());
  expect(served.since_made() == 16, "16 calls served, not %llu", served.since_made());
  MPI_Comm_free(&comm);
}

void derived_datatypes_are_kept(MPI_Comm comm) {
  const int rank = rank_in(comm), ranks = ranks_of(comm);
  constexpr int k_block = 50;
  MPI_Datatype every_second = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, 0, 2 * static_cast<MPI_Aint>(sizeof(int)), &every_second);
  MPI_Type_commit(&every_second);
  MPI_Op sum_of_them = MPI_OP_NULL;
  MPI_Op_create(
      [](void* in, void* inout, int* count, MPI_Datatype*) {
        for (int i = 0; i < *count; ++i) static_cast<int*>(inout)[2 * i] += static_cast<int*>(in)[2 * i];
      },
      1, &sum_of_them);
  const auto all = static_cast<std::size_t>(ranks * k_block);
  std::vector<int> out(2 * all), in(2 * all, -5), vector(2 * k_block), sums(2 * k_block, -5);
  for (std::size_t i = 0; i < all; ++i) out[2 * i] = value(rank, static_cast<int>(i) / k_block, i % k_block);
  for (int i = 0; i < k_block; ++i) vector[static_cast<std::size_t>(2 * i)] = rank + i;
  const Counter served("coll_topo_operations");
  MPI_Request requests[2];
  MPI_Ialltoall(out.data(), k_block, every_second, in.data(), k_block, every_second, comm, &requests[0]);
  MPI_Iallreduce(vector.data(), sums.data(), k_block, every_second, sum_of_them, comm, &requests[1]);
  MPI_Type_free(&every_second);
  MPI_Op_free(&sum_of_them);
  // Something else where they were.
  std::vector<MPI_Datatype> others(20, MPI_DATATYPE_NULL);
  for (MPI_Datatype& type : others) {
    MPI_Type_contiguous(3, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
  }
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (std::size_t i = 0; i < 2 * all; ++i) {
    const auto at = static_cast<int>(i / 2);
    const int wanted = i % 2 == 0 ? value(at / k_block, rank, i / 2 % k_block) : -5;
    expect(in[i] == wanted, "%d at %zu of an ialltoall with gaps, not %d", wanted, i, in[i]);
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const int wanted = i % 2 == 0 ? ranks * (ranks - 1) / 2 + ranks * static_cast<int>(i / 2) : -5;
    expect(sums[i] == wanted, "%d at %zu of an iallreduce with gaps, not %d", wanted, i, sums[i]);
  }
  expect(served.since_made() == 2, "both served, not %llu", served.since_made());
  for (MPI_Datatype& type : others) MPI_Type_free(&type);
}

void a_thousand_at_once(MPI_Comm comm) {
  const Counter served("coll_topo_operations");
  std::vector<std::unique_ptr<One>> all;
  for (int i = 0; i < 1000; ++i) {
    all.push_back(std::make_unique<One>(comm, k_kinds[static_cast<std::size_t>(i) % std::size(k_kinds)],
                                        static_cast<std::size_t>(1 + i % 5), 0, false, i));
    all.back()->start();
  }
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), 0u);
  std::shuffle(order.begin(), order.end(), std::mt19937(static_cast<unsigned>(rank_in(comm))));
  for (const std::size_t i : order) MPI_Wait(all[i]->request(), MPI_STATUS_IGNORE);
  for (auto& call : all) call->check();
  expect(served.since_made() == 1000, "a thousand served, not %llu", served.since_made());
}

// Requests of calls alike serve each other: with other buffers, in place or not, while some of them are under way, and
// with calls of new sizes between them, whose turns make ranks forget.
void like_those_before(MPI_Comm comm) {
  const Counter served("coll_topo_operations"), left("coll_topo_fallbacks");
  constexpr int k_number = 400;
  std::deque<std::unique_ptr<One>> under_way;
  for (int i = 0; i < k_number; ++i) {
    const bool is_new = i % 37 == 36;
    const Kind kind = k_kinds[static_cast<std::size_t>(i / 2) % std::size(k_kinds)];
    under_way.push_back(
        std::make_unique<One>(comm, kind, is_new ? static_cast<std::size_t>(10 + i) : 4, i / 90, i % 4 == 1, i));
    under_way.back()->start();
    while (under_way.size() > static_cast<std::size_t>(i % 12)) {
      MPI_Wait(under_way.front()->request(), MPI_STATUS_IGNORE);
      under_way.front()->check();
      under_way.pop_front();
    }
  }
  for (auto& call : under_way) {
    MPI_Wait(call->request(), MPI_STATUS_IGNORE);
    call->check();
  }
  expect(served.since_made() == k_number, "%d served, not %llu", k_number, served.since_made());
  expect(left.since_made() == 0, "none left to the next component, not %llu", left.since_made());
}

// The communicator goes when its calls are over.
void freed_communicator() {
  for (int round = 0; round < 5; ++round) {
    MPI_Comm comm = served_by_force(MPI_COMM_WORLD);
    std::vector<std::unique_ptr<One>> all;
    for (int i = 0; i < 18; ++i) {
      all.push_back(
          std::make_unique<One>(comm, k_kinds[static_cast<std::size_t>(i) % std::size(k_kinds)], 100, 0, false, i));
      all.back()->start();
    }
    MPI_Comm other = MPI_COMM_NULL;
    MPI_Comm_dup(comm, &other);
    MPI_Comm_free(&comm);
    One last(other, Kind::allreduce, 10, 0, false);
    last.start();
    MPI_Comm_free(&other);
    for (auto call = all.rbegin(); call != all.rend(); ++call) {
      MPI_Wait((*call)->request(), MPI_STATUS_IGNORE);
      (*call)->check();
    }
    MPI_Wait(last.request(), MPI_STATUS_IGNORE);
    last.check();
  }
}

// MPI forbids it, and what is under way must end all the same.
void freed_while_active(MPI_Comm comm) {
  std::vector<std::unique_ptr<One>> all;
  for (int i = 0; i < 30; ++i) {
    all.push_back(std::make_unique<One>(comm, Kind::alltoall, 500, 0, false, i));
    all.back()->start();
    MPI_Request_free(all.back()->request());
    expect(*all.back()->request() == MPI_REQUEST_NULL, "no request after it is freed");
  }
  const double end = MPI_Wtime() + 20;
  int found = 0;
  while (MPI_Wtime() < end && !std::ranges::all_of(all, [](const auto& call) { return call->is_there(); }))
    MPI_Iprobe(MPI_ANY_SOURCE, 7, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);  // whoever still owes messages sends them here
  for (auto& call : all) call->check();
}

int handled = MPI_SUCCESS;
void handler(MPI_Comm*, int* code, ...) { MPI_Error_class(*code, &handled); }

void errors_come_through_the_request() {
  MPI_Comm comm = served_by_force(MPI_COMM_WORLD);
  const int rank = rank_in(comm);
  const bool is_short = rank == ranks_of(comm) - 1;
  for (const bool returns : {true, false}) {
    MPI_Errhandler errors = MPI_ERRORS_RETURN;
    if (!returns) MPI_Comm_create_errhandler(handler, &errors);
    MPI_Comm_set_errhandler(comm, errors);
    // Open MPI 4.1 asks this one's handler about every request of a collective.
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, errors);
    handled = MPI_SUCCESS;
    std::vector<int> buffer(20, -1);
    MPI_Request request = MPI_REQUEST_NULL;
    const int started = MPI_Ibcast(buffer.data(), is_short ? 10 : 20, MPI_INT, 0, comm, &request);
    expect(started == MPI_SUCCESS, "the call itself to succeed");
    int code = MPI_Wait(&request, MPI_STATUS_IGNORE), error_class = MPI_SUCCESS;
    MPI_Error_class(code, &error_class);
    expect(error_class == (is_short ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "the wait to say so, not class %d", error_class);
    if (!returns)
      expect(handled == (is_short ? MPI_ERR_TRUNCATE : MPI_SUCCESS), "the handler called, with %d", handled);
    if (is_short)
      for (std::size_t i = 10; i < 20; ++i) expect(buffer[i] == -1, "nothing behind the buffer, at %zu", i);
    if (!returns) MPI_Errhandler_free(&errors);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  One next(comm, Kind::alltoall, 5, 0, false);
  next.start();
  MPI_Wait(next.request(), MPI_STATUS_IGNORE);
  next.check();
  MPI_Comm_free(&comm);
}

// Open MPI's own calls have no turn: each step of MPI_Comm_idup is a non-blocking all-reduce, which progress begins.
void among_duplications(MPI_Comm comm) {
  const Counter served("coll_topo_operations"), left("coll_topo_fallbacks");
  for (int round = 0; round < 10; ++round) {
    MPI_Comm duplicate = MPI_COMM_NULL;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Comm_idup(comm, &duplicate, &request);
    long sum = 0, mine = rank_in(comm);
    for (int i = 0; i < 5; ++i) MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    One call(duplicate, Kind::allreduce, 3, 0, false);
    call.start();
    MPI_Wait(call.request(), MPI_STATUS_IGNORE);
    call.check();
    MPI_Comm_free(&duplicate);
  }
  expect(served.since_made() + left.since_made() <= 10 + 50, "only the program's own calls counted, not %llu and %llu",
         served.since_made(), left.since_made());
}

}  // namespace

int main(int argc, char** argv) {
  mpi_test::Job job(&argc, &argv);
  first_call_comes_back();
  MPI_Comm comm = served_by_force(MPI_COMM_WORLD);
  every_call(comm);
  no_data(comm);
  for (int seed = 1; seed <= 6; ++seed) any_order(comm, seed, 60);
  any_order(MPI_COMM_WORLD, 99, 40);  // as the model decides
  for (int round = 0; round < 4; ++round) declined_among_served(round);
  derived_datatypes_are_kept(comm);
  a_thousand_at_once(comm);
  like_those_before(comm);
  freed_communicator();
  freed_while_active(comm);
  errors_come_through_the_request();
  among_duplications(comm);
  MPI_Comm_free(&comm);
  return job.verdict();
}
