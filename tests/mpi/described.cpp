// The same data, described in other ways on other ranks; much of it stock Open MPI gets wrong (docs/open-mpi.md has the
// table). `described MODE CALL FORM [INTS...]`, where CALL is a name in lower case (alltoallv, neighbor_allgather) and
// FORM blocking, nonblocking or persistent.
//   types    types of 4, 8, 20 and 24 bytes, with gaps and without, on ranks and sides by turns; RANGE: large for
//   blocks
//            that are segmented on their way
//   overlap  what is sent lies in elements that share places, or whose extent is below their true extent
//   empty    no data is elements of an empty type on some ranks and none of a plain type on others
//   in_place alltoallv and alltoallw with MPI_IN_PLACE, blocks of another length for each pair
//   circle   neighbor_alltoall on a circle of two ranks, where one neighbour is both
// Every element and every gap is looked at on all ranks, in a first call and in later ones.
#include <cstring>
#include <numeric>

#include "form.h"
#include "mpi_test.h"

namespace {

using namespace mpi_test;

/// A block: `count` elements of a type, and where each int of the data lies, in ints from the block's beginning.
struct Layout {
  MPI_Datatype type = MPI_INT;
  int count = 0;
  std::vector<std::size_t> at;
  std::size_t stride = 0;  // ints from one block to the next
  std::size_t room = 0;    // ints that a block reaches over
};

Layout of_elements(MPI_Datatype made_of, std::size_t elements, const std::vector<std::size_t>& ints,
                   std::size_t extent) {
  Layout layout;
  MPI_Type_create_resized(made_of, 0, static_cast<MPI_Aint>(extent * sizeof(int)), &layout.type);
  MPI_Type_commit(&layout.type);
  MPI_Type_free(&made_of);
  layout.count = static_cast<int>(elements);
  for (std::size_t element = 0; element < elements; ++element) {
    for (const std::size_t place : ints) layout.at.push_back(element * extent + place);
  }
  layout.stride = elements * extent;
  for (const std::size_t place : layout.at) layout.room = std::max(layout.room, place + 1);
  return layout;
}

std::vector<std::size_t> row(std::size_t ints, std::size_t step) {
  std::vector<std::size_t> places(ints);
  for (std::size_t i = 0; i < ints; ++i) places[i] = i * step;
  return places;
}

/// `per` ints of an element, `step` apart from each other, in elements of `extent`.
Layout spread(std::size_t ints, std::size_t per, std::size_t step, std::size_t extent) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_vector(static_cast<int>(per), 1, static_cast<int>(step), MPI_INT, &made);
  return of_elements(made, ints / per, row(per, step), extent);
}

/// One element whose second half begins in the middle of its first.
Layout folded(std::size_t ints) {
  const int half = static_cast<int>(ints / 2);
  const int lengths[] = {half, half}, places[] = {0, half / 2};
  MPI_Datatype made = MPI_DATATYPE_NULL;
  MPI_Type_indexed(2, lengths, places, MPI_INT, &made);
  std::vector<std::size_t> at = row(ints / 2, 1);
  for (std::size_t i = 0; i < ints / 2; ++i) at.push_back(ints / 4 + i);
  return of_elements(made, 1, at, ints);
}

enum class Mode { types, overlap };

/// 30 ints and multiples of them.
Layout layout_of(Mode mode, int kind, std::size_t ints, bool may_overlap) {
  if (mode == Mode::types) {
    if (kind % 4 == 0) return spread(ints, 1, 1, 1);
    if (kind % 4 == 1) return spread(ints, 2, 1, 3);
    if (kind % 4 == 2) return spread(ints, 6, 1, 6);
    return spread(ints, 5, 2, 10);
  }
  if (kind % 4 == 0 || (kind % 4 != 1 && !may_overlap)) return spread(ints, 1, 1, 1);
  if (kind % 4 == 1) return spread(ints, ints, 1, 1);
  if (kind % 4 == 2) return spread(ints, ints / 2, 1, 1);
  return folded(ints);
}

