// What the component does with a call's data before and after the schedule: absolute addresses under MPI_BOTTOM, gaps
// that go out with the elements, blocks that need no packing, vectors too sparse to be sent whole.
#include <malloc.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstring>

#include "mpi_test.h"

namespace {

using namespace mpi_test;

// The ints that the operation in use adds, in bytes from an element's address, and what it found elsewhere in it.
std::vector<MPI_Aint> places;
std::vector<MPI_Aint> gaps;
int dirty_gaps = 0;

void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  MPI_Aint lower = 0, extent = 0;
  MPI_Type_get_extent(*type, &lower, &extent);
  for (int i = 0; i < *count; ++i) {
    char* const from = static_cast<char*>(in) + i * extent;
    char* const to = static_cast<char*>(inout) + i * extent;
    for (const MPI_Aint place : places) *reinterpret_cast<int*>(to + place) += *reinterpret_cast<int*>(from + place);
    for (const MPI_Aint gap : gaps) dirty_gaps += *reinterpret_cast<int*>(from + gap) != 0;
  }
}

// `stride` 1 or 2 ints: with or without gaps, at absolute addresses.
MPI_Datatype absolute(int* ints, int number, int stride) {
  places.clear();
  gaps.clear();
  const std::vector<int> lengths(static_cast<std::size_t>(number), 1);
  const std::vector<MPI_Datatype> types(lengths.size(), MPI_INT);
  for (int i = 0; i < number; ++i) {
    MPI_Aint place = 0;
    MPI_Get_address(ints + i * stride, &place);
    places.push_back(place);
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(number, lengths.data(), places.data(), types.data(), &type);
  MPI_Type_commit(&type);
  return type;
}

void reductions_into_bottom(MPI_Comm comm, MPI_Op op, int stride) {
  const int rank = rank_in(comm), ranks = ranks_of(comm), root = ranks - 1;
  const int ranks_sum = ranks * (ranks - 1) / 2;
  std::vector<int> ints(8);
  MPI_Datatype type = absolute(ints.data(), 4, stride);
  const auto fill = [&] {
    for (int i = 0; i < 8; ++i) ints[static_cast<std::size_t>(i)] = rank + i;
  };
  const auto check = [&](const char* what, bool reduced) {
    for (int i = 0; i < 8; ++i) {
      const bool is_data = i % stride == 0 && i / stride < 4;
      const int wanted = reduced && is_data ? ranks_sum + ranks * i : rank + i;
      expect(ints[static_cast<std::size_t>(i)] == wanted, "%d from %s with stride %d at %d, not %d", wanted, what,
             stride, i, ints[static_cast<std::size_t>(i)]);
    }
  };
  const Counter served("coll_topo_calls");
  fill();
  MPI_Allreduce(MPI_IN_PLACE, MPI_BOTTOM, 1, type, op, comm);
  check("allreduce", true);
  fill();
  MPI_Reduce(rank == root ? MPI_IN_PLACE : MPI_BOTTOM, MPI_BOTTOM, 1, type, op, root, comm);
  check("reduce", rank == root);
  expect(served.since_made() == 2, "both reductions into MPI_BOTTOM served, not %llu", served.since_made());
  MPI_Type_free(&type);
}

// Fresh memory is not 0 here, so neither are gaps that nobody has written.
void gaps_have_a_value(MPI_Comm comm, MPI_Op op) {
  const int rank = rank_in(comm), ranks = ranks_of(comm);
  places = {0};
  gaps = {static_cast<MPI_Aint>(sizeof(int))};
  dirty_gaps = 0;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, 0, 2 * static_cast<MPI_Aint>(sizeof(int)), &type);
  MPI_Type_commit(&type);
  std::vector<int> in(2000), out(2000, -1);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = i % 2 == 0 ? rank + static_cast<int>(i) : 77;
  const Counter served("coll_topo_calls");
  MPI_Allreduce(in.data(), out.data(), 1000, type, op, comm);
  expect(served.since_made() == 1, "a datatype half of which is data served");
  expect(dirty_gaps == 0, "no gap with old memory in it, not %d", dirty_gaps);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const int wanted = i % 2 == 0 ? ranks * (ranks - 1) / 2 + ranks * static_cast<int>(i) : -1;
    expect(out[i] == wanted, "%d at %zu, not %d", wanted, i, out[i]);
  }
  gaps.clear();
  MPI_Type_free(&type);
}

