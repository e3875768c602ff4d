// Whether every call is answered on communicators of any size: one rank of a made-up communicator calls each
// collective, left alone and by every row that serves it. Each case has a process of its own, with a bound on memory.
//
//   scale [--ranks P,..] [--per-node N,..] [--only TEXT] [--every K] [--most-ms MS] [--verbose]
//
// --only: cases whose name has the text ("allreduce auto"). --every: each K-th case, another one at each size.
// --most-ms: of processor time for the first call of a case that is left alone, on 16,384 ranks. Exit status: 0 all
// answered, 1 some not, 2 usage.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <map>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "colltopo/algorithms.h"
#include "core/made_up_rank.h"
#include "own_process.h"

namespace colltopo::bench {
namespace {

constexpr std::size_t k_most_memory = std::size_t{1} << 30;  // beyond the user's buffers
constexpr int k_truncated = 7, k_broken = 8;                 // error codes of the callbacks
constexpr int k_measured_ranks = 16384;
constexpr std::size_t k_small = 8, k_large = 4096;  // bytes of a shard or vector

struct Options {
  std::vector<int> ranks = {1000, 4096, 12000, 16384, 65536, 262144}, per_node = {1, 8, 64};
  std::string only;
  int every = 1;
  double most_ms = 0;  // 0: any
  bool verbose = false;
};

struct Case {
  Collective collective = Collective::alltoall;
  std::string algorithm = "auto";
  int ranks = 1, per_node = 1, root = 0;
  bool commutative = true, exact = true;  // the operation
  bool is_others_wrong = false;           // the previous implementation may not serve it

  bool is_left_alone() const { return algorithm == "auto"; }
  std::string name() const {
    std::string text =
        fmt::format("{} {} on {} ranks, {} a node", colltopo::name(collective), algorithm, ranks, per_node);
    if (rooted(collective)) text += fmt::format(", root {}", root);
    if (!commutative) text += ", not commutative";
    if (!exact) text += ", floating point";
    if (is_others_wrong) text += ", not for others";
    return text;
  }
};

// What a case's process tells this one.
struct Told {
  bool served = false;
  int code = COLLTOPO_SUCCESS;
  double first_ms = 0, worst_later_ms = 0;
  std::array<char, 64> by{};
  std::array<char, 400> fault{}, line{};
};

void put(std::string_view text, std::span<char> into) {
  std::fill(into.begin(), into.end(), '\0');
  text.substr(0, into.size() - 1).copy(into.data(), into.size() - 1);
}

// A call of one collective on one rank, of so many bytes a shard or vector.
class Caller {
 public:
  Caller(const Case& one, int rank, std::size_t largest)
      : one_(one),
        rank_(rank),
        world_({rank, one.ranks, one.per_node}),
        whole_(has_shards() ? largest * static_cast<std::size_t>(one.ranks) : largest),
        input_(whole_),
        output_(whole_) {
    world_.lend(&input_, &output_);
    colltopo_callbacks callbacks = world_.callbacks();
    callbacks.truncation_error = k_truncated;
    callbacks.transport_error = k_broken;
    comm_ = colltopo_comm_create(rank, one.ranks, &callbacks);
    if (comm_ == nullptr) throw std::runtime_error("no communicator");
    const std::string name(colltopo::name(one.collective));
    if (!one.is_left_alone() &&
        colltopo_comm_set(comm_, (name + "_algorithm").c_str(), one.algorithm.c_str()) != COLLTOPO_SUCCESS)
      throw std::runtime_error(colltopo_last_error());
    const int left = (rank + one.ranks - 1) % one.ranks, right = (rank + 1) % one.ranks;
    if (one.collective == Collective::neighborhood) {
      neighbors_ = {std::min(left, right), std::max(left, right)};
      colltopo_neighbors(comm_, neighbors_.data(), neighbors_.size());
    }
  }
  ~Caller() { colltopo_comm_free(comm_); }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  std::size_t users_bytes() const { return 2 * whole_; }
  const std::string& line() const { return world_.warning(); }

  int call(std::size_t bytes, int root) {
    colltopo_call call{};
    call.input = input_.data();
    call.output = output_.data();
    call.element_size = uneven(one_.collective) ? 1 : 8;
    call.count = uneven(one_.collective) ? bytes : bytes / 8;
    call.root = root;
    call.op_properties =
        (one_.commutative ? COLLTOPO_OP_COMMUTATIVE : 0) | (one_.exact ? COLLTOPO_OP_ASSOCIATIVE_BITS : 0);
    call.reduce = [](void*, const void*, void*, std::size_t) { return 0; };
    call.previous_is_wrong = one_.is_others_wrong ? 1 : 0;
    const colltopo_blocks blocks = blocks_of(bytes);
    if (uneven(one_.collective)) call.blocks = &blocks;
    return colltopo_run(comm_, static_cast<int>(one_.collective), &call);
  }