int content(int rank, std::size_t place) { return value(rank, 0, place) + static_cast<int>(place / 997); }

struct Arguments {
  MPI_Comm comm = MPI_COMM_WORLD;
  int root = 0;
  struct Side {
    void* buffer = nullptr;
    int count = 0;
    MPI_Datatype type = MPI_INT;
    std::vector<int> counts, places, bytes;
    std::vector<MPI_Aint> far_bytes;
    std::vector<MPI_Datatype> types;
  } in, out;
};

/// False: there is no such call.
bool call_even(const std::string& call, const std::string& form, const Arguments& a) {
  const auto &in = a.in, &out = a.out;
  if (call == "bcast") {
    IN_FORM(form, a.comm, Bcast, Ibcast, out.buffer, out.count, out.type, a.root);
  } else if (call == "allgather") {
    IN_FORM(form, a.comm, Allgather, Iallgather, in.buffer, in.count, in.type, out.buffer, out.count, out.type);
  } else if (call == "alltoall") {
    IN_FORM(form, a.comm, Alltoall, Ialltoall, in.buffer, in.count, in.type, out.buffer, out.count, out.type);
  } else if (call == "gather") {
    IN_FORM(form, a.comm, Gather, Igather, in.buffer, in.count, in.type, out.buffer, out.count, out.type, a.root);
  } else if (call == "scatter") {
    IN_FORM(form, a.comm, Scatter, Iscatter, in.buffer, in.count, in.type, out.buffer, out.count, out.type, a.root);
  } else if (call == "neighbor_allgather") {
    IN_FORM(form, a.comm, Neighbor_allgather, Ineighbor_allgather, in.buffer, in.count, in.type, out.buffer, out.count,
            out.type);
  } else if (call == "neighbor_alltoall") {
    IN_FORM(form, a.comm, Neighbor_alltoall, Ineighbor_alltoall, in.buffer, in.count, in.type, out.buffer, out.count,
            out.type);
  } else {
    return false;
  }
  return true;
}

bool call_uneven(const std::string& call, const std::string& form, const Arguments& a) {
  const auto &in = a.in, &out = a.out;
  if (call == "allgatherv") {
    IN_FORM(form, a.comm, Allgatherv, Iallgatherv, in.buffer, in.count, in.type, out.buffer, out.counts.data(),
            out.places.data(), out.type);
  } else if (call == "gatherv") {
    IN_FORM(form, a.comm, Gatherv, Igatherv, in.buffer, in.count, in.type, out.buffer, out.counts.data(),
            out.places.data(), out.type, a.root);
  } else if (call == "scatterv") {
    IN_FORM(form, a.comm, Scatterv, Iscatterv, in.buffer, in.counts.data(), in.places.data(), in.type, out.buffer,
            out.count, out.type, a.root);
  } else if (call == "alltoallv") {
    IN_FORM(form, a.comm, Alltoallv, Ialltoallv, in.buffer, in.counts.data(), in.places.data(), in.type, out.buffer,
            out.counts.data(), out.places.data(), out.type);
  } else if (call == "alltoallw") {
    IN_FORM(form, a.comm, Alltoallw, Ialltoallw, in.buffer, in.counts.data(), in.bytes.data(), in.types.data(),
            out.buffer, out.counts.data(), out.bytes.data(), out.types.data());
  } else if (call == "neighbor_allgatherv") {
    IN_FORM(form, a.comm, Neighbor_allgatherv, Ineighbor_allgatherv, in.buffer, in.count, in.type, out.buffer,
            out.counts.data(), out.places.data(), out.type);
  } else if (call == "neighbor_alltoallv") {
    IN_FORM(form, a.comm, Neighbor_alltoallv, Ineighbor_alltoallv, in.buffer, in.counts.data(), in.places.data(),
            in.type, out.buffer, out.counts.data(), out.places.data(), out.type);
  } else if (call == "neighbor_alltoallw") {
    IN_FORM(form, a.comm, Neighbor_alltoallw, Ineighbor_alltoallw, in.buffer, in.counts.data(), in.far_bytes.data(),
            in.types.data(), out.buffer, out.counts.data(), out.far_bytes.data(), out.types.data());
  } else {
    return false;
  }
  return true;
}

