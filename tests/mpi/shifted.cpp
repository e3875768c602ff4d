// Reductions of datatypes whose first byte is not at their own address, which stock Open MPI gets wrong
// (docs/open-mpi.md has the table): `shifted shifted CALL FORM COUNT...`, as described.cpp is told its rows. Elements
// are far above their address and far below it, so that whoever looks for them in the wrong place finds no memory;
// without gaps, with gaps, and within each other. Every int of the output is looked at on all ranks, in place and not,
// in a first call and in later ones.
#include <algorithm>
#include <cstring>

#include "form.h"
#include "mpi_test.h"

namespace {

using namespace mpi_test;

constexpr MPI_Aint k_far = MPI_Aint{1} << 40;  // bytes
constexpr std::size_t k_per_element = 2;       // ints

/// Elements of two ints, `step` ints apart from each other, in elements of `extent` ints.
struct Layout {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Aint shift = 0;
  std::size_t step = 1, extent = 2;

  std::size_t at(std::size_t i) const { return i / k_per_element * extent + i % k_per_element * step; }
  std::size_t room(std::size_t count) const { return count == 0 ? 0 : at(k_per_element * count - 1) + 1; }
};

Layout layout_of(MPI_Aint shift, std::size_t step, std::size_t extent) {
  Layout layout{MPI_DATATYPE_NULL, shift, step, extent};
  const MPI_Aint places[] = {shift, shift + static_cast<MPI_Aint>(step * sizeof(int))};
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed_block(k_per_element, 1, places, MPI_INT, &made);
  MPI_Type_create_resized(made, shift, static_cast<MPI_Aint>(extent * sizeof(int)), &layout.type);
  MPI_Type_free(&made);
  MPI_Type_commit(&layout.type);
  return layout;
}

/// Of the call that is under way.
const Layout* now = nullptr;

void add(void* in, void* inout, int* count, MPI_Datatype*) {
  for (std::size_t i = 0; i < k_per_element * static_cast<std::size_t>(*count); ++i) {
    const auto place = now->shift + static_cast<MPI_Aint>(now->at(i) * sizeof(int));
    int one = 0, other = 0;
    std::memcpy(&one, static_cast<char*>(in) + place, sizeof one);
    std::memcpy(&other, static_cast<char*>(inout) + place, sizeof other);
    other += one;
    std::memcpy(static_cast<char*>(inout) + place, &other, sizeof other);
  }
}

void run(const std::string& call, const std::string& form, const void* in, void* out, int count, MPI_Op op, int root,
         MPI_Comm comm) {
  if (call == "allreduce") {
    IN_FORM(form, comm, Allreduce, Iallreduce, in, out, count, now->type, op);
  } else {
    IN_FORM(form, comm, Reduce, Ireduce, in, out, count, now->type, op, root);
  }
}

/// The address by which MPI finds elements that begin at `first`.
void* address_of(std::vector<int>& first, const Layout& layout) {
  return reinterpret_cast<void*>(reinterpret_cast<MPI_Aint>(first.data()) - layout.shift);
}

void reduce(const Layout& layout, const std::string& call, const std::string& form, MPI_Comm comm, std::size_t count,
            MPI_Op op, int turn) {
  const int rank = rank_in(comm), ranks = ranks_of(comm), root = turn % ranks;
  // A persistent call is started twice.
  const bool in_place = turn % 2 == 1 && form != "persistent", receives = call != "reduce" || rank == root;
  std::vector<int> input(layout.room(count), -1), output(layout.room(count), -2);
  for (std::size_t i = 0; i < k_per_element * count; ++i) input[layout.at(i)] = value(rank, turn, i);
  if (in_place && receives) output = input;
  std::vector<int> wanted = output;
  for (std::size_t i = 0; i < k_per_element * count && receives; ++i) {
    int& sum = wanted[layout.at(i)] = 0;
    for (int from = 0; from < ranks; ++from) sum += value(from, turn, i);
  }
  now = &layout;
  run(call, form, in_place && receives ? MPI_IN_PLACE : address_of(input, layout),
      receives ? address_of(output, layout) : nullptr, static_cast<int>(count), op, root, comm);
  expect(output == wanted, "sums of %zu elements %td bytes away, %zu ints apart, in turn %d", count, layout.shift,
         layout.extent, turn);
}

}  // namespace

int main(int argc, char** argv) {
  mpi_test::Job job(&argc, &argv);
  if (argc < 4) return 2;
  const std::string call = argv[2], form = argv[3];
  MPI_Comm comm = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(add, 1, &op);
  for (int i = 4; i < argc; ++i) {
    const std::size_t count = std::stoul(argv[i]);
    for (const MPI_Aint shift : {k_far, -k_far}) {
      // Within each other: a column of a matrix.
      Layout layouts[] = {layout_of(shift, 1, 2), layout_of(shift, 2, 4), layout_of(shift, count + 1, 1)};
      for (Layout& layout : layouts) {
        for (int turn = 0; turn < 4; ++turn) reduce(layout, call, form, comm, count, op, turn);
        MPI_Type_free(&layout.type);
      }
    }
  }
  MPI_Op_free(&op);
  MPI_Comm_free(&comm);
  return job.verdict();
}
