// Every allocation of some calls on one communicator fails, each once, on one rank:
//
//   every_allocation CALL FORM VICTIM WINDOW FROM NOTE
//
// CALL as in any_call.h, FORM blocks, waits or starts. WINDOW first: from the communicator's making on, later: after
// its first call; lasting: as later, and all allocations that follow fail, too. The k-th is tried for each k from FROM
// on, on a communicator of its own, until one goes by that nobody makes. The victim's calls return an error or are
// right. Other ranks may wait for it then: they find in the file NOTE, which all map, that it has given up, and leave
// their call from inside of MPI's progress; that communicator is never used again.
//
// Ends where something is wrong, with a line "k N rank R WHAT" in the note; else rank 0 writes "go on from N" after
// many calls that were left, or "done after N, E errors".
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>
#include <cstdlib>
#include <functional>

#include "any_call.h"

namespace {

using namespace mpi_test;

constexpr int k_seconds = 60;      // for the calls of one k
constexpr int k_most_left = 400;   // calls that ranks have left, and which MPI goes on looking at
constexpr int k_looks = 200;       // at messages that are on their way
constexpr int k_later_calls = 40;  // a trial's and some more

long k = 0;
int own_rank = 0;
/// The file NOTE.
struct Note {
  volatile long given_up_at;
  char lines[10][200];  // [rank]
};
Note* note = nullptr;
std::jmp_buf way_out;
volatile bool may_leave = false;
int looks = 0;

void end_with(const char* what, int status) {
  std::snprintf(note->lines[own_rank], sizeof note->lines[0], "k %ld rank %d %s\n", k, own_rank, what);
  _exit(status);
}
void hangs(int) { end_with("HANGS", 9); }
void crashes(int) { end_with("CRASHES", 8); }

int leave_if_alone() {
  if (may_leave && note->given_up_at == k && ++looks > k_looks) std::longjmp(way_out, 1);
  return 0;
}

struct Plan {
  Any call;
  std::string form, window;
};

AnyCall::Form form_of(const Plan& plan, bool has_gaps, bool in_place, bool own_operation) {
  AnyCall::Form form;
  form.call = plan.call;
  form.blocks = plan.form == "blocks";
  form.is_persistent = plan.form == "starts";
  form.has_gaps = has_gaps;
  form.in_place = in_place;
  form.own_operation = own_operation;
  return form;
}

/// Calls of one communicator; where some were left nothing is destroyed, as messages may still come.
class Calls {
 public:
  Calls(const Plan& plan, MPI_Comm comm, Neighbors neighbors)
      : plan_(plan), comm_(comm), neighbors_(std::move(neighbors)) {}
  ~Calls() {
    for (const AnyCall* const call : calls_) delete call;
    MPI_Comm_free(&comm_);
  }
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

  int one(bool has_gaps, bool in_place, bool own_operation, int round) {
    AnyCall& call = add(has_gaps, in_place, own_operation, round);
    int rc = call.code();
    if (rc == MPI_SUCCESS && plan_.form == "starts") rc = MPI_Start(call.request());
    if (rc == MPI_SUCCESS) rc = MPI_Wait(call.request(), MPI_STATUS_IGNORE);
    check(rc, call);
    if (rc != MPI_SUCCESS || plan_.form != "starts") return rc;
    call.fill(round + 50);
    rc = MPI_Start(call.request());
    if (rc == MPI_SUCCESS) rc = MPI_Wait(call.request(), MPI_STATUS_IGNORE);
    check(rc, call);
    return rc != MPI_SUCCESS ? rc : MPI_Request_free(call.request());
  }
  /// Under way together.
  int two(int round) {
    AnyCall& first = add(false, false, false, round);
    AnyCall& second = add(true, false, true, round + 1);
    int rc = first.code() != MPI_SUCCESS ? first.code() : second.code();
    if (rc == MPI_SUCCESS) rc = MPI_Wait(second.request(), MPI_STATUS_IGNORE);
    check(rc, second);
    if (rc == MPI_SUCCESS) rc = MPI_Wait(first.request(), MPI_STATUS_IGNORE);
    check(rc, first);
    return rc;
  }

 private:
  AnyCall& add(bool has_gaps, bool in_place, bool own_operation, int round) {
    calls_.push_back(new AnyCall(comm_, form_of(plan_, has_gaps, in_place, own_operation), neighbors_, ""));
    calls_.back()->fill(round);
    calls_.back()->begin(false);
    return *calls_.back();
  }
  static void check(int rc, const AnyCall& call) {
    if (rc == MPI_SUCCESS && !call.is_there()) end_with("WRONG DATA", 6);
  }