bool begins_with(const std::string& text, const char* beginning) { return text.rfind(beginning, 0) == 0; }

/// A duplicate of the world, or the graph in which everybody is everybody's neighbour.
MPI_Comm communicator_for(const std::string& call) {
  MPI_Comm comm = MPI_COMM_NULL;
  if (!begins_with(call, "neighbor")) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    return comm;
  }
  std::vector<int> all(static_cast<std::size_t>(ranks_of(MPI_COMM_WORLD)));
  std::iota(all.begin(), all.end(), 0);
  const int ranks = static_cast<int>(all.size());
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ranks, all.data(), MPI_UNWEIGHTED, ranks, all.data(), MPI_UNWEIGHTED,
                                 MPI_INFO_NULL, 0, &comm);
  return comm;
}

bool run(const std::string& call, const std::string& form, const Arguments& a) {
  if (call_even(call, form, a) || call_uneven(call, form, a)) return true;
  expect(false, "a call named %s", call.c_str());
  return false;
}

/// How many blocks a rank gives and gets; 0: none.
struct Shape {
  std::size_t in, out;
};
Shape shape_of(const std::string& call, bool is_root, std::size_t ranks) {
  if (call == "bcast") return {0, 1};
  if (begins_with(call, "gather")) return {1, is_root ? ranks : 0};
  if (begins_with(call, "scatter")) return {is_root ? ranks : 0, 1};
  return {call.find("alltoall") == std::string::npos ? 1 : ranks, ranks};
}

void describe(Arguments::Side* side, const Layout& layout, std::size_t ranks, std::vector<int>* buffer) {
  side->buffer = buffer->data();
  side->count = layout.count;
  side->type = layout.type;
  side->counts.assign(ranks, layout.count);
  side->types.assign(ranks, layout.type);
  for (std::size_t block = 0; block < ranks; ++block) {
    side->places.push_back(static_cast<int>(block) * layout.count);
    side->bytes.push_back(static_cast<int>(block * layout.stride * sizeof(int)));
    side->far_bytes.push_back(side->bytes.back());
  }
}

std::size_t room_for(const Layout& layout, std::size_t blocks) {
  return blocks == 0 ? 1 : (blocks - 1) * layout.stride + layout.room + 3;
}

/// Data of `ints` ints a block; which layouts ranks have moves on with `turn`.
void exchange(Mode mode, const std::string& call, const std::string& form, MPI_Comm comm, std::size_t ints, int turn) {
  const int rank = rank_in(comm), root = turn * 4 % ranks_of(comm);
  const auto ranks = static_cast<std::size_t>(ranks_of(comm));
  const Shape shape = shape_of(call, rank == root, ranks);
  const auto given = [&](int from) { return layout_of(mode, from + turn, ints, shape.in == 1 && call != "bcast"); };
  const auto taken = [&](int to) {
    return layout_of(mode == Mode::overlap && shape.out > 1 ? Mode::types : mode,
                     mode == Mode::types ? to * 3 + 1 + turn : to + turn, ints, false);
  };
  const bool is_source = call == "bcast" && rank == root;
  Layout sent = given(rank), received = taken(rank);
  std::vector<int> input(room_for(sent, shape.in)), output(room_for(received, shape.out), -1);
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = content(rank, i);
  for (std::size_t i = 0; is_source && i < output.size(); ++i) output[i] = content(rank, i);
  std::vector<int> wanted = output;
  const auto from_place = static_cast<std::size_t>(rank);
  for (std::size_t block = 0; !is_source && block < shape.out; ++block) {
    const int from = shape.out == 1 ? root : static_cast<int>(block);
    Layout theirs = call == "bcast"
                        ? taken(from)
                        : layout_of(mode, from + turn, ints,
                                    !begins_with(call, "scatter") && call.find("alltoall") == std::string::npos);
    const bool many = begins_with(call, "scatter") || call.find("alltoall") != std::string::npos;
    for (std::size_t i = 0; i < ints; ++i) {
      wanted[block * received.stride + received.at[i]] =
          content(from, (many ? from_place * theirs.stride : 0) + theirs.at[i]);
    }
    MPI_Type_free(&theirs.type);
  }
  Arguments a;
  a.comm = comm;
  a.root = root;
  describe(&a.in, sent, ranks, &input);
  describe(&a.out, received, ranks, &output);
  if (run(call, form, a)) {
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < output.size(); ++i) wrong += output[i] != wanted[i] ? 1 : 0;
    expect(wrong == 0, "%s of %zu ints, turn %d: all right, not %zu elements wrong", call.c_str(), ints, turn, wrong);
  }
  MPI_Type_free(&sent.type);
  MPI_Type_free(&received.type);
}

