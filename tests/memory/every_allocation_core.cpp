// Every allocation of the C API's first calls in a process fails, each once, on one rank of a few. Each k is tried in
// processes of its own, forked from one that has called nothing, whose messages go by sockets: what a process makes
// once (prices, plans, settings' texts) is made while the k-th allocation fails.
//
//   every_allocation_core NAME...    cases whose names begin so; all by default
//
// The victim's call returns an error, or all ranks have served or declined it, with right data. After that all of them
// make another communicator with the same calls, which are right: nothing half made stays behind.
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <new>
#include <string>
#include <vector>

#include "colltopo/colltopo.h"

#include "failing.h"
#include "wires.h"

namespace {

using namespace colltopo::memory;

constexpr int k_seconds = 20;

struct Case {
  int collective = 0;
  std::string form;       // runs, waits (an operation), starts (one that begins again)
  std::string algorithm;  // empty: auto
  int ranks = 2, victim = 0;

  std::string name() const {
    return std::string(colltopo_collective_name(collective)) + "/" + form + "/" +
           (algorithm.empty() ? "auto" : algorithm) + "/" + std::to_string(victim) + "of" + std::to_string(ranks);
  }
};

using Number = std::int64_t;

int add(void*, const void* source, void* target, std::size_t elements) {
  for (std::size_t i = 0; i < elements; ++i) static_cast<Number*>(target)[i] += static_cast<const Number*>(source)[i];
  return 0;
}

/// One call with its buffers, and what it is to receive.
class Call {
 public:
  Call(const Case& of, int rank, int round) : case_(of), rank_(rank), round_(round) {
    const Apart apart;
    const int c = of.collective;
    const int root = of.ranks - 1;
    const bool reduces = c == COLLTOPO_ALLREDUCE || c == COLLTOPO_REDUCE || c == COLLTOPO_REDUCE_SCATTER;
    const bool rooted_in = c == COLLTOPO_SCATTER || c == COLLTOPO_SCATTERV;
    const bool rooted_out = c == COLLTOPO_GATHER || c == COLLTOPO_GATHERV || c == COLLTOPO_REDUCE;
    const bool spreads = c == COLLTOPO_ALLGATHER || c == COLLTOPO_ALLGATHERV || c == COLLTOPO_GATHER ||
                         c == COLLTOPO_GATHERV || c == COLLTOPO_ALLREDUCE || c == COLLTOPO_REDUCE;
    const bool receives = !rooted_out || rank == root;
    for (int to = 0; to < (spreads || c == COLLTOPO_BCAST ? 1 : of.ranks); ++to) {
      if ((rooted_in || c == COLLTOPO_BCAST) && rank != root) break;
      put(input_, input_bytes_, input_at_, elements(rank, spreads ? rank : to),
          [&](int i) { return number(rank, spreads ? 0 : to, i); });
    }
    for (int from = 0; receives && from < of.ranks; ++from) {
      if ((rooted_in || c == COLLTOPO_BCAST) && from != root) continue;
      if (reduces && from > 0) break;
      const int to = spreads || c == COLLTOPO_BCAST ? 0 : rank;
      put(wanted_, output_bytes_, output_at_, elements(from, spreads ? from : rank), [&](int i) {
        if (!reduces) return number(from, to, i);
        Number sum = 0;
        for (int one = 0; one < of.ranks; ++one) sum += number(one, to, i);
        return sum;
      });
    }
    output_.assign(wanted_.size(), -1);
    if (c == COLLTOPO_BCAST && rank == root) output_ = input_;
    call_.input = input_.empty() ? nullptr : input_.data();
    call_.output = output_.empty() ? nullptr : output_.data();
    call_.root = root;
    call_.op_properties = COLLTOPO_OP_COMMUTATIVE | COLLTOPO_OP_ASSOCIATIVE_BITS;
    call_.reduce = add;
    call_.count = k_elements;
    call_.element_size = sizeof(Number);
    if (c < COLLTOPO_ALLGATHERV) return;
    blocks_ = {input_bytes_.data(), input_at_.data(), output_bytes_.data(), output_at_.data()};
    call_.blocks = &blocks_;
    call_.element_size = 1;
    const bool one_in = c == COLLTOPO_GATHERV, one_out = c == COLLTOPO_SCATTERV;
    call_.count = one_in ? input_bytes_[0] : one_out ? output_bytes_[0] : 0;
  }
  const colltopo_call* operator->() const { return &call_; }
  const colltopo_call* get() const { return &call_; }
  void clear() { std::fill(output_.begin(), output_.end(), -1); }
  void check() const {
    if (output_ != wanted_) _exit(wrong_data);
  }

