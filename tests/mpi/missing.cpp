// missing [spawn COMMAND]: every kind of call as the first collective of a communicator, with few and many elements,
// checked on every rank; some of the processes may have been started without coll/topo. With `spawn` they are this one
// and one more, which COMMAND starts, on their merged communicator. Prints "wrong=0" on rank 0.
#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

namespace {

constexpr int k_untouched = 0x55555555;

int value(int rank, int index) { return 7919 * rank + 31 * index; }

struct Call {
  MPI_Comm comm = MPI_COMM_NULL;
  int rank = 0, ranks = 0, count = 0;
  std::vector<int> input, output, counts, places;

  Call(MPI_Comm of, int elements) : comm(of), count(elements) {
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    const auto all = static_cast<std::size_t>(ranks) * static_cast<std::size_t>(count);
    for (int i = 0; i < ranks * count; ++i) input.push_back(value(rank, i));
    output.assign(all, k_untouched);
    for (int i = 0; i < ranks; ++i) places.push_back(i * count);
    counts.assign(static_cast<std::size_t>(ranks), count);
  }
  void* in() { return input.data(); }
  void* out() { return output.data(); }
};

void wait(MPI_Request request) { MPI_Wait(&request, MPI_STATUS_IGNORE); }

/// Blocks of all ranks, each with what `of` says; or sums of all, from `first` on.
bool has_blocks(const Call& c, const std::function<int(int, int)>& of) {
  for (int r = 0; r < c.ranks; ++r)
    for (int i = 0; i < c.count; ++i)
      if (c.output[static_cast<std::size_t>(r * c.count + i)] != of(r, i)) return false;
  return true;
}
bool has_sums(const Call& c, int first) {
  for (int i = 0; i < c.count; ++i) {
    unsigned sum = 0;
    for (int r = 0; r < c.ranks; ++r) sum += static_cast<unsigned>(value(r, first + i));
    if (c.output[static_cast<std::size_t>(i)] != static_cast<int>(sum)) return false;
  }
  return true;
}
bool has_own(const Call& c, int rank, int first) {
  for (int i = 0; i < c.count; ++i)
    if (c.output[static_cast<std::size_t>(i)] != value(rank, first + i)) return false;
  return true;
}
bool is_exchanged(const Call& c) {
  return has_blocks(c, [&](int r, int i) { return value(r, c.rank * c.count + i); });
}

struct Kind {
  const char* name;
  bool (*is_right)(Call& c);
};

const std::vector<Kind> kinds = {
    {"allreduce",
     [](Call& c) {
       MPI_Allreduce(c.in(), c.out(), c.count, MPI_INT, MPI_SUM, c.comm);
       return has_sums(c, 0);
     }},
    {"alltoall",
     [](Call& c) {
       MPI_Alltoall(c.in(), c.count, MPI_INT, c.out(), c.count, MPI_INT, c.comm);
       return is_exchanged(c);
     }},
    {"allgather",
     [](Call& c) {
       MPI_Allgather(c.in(), c.count, MPI_INT, c.out(), c.count, MPI_INT, c.comm);
       return has_blocks(c, value);
     }},
    {"reduce",
     [](Call& c) {
       MPI_Reduce(c.in(), c.out(), c.count, MPI_INT, MPI_SUM, 0, c.comm);
       return c.rank != 0 || has_sums(c, 0);
     }},
    {"bcast",
     [](Call& c) {
       if (c.rank == 0) c.output = c.input;
       MPI_Bcast(c.out(), c.count, MPI_INT, 0, c.comm);
       return has_own(c, 0, 0);
     }},
    {"reduce_scatter_block",
     [](Call& c) {
       MPI_Reduce_scatter_block(c.in(), c.out(), c.count, MPI_INT, MPI_SUM, c.comm);
       return has_sums(c, c.rank * c.count);
     }},
    {"gather",
     [](Call& c) {
       MPI_Gather(c.in(), c.count, MPI_INT, c.out(), c.count, MPI_INT, 0, c.comm);
       return c.rank != 0 || has_blocks(c, value);
     }},
    {"scatter",
     [](Call& c) {
       MPI_Scatter(c.in(), c.count, MPI_INT, c.out(), c.count, MPI_INT, 0, c.comm);
       return has_own(c, 0, c.rank * c.count);
     }},
    {"alltoallv",
     [](Call& c) {
       MPI_Alltoallv(c.in(), c.counts.data(), c.places.data(), MPI_INT, c.out(), c.counts.data(), c.places.data(),
                     MPI_INT, c.comm);
       return is_exchanged(c);
     }},
    {"ialltoall",
     [](Call& c) {
       MPI_Request request = MPI_REQUEST_NULL;
       MPI_Ialltoall(c.in(), c.count, MPI_INT, c.out(), c.count, MPI_INT, c.comm, &request);
       wait(request);
       return is_exchanged(c);
     }},
    {"iallreduce",
     [](Call& c) {
       MPI_Request request = MPI_REQUEST_NULL;
       MPI_Iallreduce(c.in(), c.out(), c.count, MPI_INT, MPI_SUM, c.comm, &request);
       wait(request);
       return has_sums(c, 0);
     }},
    {"neighbor_alltoall", [](Call& c) {
       MPI_Comm ring = MPI_COMM_NULL;
       const int periodic = 1;
       MPI_Cart_create(c.comm, 1, &c.ranks, &periodic, 0, &ring);
       std::vector<int> received(2 * static_cast<std::size_t>(c.count), k_untouched);
       c.input.resize(received.size());
       MPI_Neighbor_alltoall(c.in(), c.count, MPI_INT, received.data(), c.count, MPI_INT, ring);
       MPI_Comm_free(&ring);
       const int before = (c.rank + c.ranks - 1) % c.ranks;
       return c.ranks < 3 || (received[0] == value(before, c.count) && received.back() != k_untouched);
     }}};

int wrong_among(MPI_Comm all) {
  int wrong = 0;
  for (const int count : {16, 300, 40000})
    for (const Kind& kind : kinds) {
      MPI_Comm comm = MPI_COMM_NULL;
      MPI_Comm_dup(all, &comm);
      Call call(comm, count);
      if (!kind.is_right(call)) {
        std::fprintf(stderr, "rank %d: WRONG DATA in %s of %d\n", call.rank, kind.name, count);
        ++wrong;
      }
      MPI_Comm_free(&comm);
    }
  return wrong;
}

MPI_Comm with_spawned(const char* command) {
  MPI_Comm parent = MPI_COMM_NULL, merged = MPI_COMM_NULL;
  MPI_Comm_get_parent(&parent);
  const bool is_spawned = parent != MPI_COMM_NULL;
  if (!is_spawned) {
    std::string words[] = {"spawn", "-"};
    char* arguments[] = {words[0].data(), words[1].data(), nullptr};
    MPI_Comm_spawn(command, arguments, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &parent, MPI_ERRCODES_IGNORE);
  }
  MPI_Intercomm_merge(parent, is_spawned ? 1 : 0, &merged);
  MPI_Comm_disconnect(&parent);
  return merged;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const bool spawns = argc > 2 && std::strcmp(argv[1], "spawn") == 0;
  MPI_Comm all = spawns ? with_spawned(argv[2]) : MPI_COMM_WORLD;
  int wrong = wrong_among(all), sum = 0, rank = 0;
  MPI_Comm_rank(all, &rank);
  MPI_Reduce(&wrong, &sum, 1, MPI_INT, MPI_SUM, 0, all);
  if (rank == 0) std::printf("wrong=%d\n", sum);
  if (spawns) MPI_Comm_free(&all);
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
