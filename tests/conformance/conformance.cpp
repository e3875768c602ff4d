// Long random sequences of MPI's collectives, checked against MPI's definition alone: every rank computes from the seed
// what every rank sends, and looks at every byte of every buffer, gaps included. It is plain MPI, so it runs with
// coll/topo, with the shim, and with neither.
//
//   conformance --seed S [--operations N] [--only K,K-K,...] [--bytes LIMIT] [--under-way N] [--leave WORD,...]
//               [--info KEY=VALUE|VALUE...]... [--patience SECONDS] [--say]
//
// Exit status 0 and a line of JSON: no difference. Otherwise a line says the seed, the operation, the call, the rank,
// the first wrong byte and how to run this again; scripts/conformance makes the shortest case of it.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <sstream>
#include <vector>

#include <sched.h>
#include <unistd.h>

#include "call.h"
#include "counts.h"

namespace conformance {

namespace {

struct Options {
  std::uint64_t seed = 1;
  int operations = 100;
  std::vector<int> only;
  Limits limits;
  InfoChoices info;
  unsigned patience = 60;  // seconds that one operation may take
  bool say = false;
  std::string given;  // those that a replay needs, too
};

Options k_options;
int world_rank = 0, world_ranks = 0;
char now_doing[2000] = "";  // for the signal handler

[[noreturn]] void usage(const std::string& what) {
  std::fprintf(stderr,
               "conformance: %s; usage: conformance --seed S [--operations N] [--only K,K-K] [--bytes LIMIT] "
               "[--under-way N] [--leave WORD,...] [--info KEY=VALUE|VALUE] [--patience SECONDS] [--say]\n",
               what.c_str());
  std::exit(2);
}

std::vector<std::string> parts_of(const std::string& text, char between) {
  std::vector<std::string> parts;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, between);) parts.push_back(word);
  return parts;
}

long long number_of(const std::string& text) {
  char* end = nullptr;
  errno = 0;
  const long long number = std::strtoll(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0' || errno != 0 || number < 0) usage("'" + text + "' is no number");
  return number;
}

std::vector<int> numbers_of(const std::string& text) {
  std::vector<int> numbers;
  for (const std::string& part : parts_of(text, ',')) {
    const auto ends = parts_of(part, '-');
    if (ends.empty() || ends.size() > 2) usage("'" + part + "' is no operation");
    for (long long i = number_of(ends.front()); i <= number_of(ends.back()); ++i)
      numbers.push_back(static_cast<int>(i));
  }
  return numbers;
}

Options options_of(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--say") {
      options.say = true;
      continue;
    }
    if (i + 1 == argc) usage(name + " needs a value");
    const std::string value = argv[++i];
    if (name == "--seed")
      options.seed = static_cast<std::uint64_t>(number_of(value));
    else if (name == "--operations")
      options.operations = static_cast<int>(number_of(value));
    else if (name == "--only")
      options.only = numbers_of(value);
    else if (name == "--bytes")
      options.limits.bytes = static_cast<std::size_t>(number_of(value));
    else if (name == "--under-way")
      options.limits.under_way = std::max(1, static_cast<int>(number_of(value)));
    else if (name == "--leave")
      options.limits.leave = parts_of(value, ',');
    else if (name == "--patience")
      options.patience = static_cast<unsigned>(number_of(value));
    else if (name == "--info" && value.find('=') != std::string::npos)
      options.info[value.substr(0, value.find('='))] = parts_of(value.substr(value.find('=') + 1), '|');
    else
      usage("what is '" + name + "'");
    if (name != "--seed" && name != "--only" && name != "--operations")
      options.given += " " + name + " '" + value + "'";
  }
  return options;
}

std::string replay(int number) {
  const std::string seed = " --seed " + std::to_string(k_options.seed) + k_options.given;
  return "conformance" + seed + " --only " + std::to_string(number) + "; with all before it: --only 0-" +
         std::to_string(number);
}