 private:
  static constexpr int k_elements = 3;

  int elements(int from, int to) const {
    if (case_.collective < COLLTOPO_ALLGATHERV) return k_elements;
    if (case_.collective == COLLTOPO_ALLGATHERV || case_.collective == COLLTOPO_GATHERV) return 1 + from % 3;
    return case_.collective == COLLTOPO_SCATTERV ? 1 + to % 3 : 1 + (from + to) % 3;
  }
  Number number(int from, int to, int i) const { return 1 + from * 1000003 + to * 1021 + i + 100 * round_; }
  template <typename Value>
  static void put(std::vector<Number>& memory, std::vector<std::size_t>& bytes, std::vector<std::size_t>& at, int count,
                  const Value& value_of) {
    at.push_back(memory.size() * sizeof(Number));
    bytes.push_back(static_cast<std::size_t>(count) * sizeof(Number));
    for (int i = 0; i < count; ++i) memory.push_back(value_of(i));
  }

  const Case& case_;
  int rank_, round_;
  std::vector<Number> input_, output_, wanted_;
  std::vector<std::size_t> input_bytes_, input_at_, output_bytes_, output_at_;
  colltopo_blocks blocks_{};
  colltopo_call call_{};
};

/// An operation as a shell has it.
class Operation {
 public:
  Operation(colltopo_comm* comm, const Case& of, const Call& call, int tag)
      : comm_(comm), case_(of), call_(call), tag_(tag) {}
  ~Operation() {
    if (operation_ != nullptr) colltopo_release(operation_);
  }
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  /// The code that colltopo_make gave in the end.
  int make() {
    code_ = colltopo_make(comm_, case_.collective, call_.get(), how(), &operation_);
    if (code_ != COLLTOPO_UNKNOWN) return code_;
    turn_.context = this;
    turn_.body = [](void* context) {
      auto& own = *static_cast<Operation*>(context);
      own.code_ = colltopo_make(own.comm_, own.case_.collective, own.call_.get(), own.how() | COLLTOPO_IN_TURN,
                                &own.operation_);
    };
    const int taken = colltopo_take_turn(comm_, &turn_);
    if (taken != COLLTOPO_SUCCESS) return code_ = taken;
    while (code_ == COLLTOPO_UNKNOWN) colltopo_move_turns(comm_);
    return code_;
  }
  int run() {
    bool over = colltopo_begin(operation_, call_.get(), tag_) != 0;
    while (!over) over = colltopo_progress(operation_) != 0;
    return colltopo_status(operation_);
  }

 private:
  int how() const { return case_.form == "starts" ? COLLTOPO_AGAIN : 0; }