 private:
  bool has_shards() const { return row(scheduled(one_.collective)).counts_shards(); }

  colltopo_blocks blocks_of(std::size_t bytes) {
    const auto ranks = static_cast<std::size_t>(one_.ranks);
    sizes_.assign(ranks, one_.collective == Collective::neighborhood ? 0 : bytes);
    for (const int neighbor : neighbors_) sizes_[static_cast<std::size_t>(neighbor)] = bytes;
    places_.resize(ranks);
    for (std::size_t i = 0; i < ranks; ++i) places_[i] = i * bytes;
    return {sizes_.data(), places_.data(), sizes_.data(), places_.data()};
  }

  const Case& one_;
  int rank_;
  MadeUpRank world_;
  std::size_t whole_;
  LazyBuffer input_, output_;
  colltopo_comm* comm_ = nullptr;
  std::vector<int> neighbors_;
  std::vector<std::size_t> sizes_, places_;
};

// Rounds of calls whose sizes only two ranks know read what others say, and nobody says anything.
bool is_answer(const Case& one, int code) {
  if (code == COLLTOPO_SUCCESS || code == COLLTOPO_DECLINED) return true;
  return code == k_truncated && row(one.collective).sizes == Sizes::of_messages;
}

std::map<std::string, unsigned long long> counted() {
  std::map<std::string, unsigned long long> all;
  for (std::size_t i = 0; colltopo_counters()[i].name != nullptr; ++i)
    all[colltopo_counters()[i].name] = colltopo_counter_value(i);
  return all;
}

std::string served_by() {
  for (const auto& [name, calls] : counted())
    if (name.starts_with("calls_") && calls > 0) return name.substr(6);
  return "";
}

void bound_memory(std::size_t beyond) {
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  std::size_t pages = 0;
  if (file == nullptr || std::fscanf(file, "%zu", &pages) != 1) throw std::runtime_error("no /proc/self/statm");
  std::fclose(file);
  limit.rlim_cur = pages * 4096 + beyond + k_most_memory;
  setrlimit(RLIMIT_AS, &limit);
}

void try_case(const Case& one, int rank, Told* told) {
  bound_memory(2 * k_large * static_cast<std::size_t>(one.ranks));
  Caller caller(one, rank, k_large);
  const auto timed = [&](std::size_t bytes, int root) {
    const double begun = seconds_now(CLOCK_PROCESS_CPUTIME_ID);
    const int code = caller.call(bytes, root);
    if (is_answer(one, told->code)) told->code = code;
    if (!is_answer(one, code)) put(colltopo_last_error(), told->fault);
    return 1e3 * (seconds_now(CLOCK_PROCESS_CPUTIME_ID) - begun);
  };
  told->first_ms = timed(k_small, one.root);
  told->served = told->code != COLLTOPO_DECLINED;
  told->worst_later_ms = timed(k_large, one.root);
  if (rooted(one.collective)) told->worst_later_ms = std::max(told->worst_later_ms, timed(k_small, one.ranks / 3));
  put(served_by(), told->by);
  put(caller.line(), told->line);
}

std::vector<Case> cases_of(int ranks, int per_node) {
  std::vector<Case> all;
  for (int c = 0; c < k_calls; ++c) {
    Case one{static_cast<Collective>(c), "auto", ranks, per_node};
    all.push_back(one);
    one.is_others_wrong = true;
    all.push_back(one);
    if (reduces(one.collective)) {
      one.exact = false;
      all.push_back(one);
      one.commutative = false;
      all.push_back(one);
      one.exact = one.commutative = true;
    }
    if (rooted(one.collective)) {
      one.root = ranks - 1;
      all.push_back(one);
      one.root = 0;
    }
    one.is_others_wrong = false;
    for (const Algorithm& row : algorithms()) {
      if (!serves(row, one.collective)) continue;
      one.algorithm = row.name;
      one.root = 0;
      all.push_back(one);
      if (!rooted(one.collective)) continue;
      one.root = ranks / 2 + 1;
      all.push_back(one);
    }
  }
  return all;
}

class Trials {
 public:
  explicit Trials(const Options& options) : options_(options) {
    void* const memory = mmap(nullptr, sizeof(Told), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    told_ = new (memory) Told;
  }

  void run(const Case& one) {
    std::optional<std::string> first;  // what serves it on the first rank
    for (const int rank : {0, one.ranks / 2 + 1, one.ranks - 1}) {
      *told_ = Told{};
      const bool ended = in_own_process([&] { try_case(one, rank, told_); });
      ++cases_;
      const std::string fault = fault_of(one, rank, ended);
      if (!fault.empty()) {
        ++faults_;
        fmt::print("{}: rank {}: {}\n", one.name(), rank, fault);
      }
      const std::string by = told_->served ? told_->by.data() : "others";
      if (!first) first = by;
      if (fault.empty() && by != *first) {
        ++faults_;
        fmt::print("{}: {} on rank {}, {} on rank 0\n", one.name(), by, rank, *first);
      }
      note_time(one, rank);
      if (options_.verbose)
        fmt::print("{}: rank {}: {}, {:.2f} ms, later {:.2f} ms{}{}\n", one.name(), rank, by, told_->first_ms,
                   told_->worst_later_ms, told_->line[0] == '\0' ? "" : "; ", told_->line.data());
    }
  }

  int end() {
    fmt::print("{} calls of one rank, {} not answered; slowest first call left alone on {} ranks: {:.1f} ms ({})\n",
               cases_, faults_, k_measured_ranks, slowest_ms_, slowest_);
    const bool is_slow = options_.most_ms > 0 && slowest_ms_ > options_.most_ms;
    if (is_slow) fmt::print("{:.1f} ms are more than {}\n", slowest_ms_, options_.most_ms);
    return faults_ > 0 || is_slow ? 1 : 0;
  }

 private:
  // Rank 0 speaks for all.
  std::string fault_of(const Case& one, int rank, bool ended) const {
    if (!ended) return "its process ended";
    if (!is_answer(one, told_->code)) return fmt::format("the call gives {} {}", told_->code, told_->fault.data());
    if (one.is_left_alone() && told_->line[0] != '\0') return fmt::format("said \"{}\"", told_->line.data());
    if (!one.is_left_alone() && !told_->served && rank == 0 && told_->line[0] == '\0')
      return "left to others without a word";
    return "";
  }
  // The least of three: others use the machine.
  void note_time(const Case& one, int rank) {
    if (!one.is_left_alone() || one.ranks != k_measured_ranks) return;
    double least = told_->first_ms;
    for (int again = 0; again < 2 && least > std::max(slowest_ms_, options_.most_ms); ++again) {
      in_own_process([&] { try_case(one, rank, told_); });
      least = std::min(least, told_->first_ms);
    }
    if (least <= slowest_ms_) return;
    slowest_ms_ = least;
    slowest_ = fmt::format("{}, rank {}", one.name(), rank);
  }

  const Options& options_;
  Told* told_ = nullptr;
  int cases_ = 0, faults_ = 0;
  double slowest_ms_ = 0;
  std::string slowest_ = "none";
};

std::vector<int> numbers_in(std::string_view text) {
  std::vector<int> all;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    int number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc{} || end != word.data() + word.size() || number < 1)
      throw std::invalid_argument(fmt::format("\"{}\" is no number from 1 on", word));
    all.push_back(number);
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return all;
}

Options options_of(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--verbose") {
      options.verbose = true;
      continue;
    }
    if (++i == argc) throw std::invalid_argument(fmt::format("{} has no value", word));
    if (word == "--ranks")
      options.ranks = numbers_in(argv[i]);
    else if (word == "--per-node")
      options.per_node = numbers_in(argv[i]);
    else if (word == "--only")
      options.only = argv[i];
    else if (word == "--every")
      options.every = numbers_in(argv[i]).at(0);
    else if (word == "--most-ms")
      options.most_ms = numbers_in(argv[i]).at(0);
    else
      throw std::invalid_argument(fmt::format("\"{}\" is no option", word));
  }
  return options;
}

int run(const Options& options) {
  Trials trials(options);
  std::size_t turn = 0;
  for (const int ranks : options.ranks)
    for (const int per_node : options.per_node) {
      const std::vector<Case> all = cases_of(ranks, per_node);
      for (const Case& one : all) {
        if (one.name().find(options.only) == std::string::npos) continue;
        if (turn++ % static_cast<std::size_t>(options.every) == 0) trials.run(one);
      }
    }
  return trials.end();
}

}  // namespace
}  // namespace colltopo::bench

int main(int argc, char** argv) {
  try {
    return colltopo::bench::run(colltopo::bench::options_of(argc, argv));
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "scale: %s\n", error.what());
    return 2;
  }
}
