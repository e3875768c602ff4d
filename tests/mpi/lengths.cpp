// lengths CALL FORM ODD: the program's first collective, in which rank ODD counts less than the others send it or
// expect of it. FORM: blocking, or not ("waits"). Wrong by the standard: without coll/topo such a program ends, with an
// error or not.
#include <mpi.h>

#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

namespace {

constexpr int k_count = 10, k_odd_count = 1;

struct Arguments {
  int odd = 0;
  int count = k_count;  // of what this rank receives, or of all
  std::vector<int> input, output, counts, sent, places, bytes;
  std::vector<MPI_Datatype> types;
};

/// `request` null: blocks.
using Call = std::function<int(Arguments&, MPI_Request*)>;

const std::map<std::string, Call>& calls() {
  const MPI_Comm world = MPI_COMM_WORLD;
  static const std::map<std::string, Call> all = {
      {"gather",
       [=](Arguments& a, MPI_Request* r) {
         void *in = a.input.data(), *out = a.output.data();
         return r == nullptr ? MPI_Gather(in, k_count, MPI_INT, out, a.count, MPI_INT, a.odd, world)
                             : MPI_Igather(in, k_count, MPI_INT, out, a.count, MPI_INT, a.odd, world, r);
       }},
      {"scatter",
       [=](Arguments& a, MPI_Request* r) {
         void *in = a.input.data(), *out = a.output.data();
         return r == nullptr ? MPI_Scatter(in, a.count, MPI_INT, out, k_count, MPI_INT, a.odd, world)
                             : MPI_Iscatter(in, a.count, MPI_INT, out, k_count, MPI_INT, a.odd, world, r);
       }},
      {"alltoall",
       [=](Arguments& a, MPI_Request* r) {
         void *in = a.input.data(), *out = a.output.data();
         return r == nullptr ? MPI_Alltoall(in, k_count, MPI_INT, out, a.count, MPI_INT, world)
                             : MPI_Ialltoall(in, k_count, MPI_INT, out, a.count, MPI_INT, world, r);
       }},
      {"allgather",
       [=](Arguments& a, MPI_Request* r) {
         void *in = a.input.data(), *out = a.output.data();
         return r == nullptr ? MPI_Allgather(in, k_count, MPI_INT, out, a.count, MPI_INT, world)
                             : MPI_Iallgather(in, k_count, MPI_INT, out, a.count, MPI_INT, world, r);
       }},
      {"allgatherv",
       [=](Arguments& a, MPI_Request* r) {
         void *in = a.input.data(), *out = a.output.data();
         const int *counts = a.counts.data(), *places = a.places.data();
         return r == nullptr ? MPI_Allgatherv(in, k_count, MPI_INT, out, counts, places, MPI_INT, world)
                             : MPI_Iallgatherv(in, k_count, MPI_INT, out, counts, places, MPI_INT, world, r);
       }},
      {"gatherv",
       [=](Arguments& a, MPI_Request* r) {
         void *in = a.input.data(), *out = a.output.data();
         const int *counts = a.counts.data(), *places = a.places.data();
         return r == nullptr ? MPI_Gatherv(in, k_count, MPI_INT, out, counts, places, MPI_INT, a.odd, world)
                             : MPI_Igatherv(in, k_count, MPI_INT, out, counts, places, MPI_INT, a.odd, world, r);
       }},
      {"scatterv",
       [=](Arguments& a, MPI_Request* r) {
         void *in = a.input.data(), *out = a.output.data();
         const int *counts = a.counts.data(), *places = a.places.data();
         return r == nullptr ? MPI_Scatterv(in, counts, places, MPI_INT, out, k_count, MPI_INT, a.odd, world)
                             : MPI_Iscatterv(in, counts, places, MPI_INT, out, k_count, MPI_INT, a.odd, world, r);
       }},
      {"alltoallv",
       [=](Arguments& a, MPI_Request* r) {
         void *in = a.input.data(), *out = a.output.data();
         const int *sent = a.sent.data(), *counts = a.counts.data(), *at = a.places.data();
         return r == nullptr ? MPI_Alltoallv(in, sent, at, MPI_INT, out, counts, at, MPI_INT, world)
                             : MPI_Ialltoallv(in, sent, at, MPI_INT, out, counts, at, MPI_INT, world, r);
       }},
      {"alltoallw",
       [=](Arguments& a, MPI_Request* r) {
         void *in = a.input.data(), *out = a.output.data();
         const int *sent = a.sent.data(), *counts = a.counts.data(), *at = a.bytes.data();
         const MPI_Datatype* types = a.types.data();
         return r == nullptr ? MPI_Alltoallw(in, sent, at, types, out, counts, at, types, world)
                             : MPI_Ialltoallw(in, sent, at, types, out, counts, at, types, world, r);
       }},
      {"bcast",
       [=](Arguments& a, MPI_Request* r) {
         void* out = a.output.data();
         return r == nullptr ? MPI_Bcast(out, a.count, MPI_INT, 0, world)
                             : MPI_Ibcast(out, a.count, MPI_INT, 0, world, r);
       }},
      {"allreduce",
       [=](Arguments& a, MPI_Request* r) {
         void *in = a.input.data(), *out = a.output.data();
         return r == nullptr ? MPI_Allreduce(in, out, a.count, MPI_INT, MPI_SUM, world)
                             : MPI_Iallreduce(in, out, a.count, MPI_INT, MPI_SUM, world, r);
       }},
      {"reduce_scatter", [=](Arguments& a, MPI_Request* r) {
         void *in = a.input.data(), *out = a.output.data();
         const int* counts = a.counts.data();
         return r == nullptr ? MPI_Reduce_scatter(in, out, counts, MPI_INT, MPI_SUM, world)
                             : MPI_Ireduce_scatter(in, out, counts, MPI_INT, MPI_SUM, world, r);
       }}};
  return all;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc < 4 || !calls().contains(argv[1])) MPI_Abort(MPI_COMM_WORLD, 2);
  int ranks = 0, rank = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  Arguments arguments;
  const auto all = static_cast<std::size_t>(ranks);
  arguments.odd = std::atoi(argv[3]);
  arguments.count = rank == arguments.odd ? k_odd_count : k_count;
  arguments.input.resize(2 * k_count * all);
  arguments.output.resize(2 * k_count * all);
  arguments.counts.assign(all, arguments.count);
  arguments.sent.assign(all, k_count);
  arguments.types.assign(all, MPI_INT);
  for (int i = 0; i < ranks; ++i) {
    arguments.places.push_back(i * k_count);
    arguments.bytes.push_back(i * k_count * static_cast<int>(sizeof(int)));
  }
  MPI_Request request = MPI_REQUEST_NULL;
  const bool waits = std::strcmp(argv[2], "waits") == 0;
  calls().at(argv[1])(arguments, waits ? &request : nullptr);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return 0;
}
