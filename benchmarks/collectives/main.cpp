// colltopo-bench: is a collective right, and how fast is it against another way to run it? Several algorithms take
// turns in one process; coll/topo's own counters must agree about who served the calls, because a silent fallback is
// fast too.
#include <fmt/format.h>
#include <mpi.h>

#include <array>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/replace_file.h"
#include "caller.h"
#include "contender.h"
#include "exchange.h"
#include "options.h"
#include "overhead.h"
#include "probe/counters.h"
#include "probe/steady_heap.h"
#include "record.h"
#include "sizes.h"
#include "timing.h"

namespace colltopo::bench {
namespace {

struct Job {
  int rank = 0;
  int ranks = 0;
  MPI_Comm control = MPI_COMM_NULL;  // without coll/topo, so that its counters count only what is measured
};

// Of coll/topo, in one call, of all ranks together.
struct Messages {
  double all = 0;
  double between_nodes = 0;
};

struct Row {
  const Contender* contender = nullptr;
  Served served;
  Messages messages;
  Timing timing;
  std::optional<Overlap> overlap;
  bool correct = true;
  std::vector<std::string> complaints;  // one per rank that has one
};

// Rank 0 learns every rank's text; the others nothing.
std::vector<std::string> said_by_ranks(const Job& job, const std::string& text) {
  std::array<char, 256> mine{};
  text.copy(mine.data(), mine.size() - 1);
  std::vector<char> all(job.rank == 0 ? mine.size() * static_cast<std::size_t>(job.ranks) : 0);
  const int length = static_cast<int>(mine.size());
  MPI_Gather(mine.data(), length, MPI_CHAR, all.data(), length, MPI_CHAR, 0, job.control);
  std::vector<std::string> lines;
  for (std::size_t from = 0; from < all.size(); from += mine.size())
    if (all[from] != '\0') lines.push_back(fmt::format("rank {}: {}", from / mine.size(), all.data() + from));
  return lines;
}

bool any_rank(const Job& job, bool mine) {
  int value = mine ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT, MPI_MAX, job.control);
  return value != 0;
}

// Twice with different values: a plan that was right when it was made may keep something that it should not.
void check_values(const Job& job, const Case& what, Row& row) {
  const bool rooted = name_of(what.kind).rooted;
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    Case one = what;
    if (rooted && seed == 2) one.root = (what.root + job.ranks - 1) % job.ranks;
    Exchange exchange(one, job.rank, job.ranks);
    for (int repeat = 0; repeat < 2; ++repeat) {
      const std::uint64_t values = seed * 1000 + static_cast<std::uint64_t>(repeat);
      exchange.fill(values);
      Caller(exchange, row.contender->comm(), row.contender->form()).call();
      const Wrong wrong = exchange.compare(values);
      if (!any_rank(job, wrong.elements != 0)) continue;
      row.correct = false;
      const std::string text = wrong.elements == 0 ? "" : fmt::format("{} wrong: {}", wrong.elements, wrong.first);
      for (const std::string& line : said_by_ranks(job, text)) row.complaints.push_back(line);
      return;
    }
  }
}

void check_server(const Job& job, Row& row, const Served& served, unsigned long long calls) {
  row.served = served;
  const std::string text = complaint(*row.contender, served, calls, job.ranks);
  if (!any_rank(job, !text.empty())) return;
  row.correct = false;
  for (const std::string& line : said_by_ranks(job, text)) row.complaints.push_back(line);
}

Messages messages_of(const Job& job, const Served& served, int calls) {
  std::array<double, 2> sums = {static_cast<double>(served.messages),
                                static_cast<double>(served.messages_between_nodes)};
  MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_DOUBLE, MPI_SUM, job.control);
  return {sums[0] / calls, sums[1] / calls};
}