void sparse_vectors_are_left(MPI_Comm comm, MPI_Op op) {
  const int rank = rank_in(comm), ranks = ranks_of(comm);
  constexpr int k_elements = 100, k_stride = 10;
  places.clear();
  for (int i = 0; i < k_elements; ++i) places.push_back(i * k_stride * static_cast<MPI_Aint>(sizeof(int)));
  MPI_Datatype column = MPI_DATATYPE_NULL;
  MPI_Type_vector(k_elements, 1, k_stride, MPI_INT, &column);
  MPI_Type_commit(&column);
  std::vector<int> in(k_elements * k_stride, rank), out(in.size(), -1);
  const Counter served("coll_topo_calls"), left("coll_topo_fallbacks");
  for (int call = 0; call < 3; ++call) {
    MPI_Allreduce(in.data(), out.data(), 1, column, op, comm);
    for (std::size_t i = 0; i < out.size(); ++i) {
      const int wanted = i % k_stride == 0 ? ranks * (ranks - 1) / 2 : -1;
      expect(out[i] == wanted, "%d in a column's place %zu, not %d", wanted, i, out[i]);
    }
  }
  expect(served.since_made() == 0 && left.since_made() == 3,
         "columns left to the next component, whole or not: %llu served, %llu left", served.since_made(),
         left.since_made());
  MPI_Type_free(&column);
}

// A page is noted when it is touched first, and whether by reading.
char* pages = nullptr;
std::size_t page_bytes = 0;
std::vector<signed char> first_touch;  // 0: none, 1: read, 2: written

void note_touch(int, siginfo_t* info, void* context) {
  const auto at = static_cast<std::size_t>(static_cast<char*>(info->si_addr) - pages) / page_bytes;
  if (at >= first_touch.size()) _exit(139);
#ifdef REG_ERR
  const bool writes = (static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
  const bool writes = context != nullptr;  // other processors do not say
#endif
  first_touch[at] = writes ? 2 : 1;
  mprotect(pages + at * page_bytes, page_bytes, PROT_READ | PROT_WRITE);
}

void allgather_packs_its_own_block(MPI_Comm comm) {
  const auto rank = static_cast<std::size_t>(rank_in(comm)), ranks = static_cast<std::size_t>(ranks_of(comm));
  page_bytes = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  const std::size_t ints = page_bytes / sizeof(int);  // of a block, every second one data
  pages =
      static_cast<char*>(mmap(nullptr, ranks * page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  int* const all = reinterpret_cast<int*>(pages);
  MPI_Datatype every_second = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, 0, 2 * static_cast<MPI_Aint>(sizeof(int)), &every_second);
  MPI_Type_commit(&every_second);
  for (std::size_t i = 0; i < ints; i += 2) all[rank * ints + i] = value(static_cast<int>(rank), 0, i);
  first_touch.assign(ranks, 0);
  mprotect(pages, ranks * page_bytes, PROT_NONE);
  struct sigaction action {
  }, before{};
  action.sa_sigaction = note_touch;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGSEGV, &action, &before);
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all, static_cast<int>(ints / 2), every_second, comm);
  sigaction(SIGSEGV, &before, nullptr);
  for (std::size_t from = 0; from < ranks; ++from) {
    expect(first_touch[from] == (from == rank ? 1 : 2), "block %zu %s first", from, from == rank ? "read" : "written");
    for (std::size_t i = 0; i < ints; i += 2)
      expect(all[from * ints + i] == value(static_cast<int>(from), 0, i), "rank %zu's value at %zu", from, i);
  }
  munmap(pages, ranks * page_bytes);
  MPI_Type_free(&every_second);
}

}  // namespace

int main(int argc, char** argv) {
  mallopt(M_PERTURB, 0xA5);
  mpi_test::Job job(&argc, &argv);
  MPI_Comm comm = with_settings(
      MPI_COMM_WORLD, {"allreduce_algorithm", "ring", "reduce_algorithm", "binomial", "allgather_algorithm", "ring"});
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(add, 1, &op);
  reductions_into_bottom(comm, op, 1);
  reductions_into_bottom(comm, op, 2);
  gaps_have_a_value(comm, op);
  sparse_vectors_are_left(comm, op);
  allgather_packs_its_own_block(comm);
  MPI_Op_free(&op);
  MPI_Comm_free(&comm);
  return job.verdict();
}