/// A call without data, of which some ranks and sides write the one, some the other.
void exchange_nothing(const std::string& call, const std::string& form, MPI_Comm comm, int turn) {
  const int rank = rank_in(comm);
  const auto ranks = static_cast<std::size_t>(ranks_of(comm));
  MPI_Datatype empty = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(0, MPI_INT, &empty);
  MPI_Type_commit(&empty);
  std::vector<int> input(4 * ranks, 1), output(4 * ranks, -1);
  const bool of_elements = (rank + turn) % 2 == 1, w = call.back() == 'w';
  const auto fill = [&](Arguments::Side* side, bool elements, std::vector<int>* buffer, bool flips) {
    const Layout layout{elements ? empty : MPI_INT, elements ? 2 : 0, {}, 0, 0};
    describe(side, layout, ranks, buffer);
    for (std::size_t i = 0; w && i < ranks; ++i) {
      const bool here = (rank < static_cast<int>(i)) == flips;
      side->types[i] = here ? empty : MPI_INT;
      side->counts[i] = here ? 3 : 0;
    }
  };
  Arguments a;
  a.comm = comm;
  a.root = turn % static_cast<int>(ranks);
  // One side of a pair gives elements, the other none.
  const bool rooted_v = call == "gatherv" || call == "scatterv" || call.find("alltoallv") != std::string::npos;
  fill(&a.in, rooted_v ? turn % 2 == 0 : of_elements, &input, turn % 2 == 0);
  fill(&a.out, rooted_v ? turn % 2 == 1 : of_elements, &output, turn % 2 == 0);
  if (run(call, form, a)) {
    for (const int got : output) expect(got == -1, "nothing in the buffer, not %d", got);
  }
  MPI_Type_free(&empty);
}

/// An allgatherv in which one rank has nothing, which it writes as elements, and the others have data.
void gather_from_others(const std::string& form, MPI_Comm comm, int turn) {
  const int rank = rank_in(comm), ranks = ranks_of(comm), ints = 30, poor = turn % ranks;
  MPI_Datatype empty = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(0, MPI_INT, &empty);
  MPI_Type_commit(&empty);
  std::vector<int> input(static_cast<std::size_t>(ints)), output(input.size() * static_cast<std::size_t>(ranks), -1);
  std::vector<int> wanted = output;
  Arguments a;
  a.comm = comm;
  describe(&a.in, {rank == poor ? empty : MPI_INT, rank == poor ? 2 : ints, {}, 0, 0}, 1, &input);
  describe(&a.out, {MPI_INT, ints, {}, input.size(), 0}, static_cast<std::size_t>(ranks), &output);
  a.out.counts[static_cast<std::size_t>(poor)] = 0;
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = content(rank, i);
  for (std::size_t i = 0; i < output.size(); ++i) {
    const int from = static_cast<int>(i) / ints;
    if (from != poor) wanted[i] = content(from, i % input.size());
  }
  run("allgatherv", form, a);
  expect(output == wanted, "the blocks of all ranks but %d", poor);
  MPI_Type_free(&empty);
}

