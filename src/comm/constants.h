// Measured constants of a machine: what colltopo-probe writes, and what the model takes instead of its own.
//
// A file holds a record for each set of hosts, number of ranks per host, transport and version. Found by itself, it
// lies in the user's cache folder. Rank 0 finds the record and tells the others, so that all have the same prices.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "colltopo/choice.h"
#include "colltopo/node_network.h"
#include "comm/settings.h"

namespace colltopo {

/// A constant of Machine by the name of its setting, in seconds or bytes per second.
struct ConstantName {
  const char* name;
  double Machine::*field;
  bool is_rate;
};
std::span<const ConstantName> constant_names();

struct ConstantsRecord {
  /// What one algorithm took with all ranks, by bytes.
  struct Times {
    std::string collective, algorithm;  // "alltoall", "tra" or "tra:radix=4"; "fallback": what calls are left to
    std::map<std::size_t, double> seconds;
    std::string component = {};  // of Open MPI's, that is: "tuned"
    /// Standard errors of those, as parts of them, by bytes; not of sizes that had too few turns for that.
    std::map<std::size_t, double> errors = {};
  };
  std::vector<std::string> hosts;  // without domains, sorted
  int ranks_per_host = 1;
  std::string transport, version;
  /// By name, with all ranks at work at once: what a collective meets. Also `bandwidth_cut`: a node's rate with all
  /// nodes exchanging with those half of the nodes away.
  std::map<std::string, double> constants;
  std::map<std::string, double> alone;  // the same of one pair of ranks
  std::vector<Times> times = {};
  long long places = 0;      // places_of() the ranks that they were measured on
  bool by_lanes = false;     // that they were served by
  double seconds = 0;        // that measuring took
  std::string library = {};  // of MPI, with its version; "": that was not known
};

/// As it stands in the file.
nlohmann::ordered_json json_of(const ConstantsRecord& record);

/// $XDG_CACHE_HOME/colltopo/constants.json, or below ~/.cache; "" where there is neither.
std::string default_constants_path();
/// What of the environment decides how messages travel: "pml ob1, btl tcp,self"; "default".
std::string transport_of_environment();
std::string this_version();
std::string without_domain(std::string host);

/// Throws Error: "FILE: fact, expectation". A file that does not exist has no records.
std::vector<ConstantsRecord> read_constants(const std::string& path);
/// In place of the record of the same hosts, ranks per host, transport, version and library, whose times stay where
/// this one has none. Throws Error.
void write_constants(const std::string& path, ConstantsRecord record);

/// Takes records that have this host out of the file ("": all of them); returns how many. Throws Error.
std::size_t forget_constants(const std::string& path, const std::string& host);

/// Whose measurements fit: made with this version and transport, on hosts that have these among them; of several the
/// one of this MPI library, or where that is not known of any, whose ranks per host are nearest. Null: none.
const ConstantsRecord* fitting(std::span<const ConstantsRecord> records, const std::vector<std::string>& hosts,
                               int ranks_per_host, std::string_view library = "");

/// Which ranks share a node, as one number: [rank] number of its node, in the order in which nodes first come.
long long places_of(std::span<const int> node_of);

/// Whether there is a file to look into: cheap, for every new communicator asks. Throws Error.
bool has_constants(const Settings& settings);
/// The line that tells other ranks what the setting `constants` comes to for these hosts, and what algorithms took if
/// that was measured with this MPI library ("": any) on ranks that lie like these and no setting goes before it; "":
/// nothing is measured. Throws Error.
std::string constants_line(const Settings& settings, const std::vector<std::string>& hosts, const Placement& placement,
                           std::string_view library = "");
/// Whether a line is one of these.
bool is_constants_line(const std::string& line);

/// A constant, and where it is from: "default", "setting", "topology", or the file.
struct SourcedConstant {
  const char* name;
  double value;
  std::string source;
  bool is_rate;
};
/// The machine of the settings; in place of what nobody set, what a constants_line() has, or else `links`, what
/// the network says, does.
Machine machine_with(const Settings& settings, const std::string& line, const LinkConstants& links,
                     std::vector<SourcedConstant>* sources);
/// The times in a constants_line(); of a line that has come before the same ones.
MeasuredRows measured_rows(const std::string& line);
/// Of how many algorithms of ours they are.
std::size_t measured_algorithms(const MeasuredRows& measured);
/// "prices are fitted to 31 measured algorithms; half of ...", for people.
std::string error_text(const MeasuredRows& measured, std::optional<double> error);
/// "latency_node 0.9 us, ... (measured, FILE); bandwidth_node 8 GB/s (default)".
std::string text_of(const std::vector<SourcedConstant>& constants);

}  // namespace colltopo
