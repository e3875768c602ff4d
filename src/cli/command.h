// What every subcommand shares: arguments that are files or specs, reports for people and scripts, files to write.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "colltopo/schedule.h"
#include "colltopo/symmetric.h"
#include "colltopo/topology.h"

namespace colltopo::cli {

enum ExitStatus { k_good = 0, k_examined_is_wrong = 1, k_usage = 2 };

/// How a run of the command ends, and how it speaks.
struct Session {
  int status = k_good;
  bool json = false;
  bool silent = false;  // one of several processes, of which another speaks
};

/// Adds a subcommand with --json.
CLI::App* subcommand(CLI::App& app, Session& session, const std::string& name, const std::string& about);

void add_generate(CLI::App& app, Session& session);
void add_verify(CLI::App& app, Session& session);
void add_cost(CLI::App& app, Session& session);
void add_draw(CLI::App& app, Session& session);
void add_convert(CLI::App& app, Session& session);
void add_topology(CLI::App& app, Session& session);
void add_explain(CLI::App& app, Session& session);
void add_tune(CLI::App& app, Session& session);
void add_bound(CLI::App& app, Session& session);
void add_routes(CLI::App& app, Session& session);
void add_prepare(CLI::App& app, Session& session);
void add_simulate(CLI::App& app, Session& session);
void add_rules(CLI::App& app, Session& session);
void add_doctor(CLI::App& app, Session& session);
/// All but topology, bound, generate, verify, draw and routes, which are what a demonstration needs: the others'
/// sources are left out of its first build (COLLTOPO_ALL_COMMANDS).
void add_others(CLI::App& app, Session& session);

/// As --json prints it; bytes that are not UTF-8 become U+FFFD.
std::string json_text(const nlohmann::ordered_json& value);

/// Expanding and proving every program takes memory and time proportional to all chunks moved: not done for more.
inline constexpr Rank k_most_ranks_expanded = 2048;

inline constexpr double k_any_size = std::numeric_limits<double>::infinity();
/// Of an option: a number from `least` to `most`, both allowed; no NaN. The message gives both.
CLI::Validator number(double least, double most = k_any_size);
/// Of --threads: more than any machine has would only fail to start.
inline constexpr double k_most_threads = 4096;

/// One result, as lines "name  value" for people or as one JSON object.
class Report {
 public:
  /// `name` as in JSON; people see it with spaces for underscores. `text`: for people, if not the plain value.
  Report& add(const std::string& name, nlohmann::ordered_json value, std::string text = "");
  /// For scripts only.
  Report& add_hidden(const std::string& name, nlohmann::ordered_json value);

  std::string text() const;
  std::string json() const;
  /// On standard output; people's text goes to standard error when `output` is "-", being where the data went.
  void print(const Session& session, const std::string& output = "") const;

 private:
  std::vector<std::pair<std::string, std::string>> lines_;
  nlohmann::ordered_json values_ = nlohmann::ordered_json::object();
};

/// The whole of a file, or of standard input for "-".
std::string file_contents(const std::string& path);
/// Name of an input for messages: "standard input" for "-".
std::string input_name(const std::string& path);
/// Replaces a file whole, or writes standard output for "-"; with --json nothing else may go there.
void write_output(const std::string& path, const std::string& contents, const Session& session);
/// Throws Error where standard output has not taken all that was written to it.
void end_output();

/// A topology file of any known format, "-", "switches:FILE" or a spec string. `format` as import_topology takes it,
/// for files alone.
Topology topology_argument(const std::string& argument, const std::string& format = "");

/// Of --without: kind ("link" or "host") and name ("A-B", "A").
using Breakage = std::pair<std::string, std::string>;
void add_without(CLI::App& command, std::vector<Breakage>& without);
/// The same without what is broken: hosts go first.
Topology topology_argument(const std::string& argument, const std::vector<Breakage>& without,
                           const std::string& format = "");
/// A schedule file of any known format, or "-". `format` as read_any_schedule() takes it. A symmetric one is written
/// out whole, on the topology `on` or that which it names; throws Error when it has too many ranks for that.
Schedule schedule_argument(const std::string& path, const std::string& format = "", const std::string& on = "");
/// The same of contents that have been read; `name` for messages.
Schedule schedule_in(const std::string& contents, const std::string& name, const std::string& format = "",
                     const std::string& on = "");
/// Contents as a symmetric schedule; nothing when they are of another form.
std::optional<SymmetricSchedule> symmetric_in(const std::string& contents, const std::string& name);
/// --format of a schedule file.
void add_schedule_format(CLI::App& command, std::string& format);
/// The topology of --on or, where that is empty, the one that the schedule says it was made for. Throws Error when it
/// says none or it cannot be had.
Topology topology_of_schedule(const Schedule& schedule, const std::string& on);
Topology topology_of_schedule(const SymmetricSchedule& schedule, const std::string& on);
/// Sides of more than one rank: of --dimensions or, where that is empty, `own`. Throws Error unless they hold the
/// hosts.
std::vector<int> sides_argument(const std::string& dimensions, const Topology& topology, std::vector<int> own);
Collective collective_argument(const std::string& name);
/// Also calls that are served by the schedules of another collective.
Collective call_argument(const std::string& name);
/// "1K,64K,1000": counts of bytes; K, M and G are powers of 1024.
std::vector<std::size_t> bytes_argument(const std::string& list);

/// The most memory that this process has had.
long peak_memory_bytes();
std::string peak_memory_text();  // "6.0 MiB"

/// "1 rank", "8 ranks".
std::string counted(std::size_t count, const std::string& noun);

}  // namespace colltopo::cli