void report(const std::string& how, const std::string& about, int number) {
  std::fprintf(stderr, "conformance: seed %llu, operation %d, rank %d of %d: %s: %s; replay: %s\n",
               static_cast<unsigned long long>(k_options.seed), number, world_rank, world_ranks, about.c_str(),
               how.c_str(), replay(number).c_str());
  std::fflush(stderr);
}

void note(int number, const std::string& about) {
  std::snprintf(now_doing, sizeof now_doing, "conformance: seed %llu, operation %d, rank %d of %d: %s: ",
                static_cast<unsigned long long>(k_options.seed), number, world_rank, world_ranks, about.c_str());
  if (k_options.say) std::fprintf(stderr, "%s\n", now_doing);
  alarm(k_options.patience);
}

/// A signal ends the process as it would have; the operation is said first.
void on_signal(int signal) {
  const char* how = signal == SIGALRM ? "not over in time\n" : "ended by a signal\n";
  if (write(2, now_doing, std::strlen(now_doing)) < 0 || write(2, how, std::strlen(how)) < 0) _exit(3);
  std::signal(signal, SIG_DFL);
  if (signal == SIGALRM) _exit(3);
  raise(signal);
}

}  // namespace

void differs(const Call& call, const std::string& how) {
  report("rank " + std::to_string(call.place().rank) + " there: " + how, call.about(), call.operation().number);
  sleep(1);  // others that differ say so too
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

void must(int code, const Call& call, const char* what) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  differs(call, std::string(what) + " returns an error: " + text);
}

namespace {

/// All that is under way: calls end some operations after they began, in any order and in all of MPI's ways.
class Run {
 public:
  explicit Run(const Options& options) : options_(options), communicators_(options.seed, options.info) {}

  void operation(int number) {
    complete(number);
    for (const Slot slot : communicators_.ending(number)) end(slot, number);
    const Operation drawn = operation_of(options_.seed, number, world_ranks, options_.limits);
    note(number, std::string("making the communicator for ") + row_of(drawn.kind).name);
    const std::shared_ptr<Place> place = communicators_.at(drawn.slot, number);
    if (!place || beyond_reach(drawn, *place)) return;
    auto call = std::make_unique<Call>(drawn, place, options_.limits);
    note(number, call->about());
    counts_.made(drawn);
    if (under_way_.empty())
      begin_alone(drawn);
    else
      alone_ = false;
    call->start();
    if (drawn.form == Form::blocking) {
      call->check();
      if (under_way_.empty()) over();
      return;
    }
    under_way_.push_back({std::move(call), number + drawn.lag});
  }

  void finish() {
    while (!under_way_.empty()) complete(under_way_.back().due + 1000000);
    for (int slot = 0; slot < k_slots; ++slot) communicators_.free(static_cast<Slot>(slot));
  }

  std::string json() const {
    return counts_.json("\"seed\": " + std::to_string(options_.seed) + ", \"ranks\": " + std::to_string(world_ranks));
  }

 private:
  struct UnderWay {
    std::unique_ptr<Call> call;
    int due;
  };

  /// Of one rank what the stock library does wrong, where no component of ours is asked.
  bool beyond_reach(const Operation& drawn, const Place& place) const {
    const bool wrong = drawn.form == Form::persistent || drawn.early_free || drawn.kind == Kind::alltoallw ||
                       (row_of(drawn.kind).neighbourhood && drawn.form != Form::blocking);
    return options_.limits.leaves("stock-4.1") && place.ranks == 1 && wrong;
  }

  void begin_alone(const Operation& operation) {
    counts_.since_last();
    alone_ = true;
    first_ = operation;
  }
  void over() { alone_ ? counts_.add(first_, counts_.since_last()) : counts_.add_several(counts_.since_last()); }

  /// Calls are under way on a communicator that the library loses when that is freed.
  bool loses_calls(const Place* place) const {
    return std::any_of(under_way_.begin(), under_way_.end(), [&](const UnderWay& one) {
      return &one.call->place() == place &&
             options_.limits.leaves(std::string("early-free:") + row_of(one.call->operation().kind).name);
    });
  }