// All contenders on one case. Every call is counted, so that coll/topo's counters can be held against the number.
std::vector<Row> run(const Job& job, const Options& options, const Case& what,
                     const std::vector<std::unique_ptr<Contender>>& contenders, const Counters& counters) {
  std::vector<Row> rows;
  for (const auto& contender : contenders) {
    Row& row = rows.emplace_back();
    row.contender = contender.get();
    if (options.check) check_values(job, what, row);
  }

  Exchange exchange(what, job.rank, job.ranks);
  exchange.fill(0);
  std::vector<unsigned long long> made(rows.size());
  std::vector<Served> served(rows.size());
  std::vector<std::function<void()>> calls;
  std::vector<std::unique_ptr<Caller>> callers;
  callers.reserve(rows.size());
  for (const Row& row : rows)
    callers.push_back(std::make_unique<Caller>(exchange, row.contender->comm(), row.contender->form()));
  for (std::size_t i = 0; i < rows.size(); ++i)
    calls.emplace_back([&, i] {
      callers[i]->call();
      ++made[i];
    });

  // Counters belong to the process, not to a communicator: each contender is watched alone, before the timing.
  constexpr int k_watched = 3;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ServedSince since(counters);
    for (int repeat = 0; repeat < k_watched; ++repeat) calls[i]();
    check_server(job, rows[i], since.now(), made[i]);
    rows[i].messages = messages_of(job, rows[i].served, k_watched);
  }

  for (std::size_t i = 0; i < rows.size(); ++i)
    if (rows[i].contender->server() == Server::either) settle(calls[i], options.settle, job.control);

  const ServedSince all(counters);
  const std::vector<unsigned long long> before = made;
  const std::size_t group = options.versus ? rows.size() : 1;
  for (std::size_t first = 0; first < rows.size(); first += group) {
    const Measured measured = measure(std::span(calls).subspan(first, group), options.effort, job.control);
    for (std::size_t i = 0; i < group; ++i) rows[first + i].timing = measured.timings[i];
  }

  // And all together after it: a contender that stops being served on the way would be timed as something else.
  unsigned long long least = 0;
  unsigned long long most = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const unsigned long long timed = made[i] - before[i];
    if (rows[i].contender->server() == Server::topo && job.ranks > 1) least += timed;
    if (rows[i].contender->server() != Server::previous) most += timed;
  }
  const unsigned long long by_topo = all.now().by_topo;
  const bool outside = by_topo < least || by_topo > most;
  if (any_rank(job, outside)) {
    const std::string text =
        outside ? fmt::format("coll/topo served {} timed calls, not {} to {}", by_topo, least, most) : "";
    const auto lines = said_by_ranks(job, text);
    for (Row& row : rows) {
      row.correct = false;
      row.complaints.insert(row.complaints.end(), lines.begin(), lines.end());
    }
  }
  // Whoever may choose may have chosen anew meanwhile.
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].contender->server() != Server::either) continue;
    const ServedSince since(counters);
    calls[i]();
    rows[i].served = since.now();
    rows[i].messages = messages_of(job, rows[i].served, 1);
  }
  if (!options.record.empty()) {
    std::vector<SeriesRow> series;
    for (std::size_t i = 0; i < rows.size(); ++i) series.push_back({rows[i].contender->name(), calls[i]});
    const std::string about = fmt::format("{} of {} bytes on {} ranks, mean of the ranks, us", name_of(what.kind).name,
                                          what.count * size_of(what.element), job.ranks);
    record(options.record, about, series, options.record_calls, job.control);
  }
  for (std::size_t i = 0; options.overlap && i < rows.size(); ++i)
    if (rows[i].contender->form() != Form::blocking)
      rows[i].overlap = overlap(*callers[i], *options.overlap, options.effort, job.control);
  return rows;
}

nlohmann::ordered_json json_of(const Job& job, const Options& options, const Case& what, std::size_t bytes,
                               const Row& row) {
  nlohmann::ordered_json line;
  line["collective"] = name_of(what.kind).name;
  line["algorithm"] = row.contender->name();
  line["bytes"] = bytes;
  line["ranks"] = job.ranks;
  line["type"] = name_of(what.element);
  line["median_us"] = row.timing.call_us.median;
  line["p10_us"] = row.timing.call_us.p10;
  line["p90_us"] = row.timing.call_us.p90;
  line["ratio"] = row.timing.ratio > 0 ? nlohmann::ordered_json(row.timing.ratio) : nullptr;
  if (row.overlap) {
    line["overlap"] = {{"call_us", row.overlap->call_us},
                       {"compute_us", row.overlap->compute_us},
                       {"both_us", row.overlap->both_us},
                       {"hidden", row.overlap->hidden()}};
  }
  if (row.served.by_topo > 0) {
    line["messages"] = row.messages.all;
    line["messages_between_nodes"] = row.messages.between_nodes;
  }
  line["served_by"] = row.served.by_topo > 0 ? row.served.algorithm : "open-mpi";
  line["correct"] = options.check || !row.correct ? nlohmann::ordered_json(row.correct) : nullptr;
  return line;
}

