// Mutated files for every reader. What a reader may do with one is take it or throw one Error of one line, soon.
//
//   colltopo-fuzz TARGET SECONDS [--only ITERATION] [--most INPUTS] FILE...
//
// Iteration i of a target is the same everywhere, so that one which ends badly is run again by its number, which is
// printed in any case. It has 10 s and 1 GiB, and at most 1 MB of input.
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <random>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/sanitizers.h"
#include "colltopo/algorithms.h"
#include "colltopo/demand.h"
#include "colltopo/error.h"
#include "colltopo/formats.h"
#include "colltopo/forwarding.h"
#include "colltopo/import.h"
#include "colltopo/route_shares.h"
#include "colltopo/routed.h"
#include "colltopo/text.h"
#include "colltopo/verify_sections.h"
#include "comm/constants.h"
#include "comm/decisions.h"
#include "comm/machine_network.h"
#include "comm/rules.h"
#include "networks.h"
#include "run_target.h"
#include "text/packed.h"
#include "tuning/tuning.h"

namespace {

using namespace colltopo;

struct Target {
  const char* name;
  std::vector<std::string> (*seeds)();  // besides the files
  void (*read)(const std::string& input);
  /// By what an input means, for most of them; null: as text alone.
  std::string (*mutate)(const std::vector<std::string>& seeds, std::mt19937_64& random) = nullptr;
  std::string (*report)() = nullptr;  // what there is to say at the end besides numbers of inputs
};

const Shape k_shape{Collective::alltoall, 6, 3, 0};

Topology network() { return random_network(2, 6, 2); }

SectionedSchedule routed() {
  const Topology topology = network();
  return routed_sections("routed", topology, chunked(topology, random_routing(topology, 1, 3), 3, 0),
                         LayerMethod::lash);
}

std::string binary_of(const SectionedSchedule& schedule) {
  std::ostringstream out;
  write_binary(out, schedule);
  return out.str();
}

std::vector<std::string> text_seeds() {
  std::vector<std::string> seeds;
  for (const char* name : {"direct", "tra", "ring", "binomial"})
    if (const Algorithm* algorithm = algorithm_named(name)) {
      const Shape shape{algorithm->collectives.front(), 5,
                        algorithm->chunks({algorithm->collectives.front(), 5, 1, 0}, {}), 0};
      std::ostringstream out;
      if (algorithm->refusal(shape, {}).empty()) write_schedule(out, generate(*algorithm, shape, {}));
      seeds.push_back(out.str());
    }
  std::ostringstream out;
  write_schedule(out, routed());
  seeds.push_back(out.str());
  return seeds;
}

std::string repeated(std::string_view text, std::size_t count) {
  std::string all;
  while (count-- > 0) all += text;
  return all;
}

/// `count` times the text, with the numbers from 0 in place of its first number.
std::string counted(std::string_view text, std::size_t count) {
  constexpr std::string_view k_digits = "0123456789";
  const std::size_t begin = std::min(text.find_first_of(k_digits), text.size());
  const std::size_t end = std::min(text.find_first_not_of(k_digits, begin), text.size());
  std::string all;
  for (std::size_t i = 0; i < count; ++i)
    all.append(text.substr(0, begin)).append(std::to_string(i)).append(text.substr(end));
  return all;
}

/// Deep, wide and many, in each format of a topology.
std::vector<std::string> topology_seeds() {
  const auto nested = [](const char* opens, const char* inside, const char* closes, std::size_t depth) {
    return repeated(opens, depth) + inside + repeated(closes, depth);
  };
  return {
      R"({"colltopo-topology": 1, "hosts": 2, "links": )" + nested("[", "", "]", 90) + "}",
      R"({"colltopo-topology": 1, "hosts": 2, "links": [)" + repeated(R"({"tail": 0, "head": 1},)", 500) + "{}]}",
      "graph {" + nested("subgraph {", "a -- b", "}", 90) + "}",
      "graph { edge [bandwidth=1e9] {a0 a1 a2 a3} -- {b0 b1 b2 b3} }",
      "graph { edge [" + repeated("bandwidth=1e9 ", 300) + "] " + repeated("{} -- {} ", 300) + "}",
      "SwitchName=s0 Nodes=n[0-99][0-9][000-004]\nSwitchName=s1 Nodes=m[1-3,5-9]\nSwitchName=top Switches=s[0-1]\n",
      "- topology: t\n  cluster_default: true\n  tree:\n    switches:\n    - switch: s\n      nodes: &n a[0-99]\n"
      "    - switch: r\n      nodes: *n\n",
      "- topology: t\n  tree: " + nested("[", "", "]", 90) + "\n",
      "<topology>" + nested("<object type=\"Package\">", "<object type=\"Core\"/>", "</object>", 90) + "</topology>",
      "<topology><object type=\"Machine\">" +
          repeated("<object type=\"Package\"><object type=\"Core\"/></object>", 200) + "</object></topology>",
      "<system version=\"1\">" + repeated("<cpu numaid=\"0\"><pci busid=\"0\"><gpu dev=\"0\"/></pci></cpu>", 50) +
          "</system>",
      "<graphml><graph>" + repeated("<node id=\"a\"><graph>", 40) + repeated("</graph></node>", 40) +
          "</graph></graphml>",
      "rank: coordinates\n0: 0 0 0 0\n1: 0 0 1 1\n2: 0 1 0 2\n",
      "grid 1x1x2x2 wraps\n0 1\n2 3\n0 2\n1 3\n",
  };
}

std::vector<std::string> xml_seeds() {
  return {"<algo name=\"a\" ngpus=\"2\" nchunksperloop=\"2\" coll=\"allgather\" inplace=\"0\">" +
          repeated("<gpu id=\"0\" i_chunks=\"1\" o_chunks=\"2\" s_chunks=\"0\"><tb id=\"0\" send=\"1\" recv=\"1\" "
                   "chan=\"0\"><step s=\"0\" type=\"s\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"0\" cnt=\"1\" "
                   "depid=\"-1\" deps=\"-1\" hasdep=\"0\"/></tb></gpu>",
                   20) +
          "</algo>"};
}

/// A proof takes more time than reading, with the square of the ranks.
void read_whole(const std::string& input) {
  constexpr Chunk k_most = 1 << 12;
  std::istringstream in(input);
  const Schedule schedule = read_schedule(in, "FILE");
  if (schedule.shape.ranks * schedule.shape.chunks <= k_most) verify(schedule);
}

void read_resealed(const std::string& input) {
  const std::string text = sealed(input);
  std::istringstream in(text);
  if (text.find("\norbits ") != std::string::npos)
    read_symmetric(in, "FILE");
  else
    read_whole(text);
}

/// A file of this process, gone when it is no longer needed.
class ScratchFile {
 public:
  ScratchFile() {
    const char* const folder = std::getenv("TEST_TMPDIR");
    path_ = std::string(folder != nullptr ? folder : "/tmp") + "/fuzz." + std::to_string(getpid());
  }
  ~ScratchFile() { std::remove(path_.c_str()); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  const std::string& path() const { return path_; }
  std::string contents() const {
    std::ifstream in(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::string path_;
};

template <class Read>
void read_by_file(const std::string& input, const Read& read) {
  const ScratchFile file;
  std::ofstream(file.path(), std::ios::binary) << input;
  read(file.path());
}

std::vector<std::string> rules_seeds() {
  return {R"({"rule_file_version": 3, "collectives": {
    "alltoall": [{"comm_size_min": 4, "comm_size_max": 64, "comm_rank_distribution": "one-per-node", "rules": [
      {"msg_size_max": 1024, "alg": "tra:radix=4"}, {"alg": "pairwise", "faninout": 0, "reqs": 0}]}],
    "allreduce": [{"topology": "torus:4x4", "rules": [{"alg": "swing"}]}]}})"};
}

std::vector<std::string> constants_seeds() {
  const ScratchFile file;
  ConstantsRecord record;
  record.hosts = {"a", "b"};
  record.transport = transport_of_environment();
  record.version = this_version();
  for (const ConstantName& constant : constant_names()) record.constants[constant.name] = 1e-6;
  record.alone = record.constants;
  record.times = {{"alltoall", "tra", {{8, 1e-5}, {512, 2e-5}, {16384, 1e-3}}, {}, {{8, 0.02}}}};
  write_constants(file.path(), record);
  return {file.contents()};
}

std::vector<std::string> decisions_seeds() {
  const ScratchFile file;
  Decisions decisions;
  Outcome outcome;
  outcome.key.to = 1024;
  outcome.key.previous = "tuned";
  outcome.winner = "tra:radix=2";
  for (const char* name : {"tra:radix=2", "linear"}) outcome.times.push_back({name, 1e-6});
  decisions.add(outcome);
  outcome.key.collective = Collective::allreduce;
  outcome.key.operation = 1;
  outcome.winner = k_by_schedules;
  decisions.add(outcome);
  DecisionFile::add(file.path(), "8 ranks on 2 nodes", decisions);
  return {file.contents()};
}

std::vector<std::string> tuned_seeds() {
  std::vector<std::string> seeds;
  const std::vector<tuning::Rule> rules = {{Collective::alltoall, 4, 15, 0, 511, "linear"},
                                           {Collective::alltoall, 16, 64, 0, 4096, "pairwise"}};
  for (const tuning::Dialect dialect : {tuning::Dialect::tuned, tuning::Dialect::tuned_json, tuning::Dialect::ucc})
    seeds.push_back(tuning::written(rules, dialect));
  return seeds;
}

std::vector<std::string> demand_seeds() {
  return {"0,1e6,2.5\n3,0,4\n5,6,0\n", "0 1 2\n3 0 4\n5 6 0\n", "source,target,bytes\n0,1,1e6\n2,0,17\n",
          "%%MatrixMarket matrix coordinate real general\n% of a run\n3 3 2\n1 2 1e6\n3 1 17\n"};
}

std::vector<std::string> hosts_seeds() { return {"node1 slots=4\nnode2:2\n# spare\n\nnode3 max_slots=8 # rack 2\n"}; }

std::vector<std::string> tables_seeds() {
  const Schedule schedule = whole(routed());
  std::ostringstream out;
  write_json_routes(out, schedule, network(), forwarding_tables(schedule, network()));
  return {out.str()};
}

void read_tables(const std::string& input) {
  static const Schedule schedule = whole(routed());
  static const Topology topology = network();
  std::istringstream in(input);
  forwarding_faults(schedule, topology, read_json_routes(in, "FILE", schedule, topology));
}

std::vector<std::string> shares_seeds() {
  const Schedule schedule = whole(routed());
  return {RouteShares(schedule.routes, routing_of(schedule), schedule.shape.chunks).text()};
}

const std::array k_targets = {
    Target{"topology", topology_seeds, [](const std::string& input) { import_topology(input, "FILE", ""); }},
    Target{"text", text_seeds, read_whole},
    Target{"resealed", text_seeds, read_resealed},
    Target{"xml", xml_seeds, [](const std::string& input) { verify(read_any_schedule(input, "FILE", "msccl-xml")); }},
    Target{"binary", [] { return std::vector{binary_of(routed())}; }, read_whole},
    Target{"section", [] { return std::vector{text::packed(routed().program(2))}; },
           [](const std::string& input) { text::unpacked_program(input, k_shape, 2, 1); }},
    Target{"routes", [] { return std::vector{text::packed(routed().routes(2), k_shape, 2)}; },
           [](const std::string& input) { text::unpacked_routes(input, k_shape, 2); }},
    Target{"tables", tables_seeds, read_tables},
    Target{"shares", shares_seeds, [](const std::string& input) { RouteShares::from_text(input); }},
    Target{"rules", rules_seeds, [](const std::string& input) { read_by_file(input, Rules::read); }},
    Target{"constants", constants_seeds, [](const std::string& input) { read_by_file(input, read_constants); }},
    Target{"decisions", decisions_seeds, [](const std::string& input) { read_by_file(input, DecisionFile::read); }},
    Target{"demand", demand_seeds, [](const std::string& input) { read_demand(input, "FILE", 3); }},
    Target{"hosts", hosts_seeds, [](const std::string& input) { read_by_file(input, listed_hosts); }},
    Target{"tuned", tuned_seeds, [](const std::string& input) { tuning::read_rules(input, "FILE"); }},
    Target{"run", fuzz::run_seeds, fuzz::run_every_way, fuzz::mutated_schedule, fuzz::runs_done},
};

std::string mutated(const std::vector<std::string>& seeds, std::mt19937_64& random) {
  const auto below = [&](std::size_t end) { return static_cast<std::size_t>(random() % end); };
  constexpr std::array k_numbers = {"0",        "1", "-1",        "4294967296", "18446744073709551616", "1e308", "nan",
                                    "99999999", "",  "268435456", "1048576",    "[000-99999]"};
  struct Brackets {
    std::string_view opens, closes;
  };
  constexpr std::array<Brackets, 8> k_nests = {{{"[", "]"},
                                                {"{", "}"},
                                                {"(", ")"},
                                                {"{\"a\":", "}"},
                                                {"<a>", "</a>"},
                                                {"subgraph {", "}"},
                                                {"- ", ""},
                                                {"<object type=\"Group\">", "</object>"}}};
  constexpr std::size_t k_most_bytes = 1 << 20;  // what the bounds hold for
  std::string input = seeds[below(seeds.size())];
  for (std::size_t left = 1 + below(4); left > 0 && !input.empty(); --left) {
    const std::size_t at = below(input.size()), count = below(std::min<std::size_t>(input.size() - at, 40) + 1);
    switch (below(9)) {
      case 0:
        input[at] = static_cast<char>(random());
        break;
      case 1:
        input.erase(at, count);
        break;
      case 2:
        input.insert(below(input.size()), input.substr(at, count));
        break;
      case 3: {  // a number becomes another
        const std::size_t digit = std::min(input.find_first_of("0123456789", at), input.size());
        const std::size_t end = std::min(input.find_first_not_of("0123456789", digit), input.size());
        input.replace(digit, end - digit, k_numbers[below(k_numbers.size())]);
        break;
      }
      case 4: {  // a line is lost or doubled
        const std::size_t begin = input.rfind('\n', at) + 1, end = std::min(input.find('\n', at), input.size());
        const std::string line = input.substr(begin, end - begin + 1);
        if (below(2) == 0)
          input.erase(begin, line.size());
        else
          input.insert(begin, line);
        break;
      }
      case 5: {  // a piece of another seed
        const std::string& other = seeds[below(seeds.size())];
        if (!other.empty()) input.insert(at, other.substr(below(other.size()), below(60)));
        break;
      }
      case 6: {  // a piece stands many times, or a line with another number each time
        const std::size_t times = (std::size_t{1} << below(18)) + below(3);
        const std::size_t room = k_most_bytes - std::min(input.size(), k_most_bytes);
        if (below(2) == 0) {
          if (count > 0) input.insert(at, repeated(input.substr(at, count), std::min(times, room / count)));
          break;
        }
        const std::size_t begin = input.rfind('\n', at) + 1, end = std::min(input.find('\n', at), input.size());
        const std::string line = input.substr(begin, end - begin + 1);
        input.insert(begin, counted(line, std::min(times, room / (line.size() + 6))));
        break;
      }
      case 7: {  // a piece stands in many brackets
        const auto& [opens, closes] = k_nests[below(k_nests.size())];
        const std::size_t depth = std::min((std::size_t{1} << below(18)) + below(3),
                                           (k_most_bytes - std::min(input.size(), k_most_bytes)) / 40);
        input.insert(at + count, repeated(closes, depth));
        input.insert(at, repeated(opens, depth));
        break;
      }
      default:
        input[at] = static_cast<char>(input[at] ^ (1 << below(8)));
    }
  }
  return input;
}

// 10 s and 1 GiB for 1 MB of input; sanitizers take some four times as much of both.
#if defined(COLLTOPO_SANITIZES_ADDRESS)
constexpr int k_most_seconds = 40;
#else
constexpr int k_most_seconds = 10;
constexpr rlim_t k_most_memory = rlim_t{1} << 30;
#endif

/// Of processor time, for the machine may be busy with others: SIGVTALRM at its end. 0: none.
void set_timer(int seconds) {
  itimerval timer{};
  timer.it_value.tv_sec = seconds;
  setitimer(ITIMER_VIRTUAL, &timer, nullptr);
}

volatile std::sig_atomic_t iteration_at_hand = 0;

void say_where(int signal) {
  std::array<char, 64> text{};
  const int length = std::snprintf(text.data(), text.size(), "signal %d in iteration %d\n", signal,
                                   static_cast<int>(iteration_at_hand));
  if (length > 0 && write(2, text.data(), static_cast<std::size_t>(length)) < 0) _exit(3);
  _exit(2);
}

/// Whether the reader did what it may.
bool right(const Target& target, const std::string& input, int iteration, bool& taken) {
  std::string fault;
  set_timer(k_most_seconds);
  try {
    target.read(input);
    taken = true;
  } catch (const Error& error) {
    const std::string what = error.what();
    if (what.empty() || what.find('\n') != std::string::npos) fault = "a message of other than one line: " + what;
  } catch (const std::exception& error) {
    fault = std::string("another exception than Error: ") + error.what();
  }
  set_timer(0);
  if (!fault.empty()) std::fprintf(stderr, "%s, iteration %d: %s\n", target.name, iteration, fault.c_str());
  return fault.empty();
}

}  // namespace

#if defined(COLLTOPO_SANITIZES_ADDRESS)
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() { return "hard_rss_limit_mb=4096"; }
#endif

int main(int count, char** words) {
  if (count < 3)
    return std::fputs("colltopo-fuzz TARGET SECONDS [--only ITERATION] [--most INPUTS] FILE...\n", stderr), 2;
  const Target* target = nullptr;
  for (const Target& known : k_targets)
    if (std::strcmp(known.name, words[1]) == 0) target = &known;
  if (target == nullptr) return std::fprintf(stderr, "%s: no such target\n", words[1]), 2;
  int only = -1, most = std::numeric_limits<int>::max();
  std::vector<std::string> seeds = target->seeds();
  for (int i = 3; i < count; ++i) {
    if (std::strcmp(words[i], "--only") == 0 && i + 1 < count) {
      only = std::atoi(words[++i]);
      continue;
    }
    if (std::strcmp(words[i], "--most") == 0 && i + 1 < count) {
      most = std::atoi(words[++i]);
      continue;
    }
    std::ifstream in(words[i], std::ios::binary);
    if (!in) return std::fprintf(stderr, "%s: cannot be read\n", words[i]), 2;
    seeds.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  if (seeds.empty()) return std::fputs("no files; expected some to begin with\n", stderr), 2;
#if !defined(COLLTOPO_SANITIZES_ADDRESS)  // which reserves more than there is; its own limit is below
  // A reader that believes a number and asks for that much memory shall fail, not the machine.
  const rlimit memory{k_most_memory, k_most_memory};
  setrlimit(RLIMIT_AS, &memory);
#endif
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL, SIGVTALRM}) std::signal(signal, say_where);

  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(std::atof(words[2]));
  int runs = 0, taken = 0;
  for (int i = std::max(only, 0); only >= 0 ? i == only : runs < most && std::chrono::steady_clock::now() < end;
       ++i, ++runs) {
    iteration_at_hand = i;
    std::mt19937_64 random(static_cast<std::uint64_t>(i));
    const bool by_meaning = target->mutate != nullptr && random() % 8 != 0;
    const std::string input = by_meaning ? target->mutate(seeds, random) : mutated(seeds, random);
    bool took = false;
    if (!right(*target, input, i, took)) {
      std::ofstream("fuzz.failed", std::ios::binary) << input;
      return 1;
    }
    taken += took ? 1 : 0;
  }
  std::printf("%s: %d inputs, %d taken\n", target->name, runs, taken);
  if (target->report != nullptr) std::printf("%s\n", target->report().c_str());
  return 0;
}
