// lengths CALL FORM ODD: the program's first collective, in which rank ODD counts less than the others send it or
// expect of it. FORM: blocking, nonblocking or persistent. Wrong by the standard: without coll/topo such a program
// ends, with an error or not.
#include <mpi.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "form.h"

namespace {

constexpr int k_count = 10, k_odd_count = 1;

struct Arguments {
  int odd = 0;
  int count = k_count;  // of what this rank receives, or of all
  std::vector<int> input, output, counts, sent, places, bytes;
  std::vector<MPI_Datatype> types;
};

using Call = std::function<void(Arguments&, const std::string& form)>;

const std::map<std::string, Call>& calls() {
  const MPI_Comm world = MPI_COMM_WORLD;
  static const std::map<std::string, Call> all = {
      {"gather",
       [=](Arguments& a, const std::string& form) {
         IN_FORM(form, world, Gather, Igather, a.input.data(), k_count, MPI_INT, a.output.data(), a.count, MPI_INT,
                 a.odd);
       }},
      {"scatter",
       [=](Arguments& a, const std::string& form) {
         IN_FORM(form, world, Scatter, Iscatter, a.input.data(), a.count, MPI_INT, a.output.data(), k_count, MPI_INT,
                 a.odd);
       }},
      {"alltoall",
       [=](Arguments& a, const std::string& form) {
         IN_FORM(form, world, Alltoall, Ialltoall, a.input.data(), k_count, MPI_INT, a.output.data(), a.count, MPI_INT);
       }},
      {"allgather",
       [=](Arguments& a, const std::string& form) {
         IN_FORM(form, world, Allgather, Iallgather, a.input.data(), k_count, MPI_INT, a.output.data(), a.count,
                 MPI_INT);
       }},
      {"allgatherv",
       [=](Arguments& a, const std::string& form) {
         IN_FORM(form, world, Allgatherv, Iallgatherv, a.input.data(), k_count, MPI_INT, a.output.data(),
                 a.counts.data(), a.places.data(), MPI_INT);
       }},
      {"gatherv",
       [=](Arguments& a, const std::string& form) {
         IN_FORM(form, world, Gatherv, Igatherv, a.input.data(), k_count, MPI_INT, a.output.data(), a.counts.data(),
                 a.places.data(), MPI_INT, a.odd);
       }},
      {"scatterv",
       [=](Arguments& a, const std::string& form) {
         IN_FORM(form, world, Scatterv, Iscatterv, a.input.data(), a.counts.data(), a.places.data(), MPI_INT,
                 a.output.data(), k_count, MPI_INT, a.odd);
       }},
      {"alltoallv",
       [=](Arguments& a, const std::string& form) {
         IN_FORM(form, world, Alltoallv, Ialltoallv, a.input.data(), a.sent.data(), a.places.data(), MPI_INT,
                 a.output.data(), a.counts.data(), a.places.data(), MPI_INT);
       }},
      {"alltoallw",
       [=](Arguments& a, const std::string& form) {
         IN_FORM(form, world, Alltoallw, Ialltoallw, a.input.data(), a.sent.data(), a.bytes.data(), a.types.data(),
                 a.output.data(), a.counts.data(), a.bytes.data(), a.types.data());
       }},
      {"bcast",
       [=](Arguments& a, const std::string& form) {
         IN_FORM(form, world, Bcast, Ibcast, a.output.data(), a.count, MPI_INT, 0);
       }},
      {"allreduce",
       [=](Arguments& a, const std::string& form) {
         IN_FORM(form, world, Allreduce, Iallreduce, a.input.data(), a.output.data(), a.count, MPI_INT, MPI_SUM);
       }},
      {"reduce_scatter", [=](Arguments& a, const std::string& form) {
         IN_FORM(form, world, Reduce_scatter, Ireduce_scatter, a.input.data(), a.output.data(), a.counts.data(),
                 MPI_INT, MPI_SUM);
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
  calls().at(argv[1])(arguments, argv[2]);
  MPI_Finalize();
  return 0;
}