void print_header(const Job& job, const Options& options) {
  fmt::print("{} ranks; times of a call in us; {}\n\n", job.ranks,
             options.versus
                 ? "ratio: median of the paired blocks, row's time by the last one's, and the last one's by the first's"
                 : "algorithms one after the other");
  fmt::print("{:<21}{:>6}  {:<26}{:>11}{:>11}{:>11}{:>8}  {:<9}{}\n", "collective", "bytes", "algorithm", "median",
             "p10", "p90", "ratio", "values", "served by");
}

void print_row(const Options& options, const Case& what, std::size_t bytes, const Row& row) {
  const std::string ratio = row.timing.ratio > 0 ? fmt::format("{:.3f}", row.timing.ratio) : "-";
  const char* values = !row.correct ? "WRONG" : options.check ? "right" : "-";
  fmt::print("{:<21}{:>6}  {:<26}{:>11.3f}{:>11.3f}{:>11.3f}{:>8}  {:<9}{}\n", name_of(what.kind).name,
             size_text(bytes), row.contender->name(), row.timing.call_us.median, row.timing.call_us.p10,
             row.timing.call_us.p90, ratio, values,
             row.served.by_topo > 0 ? "topo " + row.served.algorithm : "Open MPI");
  if (row.overlap)
    fmt::print("{:<29}call {:.1f} us, computing {:.1f} us, both {:.1f} us: {:.0f}% of the call hidden\n", "",
               row.overlap->call_us, row.overlap->compute_us, row.overlap->both_us, row.overlap->hidden() * 100);
  std::cout.flush();
}

nlohmann::ordered_json report_overhead(const Job& job, const Options& options, const Counters& counters) {
  nlohmann::ordered_json lines = nlohmann::ordered_json::array();
  std::string algorithm = options.algorithms.front();
  if (algorithm == "native" && options.algorithms.size() > 1) algorithm = options.algorithms[1];
  if (job.rank == 0 && !options.json)
    fmt::print(
        "\ncost of coll/topo ({}), {} fresh communicators; times in us, memory of one communicator on rank 0\n\n"
        "{:<21}{:>6}  {:<19}{:>12}{:>12}{:>12}{:>8}{:>10}{:>10}{:>10}{:>12}{:>12}\n",
        algorithm, options.overhead_communicators, "collective", "bytes", "algorithm", "first call", "cached call",
        "native", "ratio", "messages", "us per op", "plan hits", "B created", "B used");
  for (const Kind kind : options.collectives)
    for (const std::size_t bytes : options.sizes) {
      const Element element = element_for(options, bytes);
      const Case what{kind, bytes / size_of(element), element, options.reduction, options.root, options.spread};
      const Overhead cost =
          overhead(what, algorithm, options.overhead_communicators, options.effort, counters, job.control);
      lines.push_back({{"collective", name_of(kind).name},
                       {"asked", algorithm},
                       {"algorithm", cost.algorithm},
                       {"bytes", bytes},
                       {"first_call_us", cost.first_call_us},
                       {"cached_call_us", cost.cached_call_us},
                       {"native_call_us", cost.native_call_us},
                       {"ratio", cost.cached_ratio},
                       {"messages_per_call", cost.messages_per_call},
                       {"cached_op_us", cost.cached_op_us},
                       {"plan_hit_share", cost.plan_hit_share},
                       {"created_bytes", cost.created_bytes},
                       {"used_bytes", cost.used_bytes}});
      if (job.rank != 0 || options.json) continue;
      fmt::print(
          "{:<21}{:>6}  {:<19}{:>12.3f}{:>12.3f}{:>12.3f}{:>8.3f}{:>10.1f}{:>10.3f}{:>9.1f}%{:>12.0f}{:>12.0f}\n",
          name_of(kind).name, size_text(bytes), cost.algorithm, cost.first_call_us, cost.cached_call_us,
          cost.native_call_us, cost.cached_ratio, cost.messages_per_call, cost.cached_op_us, cost.plan_hit_share * 100,
          cost.created_bytes, cost.used_bytes);
      if (!cost.instead.empty())
        fmt::print("  ({} leaves this call to Open MPI; shown is the fastest here of {})\n", algorithm, cost.instead);
    }
  return lines;
}

