// A job whose calls do not block goes on with rules that change on disk, as one whose calls do: calls that were left to
// others are served, served ones by other algorithms, several under way at a time, blocking ones between them, and
// persistent requests that are made anew.
#include <unistd.h>

#include <array>
#include <cstdio>
#include <fstream>

#include "mpi_test.h"
// After mpi.h.
#include <mpi-ext.h>

namespace {

using namespace mpi_test;

// Open MPI 4.1 has the persistent collectives as an extension, later ones as MPI's own.
#if defined(OMPI_HAVE_MPI_EXT_PCOLLREQ) && OMPI_HAVE_MPI_EXT_PCOLLREQ
#define INIT(Name, ...) MPIX_##Name##_init(__VA_ARGS__)
#else
#define INIT(Name, ...) MPI_##Name##_init(__VA_ARGS__)
#endif

constexpr int k_most_rounds = 4000;  // of 2 ms and more each; watch is 1 s

enum class Form { nonblocking, persistent, mixed };

void write_rules(const std::string& path, const std::string& alltoall) {
  std::ofstream(path + ".new") << R"({"rule_file_version": 3, "collectives": {"alltoall": )"
                               << R"([{"rules": [{"msg_size_max": "inf", "alg": ")" + alltoall + R"("}]}], "bcast": )"
                               << R"([{"rules": [{"msg_size_max": "inf", "alg": "binomial"}]}]}})";
  std::rename((path + ".new").c_str(), path.c_str());
}

std::string path_of_rank_0() {
  char path[256] = {};
  std::snprintf(path, sizeof(path), "/tmp/colltopo_replaced_requests_%d.json", static_cast<int>(getpid()));
  MPI_Bcast(path, sizeof(path), MPI_CHAR, 0, MPI_COMM_WORLD);
  return path;
}

class Exchange {
 public:
  Exchange(MPI_Comm comm, int round) : comm_(comm), round_(round) {
    const auto ranks = static_cast<std::size_t>(ranks_of(comm));
    in_.assign(ranks, -1);
    for (std::size_t to = 0; to < ranks; ++to) out_.push_back(value(rank_in(comm), static_cast<int>(to), place()));
  }

  void start(bool persistent) {
    if (!persistent) {
      MPI_Ialltoall(out_.data(), 1, MPI_INT, in_.data(), 1, MPI_INT, comm_, &request_);
      return;
    }
    INIT(Alltoall, out_.data(), 1, MPI_INT, in_.data(), 1, MPI_INT, comm_, MPI_INFO_NULL, &request_);
    MPI_Start(&request_);
  }
  void end() {
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
    if (request_ != MPI_REQUEST_NULL) MPI_Request_free(&request_);
    for (std::size_t from = 0; from < in_.size(); ++from)
      expect(in_[from] == value(static_cast<int>(from), rank_in(comm_), place()), "rank %zu's value, not %d", from,
             in_[from]);
  }

 private:
  std::size_t place() const { return static_cast<std::size_t>(round_); }

  MPI_Comm comm_;
  int round_;
  std::vector<int> out_, in_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

void bcast(MPI_Comm comm, int round) {
  int data = rank_in(comm) == 0 ? round : -1;
  MPI_Bcast(&data, 1, MPI_INT, 0, comm);
  expect(data == round, "rank 0's value %d, not %d", round, data);
}

// Three calls are under way at a time, which the ranks begin at different times and end in different orders.
void round_of_calls(MPI_Comm comm, Form form, int round) {
  std::array<Exchange, 3> calls = {Exchange(comm, round), Exchange(comm, round + 1), Exchange(comm, round + 2)};
  const bool late = (round + rank_in(comm)) % 3 == 0;
  if (late) usleep(2000);
  for (Exchange& call : calls) call.start(form == Form::persistent);
  if (form == Form::mixed) bcast(comm, round);
  if (!late) usleep(2000);
  for (std::size_t i = 0; i < calls.size(); ++i) calls[late ? 2 - i : i].end();
}

void new_rules_are_heeded(Form form, const char* before, const char* after) {
  const std::string path = path_of_rank_0();
  const bool writes = rank_in(MPI_COMM_WORLD) == 0;
  if (writes) write_rules(path, before);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Comm comm = with_settings(MPI_COMM_WORLD, {"rules", path, "watch", "1"});
  const Counter left("coll_topo_fallbacks"), by_new(std::string("coll_topo_calls_") + after);
  round_of_calls(comm, form, 0);
  expect(by_new.since_made() == 0, "the old rules to be heeded");
  if (writes) write_rules(path, after);
  int heeded = 0;
  for (int round = 1; round < k_most_rounds && heeded == 0; ++round) {
    round_of_calls(comm, form, round);
    heeded = by_new.since_made() > 0 ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &heeded, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  }
  expect(heeded == 1, "%s to be heeded in place of %s", after, before);
  std::array<int, 4> numbers = {static_cast<int>(left.since_made()), -static_cast<int>(left.since_made()),
                                static_cast<int>(by_new.since_made()), -static_cast<int>(by_new.since_made())};
  MPI_Allreduce(MPI_IN_PLACE, numbers.data(), 4, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  expect(numbers[0] == -numbers[1] && numbers[2] == -numbers[3],
         "as many calls left on all ranks, not %d to %d, and served, not %d to %d", -numbers[1], numbers[0],
         -numbers[3], numbers[2]);
  const auto served = by_new.since_made();
  round_of_calls(comm, form, k_most_rounds);
  expect(by_new.since_made() == served + 3, "all calls by the new rules");
  MPI_Comm_free(&comm);
  if (writes) std::remove(path.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  mpi_test::Job job(&argc, &argv);
  for (const Form form : {Form::nonblocking, Form::persistent, Form::mixed}) {
    new_rules_are_heeded(form, "fallback", "pairwise");
    new_rules_are_heeded(form, "linear", "pairwise");
  }
  return job.verdict();
}