  colltopo_comm* comm_;
  const Case& case_;
  const Call& call_;
  int tag_;
  colltopo_operation* operation_ = nullptr;
  colltopo_turn turn_{};
  int code_ = COLLTOPO_UNKNOWN;
};

constexpr int k_rounds = 16;

/// What becomes of each call: 's'erved, 'd'eclined, or 'e', the last.
struct Report {
  char calls[2][k_rounds + 1];
  long allocations;
};

int one_call(colltopo_comm* comm, const Case& of, int rank, int round) {
  Call call(of, rank, round);
  int code = 0;
  if (of.form == "runs") {
    code = colltopo_run(comm, of.collective, call.get());
    if (code == COLLTOPO_DECLINED && (*colltopo_left(comm) >> of.collective & 1) != 0)
      colltopo_previous_done(comm, of.collective);
  } else {
    Operation operation(comm, of, call, 1000 + round);
    code = operation.make();
    for (int run = 0; code == COLLTOPO_SUCCESS && run < (of.form == "starts" ? 2 : 1); ++run) {
      if (of.collective != COLLTOPO_BCAST) call.clear();
      code = operation.run();
      if (code == COLLTOPO_SUCCESS) call.check();
    }
  }
  if (code == COLLTOPO_SUCCESS) call.check();
  return code;
}

/// A communicator from its making to its end. False: there was an error.
bool calls_of(const Case& of, int rank, Wires& wires, int rounds, char* report) {
  const colltopo_callbacks callbacks = wires.callbacks();
  colltopo_comm* const comm = colltopo_comm_create(rank, of.ranks, &callbacks);
  if (comm == nullptr) return *report = 'e', false;
  // As the shells do: a setting that is refused leaves the communicator to decline.
  char setting[60];
  std::snprintf(setting, sizeof setting, "%s_algorithm", colltopo_collective_name(of.collective));
  if (!of.algorithm.empty()) colltopo_comm_set(comm, setting, of.algorithm.c_str());
  colltopo_comm_set(comm, "trial_after", "1");
  bool good = true;
  for (int round = 0; good && round < rounds; ++round) {
    const int code = one_call(comm, of, rank, round);
    good = code == COLLTOPO_SUCCESS || code == COLLTOPO_DECLINED;
    *report++ = code == COLLTOPO_SUCCESS ? 's' : good ? 'd' : 'e';
  }
  colltopo_comm_free(comm);
  return good;
}

[[noreturn]] void be_rank(const Case& of, int rank, long k, std::vector<int> sockets, Report& report) {
  alarm(k_seconds);
  Wires wires(rank, std::move(sockets));
  wires.begin_phase(1);
  const bool is_victim = rank == of.victim;
  failing = k;
  armed = is_victim;
  const bool good = calls_of(of, rank, wires, of.form == "runs" ? k_rounds : 4, report.calls[0]);
  armed = false;
  report.allocations = allocations;
  if (!good && is_victim) wires.give_up();
  wires.begin_phase(2);
  if (!calls_of(of, rank, wires, 2, report.calls[1])) _exit(wrong_after);
  _exit(ended);
}

/// Empty: all went well.
std::string fault_of(const Case& of, const std::vector<int>& statuses, const Report* reports) {
  const auto victim = static_cast<std::size_t>(of.victim);
  const bool victim_fails = std::strchr(reports[victim].calls[0], 'e') != nullptr;
  std::string fault;
  const auto add = [&](std::size_t rank, const std::string& what) {
    fault += (fault.empty() ? "" : "; ") + ("rank " + std::to_string(rank) + " " + what);
  };
  for (std::size_t rank = 0; rank < statuses.size(); ++rank) {
    const int status = statuses[rank];
    if (WIFSIGNALED(status))
      add(rank, WTERMSIG(status) == SIGALRM ? "HANGS" : "CRASHES by signal " + std::to_string(WTERMSIG(status)));
    else if (WEXITSTATUS(status) == wrong_data)
      add(rank, "has WRONG DATA");
    else if (WEXITSTATUS(status) == wrong_after)
      add(rank, "fails in the communicator after that");
    else if (WEXITSTATUS(status) != ended)
      add(rank, "cannot go on");
    else if (!victim_fails && std::strcmp(reports[rank].calls[0], reports[victim].calls[0]) != 0)
      add(rank, std::string("has ") + reports[rank].calls[0] + ", the victim " + reports[victim].calls[0]);
    else if (std::strcmp(reports[rank].calls[1], reports[victim].calls[1]) != 0)
      add(rank, std::string("has after that ") + reports[rank].calls[1] + ", the victim " + reports[victim].calls[1]);
  }
  return fault;
}

/// The processes of one k.
struct Try {
  long k = 0;
  Report* reports = nullptr;  // [rank]
  std::vector<pid_t> processes;
};

void begin(const Case& of, Try& one) {
  const auto ranks = static_cast<std::size_t>(of.ranks);
  std::memset(one.reports, 0, ranks * sizeof *one.reports);
  one.processes.clear();
  std::vector<std::vector<int>> sockets(ranks, std::vector<int>(ranks, -1));
  for (std::size_t a = 0; a < ranks; ++a)
    for (std::size_t b = 0; b < a; ++b) {
      int pair[2];
      if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0) std::exit(2);
      sockets[a][b] = pair[0];
      sockets[b][a] = pair[1];
    }
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const pid_t process = fork();
    if (process < 0) std::exit(2);
    if (process == 0) be_rank(of, static_cast<int>(rank), one.k, sockets[rank], one.reports[rank]);
    one.processes.push_back(process);
  }
  for (const auto& of_rank : sockets)
    for (const int socket : of_rank)
      if (socket >= 0) close(socket);
}