  const Plan& plan_;
  MPI_Comm comm_;
  Neighbors neighbors_;
  std::vector<AnyCall*> calls_;
};

Calls* calls = nullptr;  // of the k at hand

/// The calls from which on allocations fail, for `arm` to begin with.
int run(const Plan& plan, const std::function<void()>& arm) {
  int rc = MPI_SUCCESS;
  if (plan.window == "first") {
    if (plan.form == "waits") return rc = calls->two(0), rc != MPI_SUCCESS ? rc : calls->two(2);
    for (int round = 0; rc == MPI_SUCCESS && round < 5; ++round)
      rc = calls->one(round == 2, round == 3, round == 4, round);
    return rc;
  }
  rc = calls->one(false, false, false, 0);
  arm();
  const int number = plan.form == "blocks" && plan.window != "lasting" ? k_later_calls : 3;
  for (int round = 1; rc == MPI_SUCCESS && round <= number; ++round)
    rc = calls->one(round == number, false, false, round);
  return rc;
}

void look_at_class(int rc) {
  int error_class = MPI_SUCCESS;
  MPI_Error_class(rc, &error_class);
  char line[60];
  std::snprintf(line, sizeof line, "fails with class %d", error_class);
  if (error_class != MPI_ERR_NO_MEM && error_class != MPI_ERR_INTERN) end_with(line, 5);
}

void map_note(const char* path) {
  const int file = open(path, O_RDWR);
  void* const page = file < 0 ? MAP_FAILED : mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (page == MAP_FAILED) _exit(2);
  note = static_cast<Note*>(page);
}

MPI_Comm made(const Plan& plan, Neighbors* neighbors) {
  MPI_Comm comm = MPI_COMM_NULL;
  if (is_among_neighbors(plan.call)) {
    const auto* const graph = new Graph(MPI_COMM_WORLD, false);
    *neighbors = graph->neighbors;
    comm = graph->comm;
  } else {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  }
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  return comm;
}

struct Outcome {
  long allocations = 0;
  int rc = MPI_SUCCESS;
};

/// By one rank to the others.
Outcome told(Outcome own, int by, int ranks) {
  for (int peer = 0; own_rank == by && peer < ranks; ++peer)
    if (peer != by) MPI_Send(&own, sizeof own, MPI_BYTE, peer, 5, MPI_COMM_WORLD);
  if (own_rank != by) MPI_Recv(&own, sizeof own, MPI_BYTE, by, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return own;
}

/// On a communicator of its own. Of other ranks than the victim it may be left.
int calls_of(const Plan& plan, int victim, const std::function<void()>& arm) {
  if (plan.window == "first") arm();
  Neighbors neighbors;
  const MPI_Comm comm = made(plan, &neighbors);
  calls = new Calls(plan, comm, std::move(neighbors));
  looks = 0;
  may_leave = own_rank != victim;
  const int rc = run(plan, arm);
  may_leave = false;
  return rc;
}

constexpr int k_left = -1;

// What a jump over frames leaves behind stays where it is.
int calls_until_left(const Plan& plan, int victim, const std::function<void()>& arm) {
  if (setjmp(way_out) == 0) return calls_of(plan, victim, arm);
  may_leave = false;
  return k_left;
}

using Fail = long (*)(long);

/// Returns the outcome for the victim.
Outcome try_one(const Plan& plan, int victim, int ranks, Fail fail) {
  alarm(k_seconds);
  const auto arm = [&] {
    if (own_rank == victim && fail(plan.window == "lasting" ? -k : k) < 0) end_with("finds no library", 2);
  };
  Outcome own;
  own.rc = calls_until_left(plan, victim, arm);
  if (own_rank == victim) {
    own.allocations = fail(0);
    if (own.rc != MPI_SUCCESS) {
      look_at_class(own.rc);
      note->given_up_at = k;
    }
  }
  const Outcome outcome = told(own, victim, ranks);
  if (outcome.rc == MPI_SUCCESS && own.rc != MPI_SUCCESS) end_with("FAILS, and is not the victim", 5);
  if (outcome.rc == MPI_SUCCESS) delete calls;
  alarm(0);
  return outcome;
}

}  // namespace

int main(int argc, char** argv) {
  Job job(&argc, &argv);
  if (argc < 7) return 2;
  const auto* const name = std::find(std::begin(k_any_names), std::end(k_any_names), std::string(argv[1]));
  const Plan plan{static_cast<Any>(name - std::begin(k_any_names)), argv[2], argv[4]};
  const auto fail = reinterpret_cast<Fail>(dlsym(RTLD_DEFAULT, "failing_allocation"));
  const auto look = reinterpret_cast<int (*)(int (*)())>(dlsym(RTLD_DEFAULT, "opal_progress_register"));
  if (name == std::end(k_any_names) || fail == nullptr || look == nullptr) return 2;
  own_rank = job.rank;
  map_note(argv[6]);
  look(leave_if_alone);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE}) std::signal(signal, crashes);
  std::signal(SIGALRM, hangs);
  int errors = 0;
  Outcome outcome;
  for (k = std::atol(argv[5]); errors < k_most_left; ++k) {
    outcome = try_one(plan, std::atoi(argv[3]), job.ranks, fail);
    errors += outcome.rc == MPI_SUCCESS ? 0 : 1;
    if (outcome.allocations < k) break;
  }
  const bool is_done = outcome.allocations < k;
  if (job.rank == 0)
    std::snprintf(note->lines[0], sizeof note->lines[0], "%s %ld, %d errors\n", is_done ? "done after" : "go on from",
                  is_done ? k - 1 : k, errors);
  told({}, 0, job.ranks);  // mpirun ends all where one has ended
  _exit(0);                // what was left keeps MPI from ending
}