bool bench(const Job& job, const Options& options, const Counters& counters) {
  const bool table = job.rank == 0 && !options.json;
  nlohmann::ordered_json results = nlohmann::ordered_json::array();
  bool correct = true;
  if (table) print_header(job, options);
  for (const Kind kind : options.collectives) {
    std::vector<std::unique_ptr<Contender>> contenders;
    for (const std::string& algorithm : options.algorithms)
      contenders.push_back(std::make_unique<Contender>(algorithm, kind, options.pace, options.spread));
    for (const std::size_t bytes : options.sizes) {
      const Element element = element_for(options, bytes);
      const Case what{kind, bytes / size_of(element), element, options.reduction, options.root, options.spread};
      for (const Row& row : run(job, options, what, contenders, counters)) {
        correct = correct && row.correct;
        results.push_back(json_of(job, options, what, bytes, row));
        if (table) print_row(options, what, bytes, row);
        for (const std::string& line : row.complaints)
          std::cerr << fmt::format("colltopo-bench: {} {} {} bytes: {}\n", name_of(kind).name, row.contender->name(),
                                   bytes, line);
      }
    }
  }
  nlohmann::ordered_json overheads;
  if (options.overhead_communicators > 0) overheads = report_overhead(job, options, counters);
  if (job.rank == 0 && options.json) {
    nlohmann::ordered_json all = {{"program", "colltopo-bench"}, {"ranks", job.ranks}, {"correct", correct}};
    all["results"] = results;
    if (!overheads.is_null()) all["overhead"] = overheads;
    std::cout << all.dump(2) << "\n";
  }
  return correct;
}

void write_demand(const Options& options, int ranks) {
  const std::size_t bytes = options.sizes.front();
  const std::size_t size = size_of(element_for(options, bytes));
  FileDraft draft(options.demand);
  std::ostream& file = draft.out();
  file << "source,target,bytes\n";
  for (int from = 0; from < ranks; ++from)
    for (int to = 0; to < ranks; ++to)
      if (const std::size_t count = elements_between(options.spread, bytes / size, ranks, from, to); count > 0)
        file << fmt::format("{},{},{}\n", from, to, count * size);
  draft.replace();
}

int run_job(int argc, char** argv) {
  Job job;
  MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &job.ranks);
  const Parsed parsed = parse(argc, argv, job.rank, job.ranks);
  if (!parsed.options) return parsed.status;
  int status = 2;
  try {
    if (!parsed.options->demand.empty() && job.rank == 0) write_demand(*parsed.options, job.ranks);
    const Contender control("native", Kind::allreduce);
    job.control = control.comm();
    const Counters counters;
    status = bench(job, *parsed.options, counters) ? 0 : 1;
  } catch (const Error& error) {  // rank 0's file: the others would wait for it
    std::cerr << "colltopo-bench: " << error.what() << "\n";
    MPI_Abort(MPI_COMM_WORLD, status);
  } catch (const std::invalid_argument& error) {
    if (job.rank == 0) std::cerr << "colltopo-bench: " << error.what() << "\n";
  }
  return status;
}

}  // namespace
}  // namespace colltopo::bench

int main(int argc, char** argv) {
  colltopo::keep_freed_memory();
  MPI_Init(&argc, &argv);
  int status = colltopo::bench::run_job(argc, argv);
  // All ranks come here before any ends: the first that ends badly has the others killed, with what they have not
  // written.
  if (!std::cout.flush()) {
    std::cerr << "colltopo-bench: standard output: cannot be written\n";
    status = 2;
  }
  MPI_Finalize();
  return status;
}