/// Its fault, or nothing.
std::string end(const Case& of, const Try& one) {
  std::vector<int> statuses;
  for (const pid_t process : one.processes) waitpid(process, &statuses.emplace_back(), 0);
  return fault_of(of, statuses, one.reports);
}

struct Sum {
  long allocations = 0, errors = 0, found = 0;
};

constexpr long k_at_once = 8;
constexpr std::size_t k_most_ranks = 4;

Sum try_all(const Case& of, Report* reports) {
  Sum sum;
  std::vector<Try> tries(k_at_once);
  for (std::size_t i = 0; i < tries.size(); ++i) tries[i].reports = reports + i * k_most_ranks;
  for (bool goes_on = true; goes_on && sum.found < 50;) {
    for (std::size_t i = 0; i < tries.size(); ++i) {
      tries[i].k = sum.allocations + 1 + static_cast<long>(i);
      begin(of, tries[i]);
    }
    for (const Try& one : tries) {
      const std::string fault = end(of, one);
      const Report& victim = one.reports[of.victim];
      goes_on = goes_on && (!fault.empty() || victim.allocations >= one.k);
      if (!goes_on) continue;
      ++sum.allocations;
      sum.errors += std::strchr(victim.calls[0], 'e') != nullptr ? 1 : 0;
      if (!fault.empty() && ++sum.found <= 5)
        std::printf("FAILED: %s, allocation %ld: %s\n", of.name().c_str(), one.k, fault.c_str());
    }
  }
  std::printf("%s: %ld allocations, %ld errors, %ld found\n", of.name().c_str(), sum.allocations, sum.errors,
              sum.found);
  std::fflush(stdout);
  return sum;
}

std::vector<Case> all_cases() {
  static constexpr std::array<const char*, COLLTOPO_COLLECTIVES> k_forced = {
      "tra",    "ring",   "ring", "recursive-doubling", "binomial", "binomial", "binomial", "binomial", "ring",
      "linear", "linear", "tra",  "pairwise",           "tra"};
  std::vector<Case> cases;
  for (const char* const form : {"runs", "waits", "starts"})
    for (int collective = 0; collective < COLLTOPO_COLLECTIVES; ++collective) {
      cases.push_back({collective, form, "", 2, 0});
      cases.push_back({collective, form, k_forced[static_cast<std::size_t>(collective)], 3, 2});
    }
  return cases;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> named(argv + 1, argv + argc);
  const std::size_t bytes = k_at_once * k_most_ranks * sizeof(Report);
  auto* const reports =
      static_cast<Report*>(mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  Sum all;
  for (const Case& one : all_cases()) {
    const auto is_named = [&](const std::string& name) { return one.name().find(name) == 0; };
    if (!named.empty() && std::none_of(named.begin(), named.end(), is_named)) continue;
    const Sum here = try_all(one, reports);
    all.allocations += here.allocations;
    all.errors += here.errors;
    all.found += here.found;
  }
  std::printf("%ld allocations, %ld errors, %ld found\n", all.allocations, all.errors, all.found);
  return all.found == 0 && all.allocations > 0 ? 0 : 1;
}