/// What two ranks exchange lies at the same place of both buffers.
void exchange_in_place(const std::string& call, const std::string& form, MPI_Comm comm, std::size_t ints, int turn) {
  const int rank = rank_in(comm), ranks = ranks_of(comm);
  const auto length = [&](int i, int j) {
    return (i + j) % 3 == 0 ? std::size_t{0} : ints + 7 * static_cast<std::size_t>(i * j);
  };
  Arguments a;
  a.comm = comm;
  std::vector<int> output, wanted;
  for (int block = 0; block < ranks; ++block) {
    a.out.counts.push_back(static_cast<int>(length(rank, block)));
    a.out.places.push_back(static_cast<int>(output.size()));
    a.out.bytes.push_back(static_cast<int>(output.size() * sizeof(int)));
    a.out.types.push_back(MPI_INT);
    for (std::size_t i = 0; i < length(rank, block); ++i) {
      output.push_back(content(rank, static_cast<std::size_t>(block) * 100 + i + static_cast<std::size_t>(turn)));
      wanted.push_back(content(block, static_cast<std::size_t>(rank) * 100 + i + static_cast<std::size_t>(turn)));
    }
  }
  a.out.buffer = output.data();
  a.in = a.out;  // which nobody reads
  a.in.buffer = MPI_IN_PLACE;
  if (form == "persistent") wanted = output;  // two starts, and every block is back
  if (run(call, form, a)) expect(output == wanted, "%s of %zu ints in place, turn %d", call.c_str(), ints, turn);
}

/// A block that leaves backwards comes in from behind.
void exchange_on_circle(const std::string& form, int turn) {
  const int ranks = ranks_of(MPI_COMM_WORLD), period = 1;
  Arguments a;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, &period, 0, &a.comm);
  const int rank = rank_in(a.comm), before = (rank + ranks - 1) % ranks, behind = (rank + 1) % ranks;
  std::vector<int> input = {value(rank, 0, 0) + turn, value(rank, 1, 0) + turn}, output(2, -1);
  describe(&a.in, {MPI_INT, 1, {}, 1, 1}, 2, &input);
  describe(&a.out, {MPI_INT, 1, {}, 1, 1}, 2, &output);
  run("neighbor_alltoall", form, a);
  expect(output[0] == value(before, 1, 0) + turn && output[1] == value(behind, 0, 0) + turn,
         "the blocks of both neighbours in turn %d, not %d and %d", turn, output[0], output[1]);
  MPI_Comm_free(&a.comm);
}

/// Tags and messages of the ranks are as before.
void look_at_what_follows(MPI_Comm comm, int turn) {
  const int rank = rank_in(comm), ranks = ranks_of(comm);
  MPI_Request request = MPI_REQUEST_NULL;
  int sum = 0;
  MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect(sum == ranks * (ranks - 1) / 2, "the sum of ranks, not %d, in turn %d", sum, turn);
}

}  // namespace

int main(int argc, char** argv) {
  mpi_test::Job job(&argc, &argv);
  if (argc < 4) return 2;
  const std::string mode = argv[1], call = argv[2], form = argv[3];
  MPI_Comm comm = communicator_for(call);
  for (int turn = 0; turn < 4; ++turn) {
    if (mode == "circle") {
      exchange_on_circle(form, turn);
    } else if (mode == "empty") {
      exchange_nothing(call, form, comm, turn);
      if (call == "allgatherv") gather_from_others(form, comm, turn);
      exchange(Mode::types, call, form, comm, 30, 0);
    } else if (mode == "in_place") {
      for (int i = 4; i < argc; ++i) exchange_in_place(call, form, comm, std::stoul(argv[i]), turn);
    } else {
      const Mode layouts = mode == "types" ? Mode::types : Mode::overlap;
      for (int i = 4; i < argc; ++i) exchange(layouts, call, form, comm, std::stoul(argv[i]), turn);
    }
    look_at_what_follows(comm, turn);
  }
  MPI_Comm_free(&comm);
  return job.verdict();
}
