// colltopo generate: what its kinds of algorithms share. Each kind is one file.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/process_team.h"
#include "cli/progress.h"
#include "colltopo/algorithms.h"
#include "colltopo/sections.h"
#include "colltopo/synthesis.h"

namespace colltopo::cli {

struct GenerateArguments {
  std::string algorithm;
  std::string topology;
  std::string collective;
  std::string output;
  bool binary = false;
  std::vector<Breakage> without;

  // Closed forms.
  AlgorithmOptions options;
  std::string dimensions;
  std::string ports = "multi";
  Rank root = 0;
  bool parametric = false;

  // Routings and flows.
  SynthesisOptions synthesis;
  std::string path_set = "widened";  // or shortest, bounded:L
  std::string children = "strip";
  std::int32_t most_chunks = 0;  // 0: the method's own
  std::string layers;            // empty: the default
  std::string from;              // a schedule to begin with
  std::string from_topology;     // what it was made for, where that cannot be told
  std::string from_lengths;      // what proved it
  std::string lengths;           // file to write: what proves the bound
  std::string demand;            // file of what hosts have for each other; empty: alike
  bool spare_routes = false;     // routes that no message takes as well

  // Trees.
  std::string trees;  // per host; a number, optimum or few; empty: optimum unless that needs very many
  std::string hosts;  // that take part; empty: all
  bool relay = false;

  // Rings.
  std::string tree = "bfs";
};

/// One kind of algorithms.
struct GenerateKind {
  std::vector<std::string> (*names)();
  /// Lines for the help text.
  std::string (*algorithms)();
  void (*add_options)(CLI::App& command, GenerateArguments& arguments);
  /// `team`: of the processes that share the work of an algorithm that spreads; nullptr: this process is alone.
  void (*run)(const GenerateArguments& arguments, Session& session, ProcessTeam* team);
  bool (*spreads)(const std::string& algorithm) = [](const std::string&) { return false; };
};
GenerateKind closed_forms();
GenerateKind routings();
GenerateKind stepped_flows();
GenerateKind forests();
GenerateKind rings();

/// How much the busiest link carries and must at least carry; returns the claim for the file.
std::string report_bound(Report& report, const Schedule& schedule, const Topology& topology);

/// A run of the command: begun before the work, ended with the time and memory that it took.
class Generation {
 public:
  Generation(const GenerateArguments& arguments, Session& session)
      : progress(session), arguments_(arguments), session_(session) {}

  /// TOPO without what --without names.
  Topology topology() const;
  /// Writes the schedule to -o, if given, in the form that was asked for.
  void write(const SectionedSchedule& schedule);
  void write(const Schedule& schedule) { write(sections_of(schedule)); }
  void write(const SymmetricSchedule& schedule);
  void write(const std::string& contents);
  /// What was made is wrong: exit status 1 and no file.
  void reject(const std::string& violation);
  /// What was made is right but not as good as it was asked for: exit status 1.
  void miss() { session_.status = k_examined_is_wrong; }
  /// Time, memory and file, then prints the report.
  void end();

  Report report;
  Progress progress;

 private:
  const GenerateArguments& arguments_;
  Session& session_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  bool rejected_ = false;
};

}  // namespace colltopo::cli