  /// A communicator is freed with what is under way on it, or after that.
  void end(Slot slot, int number) {
    const auto place = communicators_.held(slot);
    const bool early =
        hash_of(options_.seed, static_cast<std::uint64_t>(number), static_cast<std::uint64_t>(slot), 81) % 2 == 0 &&
        !options_.limits.leaves("early-free") && !loses_calls(place.get());
    if (!early && place) {
      while (std::any_of(under_way_.begin(), under_way_.end(),
                         [&](const UnderWay& one) { return &one.call->place() == place.get(); })) {
        for (UnderWay& one : under_way_)
          if (&one.call->place() == place.get()) one.due = number;
        complete(number);
      }
    }
    note(number, "freeing a communicator: " + (place ? place->about : "none"));
    communicators_.free(slot);
  }

  /// Waits for what is due; then persistent calls with another round begin again, in the order of their first.
  void complete(int number) {
    std::vector<UnderWay*> due;
    for (UnderWay& one : under_way_)
      if (one.due <= number) due.push_back(&one);
    if (due.empty()) return;
    wait(due, number);
    for (UnderWay* one : due) {
      note(one->call->operation().number, one->call->about());
      if (one->call->check()) {
        one->call->start();
        one->due = number + 1 + one->call->operation().lag;
      } else {
        one->call.reset();
      }
    }
    under_way_.remove_if([](const UnderWay& one) { return !one.call; });
    if (under_way_.empty()) over();
  }

  void wait(std::vector<UnderWay*> due, int number) {
    Dice dice(hash_of(options_.seed, static_cast<std::uint64_t>(number), static_cast<std::uint64_t>(world_rank), 82));
    dice.shuffle(due);
    const int manner = dice.below(3);
    if (manner == 0) {
      std::vector<MPI_Request> all;
      for (const UnderWay* one : due) all.insert(all.end(), one->call->requests().begin(), one->call->requests().end());
      note(due.front()->call->operation().number, "MPI_Waitall of " + due.front()->call->about());
      must(MPI_Waitall(static_cast<int>(all.size()), all.data(), MPI_STATUSES_IGNORE), *due.front()->call,
           "MPI_Waitall");
      std::size_t at = 0;
      for (UnderWay* one : due)
        for (MPI_Request& request : one->call->requests()) request = all[at++];
      return;
    }
    for (UnderWay* one : due) {
      note(one->call->operation().number, "waiting for " + one->call->about());
      for (MPI_Request& request : one->call->requests()) {
        int done = manner == 1 ? 1 : 0;
        if (manner == 1) must(MPI_Wait(&request, MPI_STATUS_IGNORE), *one->call, "MPI_Wait");
        while (done == 0) {
          must(MPI_Test(&request, &done, MPI_STATUS_IGNORE), *one->call, "MPI_Test");
          if (done == 0) sched_yield();
        }
      }
    }
  }

  const Options& options_;
  Communicators communicators_;
  Counts counts_;
  std::list<UnderWay> under_way_;
  Operation first_;
  bool alone_ = true;
};

int run(int argc, char** argv) {
  k_options = options_of(argc, argv);
  int provided = 0;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_ranks);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (const int signal : {SIGALRM, SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGILL}) std::signal(signal, on_signal);
  std::vector<int> numbers = k_options.only;
  for (int i = 0; i < k_options.operations && k_options.only.empty(); ++i) numbers.push_back(i);
  std::string verdict;
  {
    Run all(k_options);
    for (const int number : numbers) all.operation(number);
    all.finish();
    verdict = all.json();
  }
  note(-1, "the end");
  if (world_rank == 0) std::printf("%s\n", verdict.c_str());
  std::fflush(stdout);
  MPI_T_finalize();
  MPI_Finalize();
  return 0;
}

}  // namespace

}  // namespace conformance

int main(int argc, char** argv) { return conformance::run(argc, argv); }
