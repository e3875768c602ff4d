#include "comm/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <deque>
#include <functional>

#include "base/lines.h"
#include "colltopo/error.h"
#include "colltopo/topology.h"
#include "comm/machine_network.h"

namespace colltopo {

namespace {

std::size_t byte_count(std::string_view name, std::string_view value) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  std::string_view unit(end, static_cast<std::size_t>(value.data() + value.size() - end));
  const std::size_t scale = unit.empty()                 ? 1
                            : unit == "K" || unit == "k" ? 1024
                            : unit == "M" || unit == "m" ? 1048576
                                                         : 0;
  if (error != std::errc{} || scale == 0 || number > (std::size_t{1} << 40)) {
    throw Error(fmt::format("{} is {}; must be a number of bytes such as 65536, 64K or 1M", name, in_quotes(value)));
  }
  return number * scale;
}

double seconds(std::string_view name, std::string_view value) {
  double parsed = 0;
  if (!parse_latency(value, parsed) || !(parsed >= 0))
    throw Error(fmt::format("{} is {}; must be a time such as 2us", name, in_quotes(value)));
  return parsed;
}

double bytes_per_second(std::string_view name, std::string_view value) {
  double parsed = 0;
  if (!parse_bandwidth(value, parsed) || !(parsed > 0)) {
    throw Error(fmt::format("{} is {}; must be a bandwidth such as 100Gbps or 12GBps", name, in_quotes(value)));
  }
  return parsed;
}

Grouping grouping_from(std::string_view value) {
  constexpr std::array<std::string_view, COLLTOPO_LEVELS> k_levels = {"node", "package", "numa", "l3"};
  if (const auto found = std::ranges::find(k_levels, value); found != k_levels.end()) {
    return {static_cast<int>(found - k_levels.begin()), 0};
  }
  int size = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), size);
  if (error != std::errc{} || end != value.data() + value.size() || size < 1) {
    throw Error(
        fmt::format("group is {}; must be node, package, numa, l3 or a number of ranks from 1", in_quotes(value)));
  }
  return {COLLTOPO_NODE, size};
}

constexpr std::size_t k_most_aggregated = std::size_t{1} << 20;  // bytes

Choosing choosing_from(std::string_view value) {
  if (value == "measured") return Choosing::measured;
  if (value == "model") return Choosing::model;
  if (value == "off") return Choosing::off;
  throw Error(fmt::format("choice is {}; must be measured, model or off", in_quotes(value)));
}

struct Row {
  colltopo_setting shown;
  std::function<void(Settings&, std::string_view name, std::string_view value)> apply;
};

/// The names live as long as the process.
Row algorithm_row(const CollectiveRow& collective) {
  static std::array<std::string, k_calls> names;
  const auto at = static_cast<std::size_t>(collective.collective);
  names[at] = fmt::format("{}_algorithm", collective.name);
  return {{names[at].c_str(), "auto", "auto, fallback, file:PATH or an algorithm with options, such as tra:radix=4"},
          [at, which = collective.collective](Settings& s, std::string_view n, std::string_view v) {
            s.forced[at] = forced_from(n, which, v);
          }};
}

// "alltoall_intra_radix": the option of that name for all rows that serve the collective.
std::string parameter_name(Collective collective, const Option& option) {
  std::string text = fmt::format("{}_{}", name(collective), option.name);
  std::ranges::replace(text, '-', '_');
  return text;
}

void set_value(OptionValues& values, const Option& option, std::string_view place, std::string_view text) {
  const bool zero_is_free = option.least > 0;
  if (text == "auto" || (zero_is_free && text == "0")) return values.forget(option.name);
  const int value = whole_number(place, text, std::min(0, option.least), option.most);
  if (value < option.least)
    throw Error(fmt::format("{} is {}; must be 0 (chosen) or at least {}", place, value, option.least));
  values.set(option.name, value);
}

// Every option of every row that a collective may have, each once.
std::vector<Row> option_rows() {
  static auto* const texts = new std::deque<std::string>;  // what the rows point to
  const auto keep = [](std::string text) { return texts->emplace_back(std::move(text)).c_str(); };
  std::vector<Row> table;
  for (std::size_t c = 0; c < k_collectives; ++c) {
    const auto collective = static_cast<Collective>(c);
    for (const Algorithm& algorithm : algorithms()) {
      if (!serves(algorithm, collective)) continue;
      for (const Option& option : algorithm.options) {
        const std::string parameter = parameter_name(collective, option);
        const auto same = [&](const Row& row) { return parameter == row.shown.name; };
        if (!option.per_collective || std::ranges::any_of(table, same)) continue;
        const char* const free = option.least > 0 ? "0" : "auto";
        table.push_back({{keep(parameter), free,
                          keep(fmt::format("{}, {} to {}; {}: chosen", option.about, option.least, option.most, free))},
                         [c, &option](Settings& s, std::string_view n, std::string_view v) {
                           set_value(s.values[c], option, n, v);
                         }});
      }
    }
  }
  return table;
}

Row latency_row(const char* name, double Machine::*field, const char* fallback, const char* about) {
  return {{name, fallback, about},
          [field](Settings& s, std::string_view n, std::string_view v) { s.machine.*field = seconds(n, v); }};
}

Row bandwidth_row(const char* name, double Machine::*field, const char* fallback, const char* about) {
  return {{name, fallback, about},
          [field](Settings& s, std::string_view n, std::string_view v) { s.machine.*field = bytes_per_second(n, v); }};
}

std::vector<Row> own_rows() {
  return {
      {{"group", "node",
        "groups of tra2, two-level and chain: node, package, numa, l3, or a number of consecutive ranks"},
       [](Settings& s, std::string_view, std::string_view v) { s.group = grouping_from(v); }},
      {{"topology", "",
        "the network that the nodes form: a topology file, or a spec such as torus:4x4x4; empty: a crossbar"},
       [](Settings& s, std::string_view, std::string_view v) {
         s.dimensions.clear();
         s.topology = v;
         if (!v.empty()) s.dimensions = machine_network_now(s.topology)->sides();
       }},
      {{"hosts", "", "names of the topology's hosts in its order: a file with one per line, or a list node1,node2"},
       [](Settings& s, std::string_view, std::string_view v) {
         s.hosts = v.empty() ? std::vector<std::string>{} : listed_hosts(std::string(v));
       }},
      {{"schedules", "",
        "folders of schedule files, separated by colons; found by topology and placement of ranks; empty: folders that "
        "colltopo prepare made, beside the topology or in the standard places; none: no folder"},
       [](Settings& s, std::string_view, std::string_view v) { s.schedules = v; }},
      {{"schedules_from_bytes", "1K", "smaller shards (vectors) are left to the model, whatever schedules there are"},
       [](Settings& s, std::string_view n, std::string_view v) { s.schedules_from_bytes = byte_count(n, v); }},
      {{"prove", "on",
        "on: a schedule file is proved by rank 0 before anything of it runs, once, and the user's cache remembers it; "
        "off: what its proof line says is believed"},
       [](Settings& s, std::string_view n, std::string_view v) {
         if (v != "on" && v != "off") throw Error(fmt::format("{} is {}; must be on or off", n, in_quotes(v)));
         s.prove = v == "on";
       }},
      {{"aggregate_bytes", "auto",
        "alltoallv, alltoallw and neighborhood by rows that pass blocks on: larger blocks go straight to their owners; "
        "auto: by the model"},
       [](Settings& s, std::string_view n, std::string_view v) {
         s.aggregate_bytes = v == "auto" ? std::nullopt : std::optional(std::min(byte_count(n, v), k_most_aggregated));
       }},
      {{"alltoallv_replan", "0",
        "alltoallv, alltoallw and neighborhood by a schedule file with several routes: calls after which what was sent "
        "is gathered, beside them, and shares of the routes are planned for it, up to 1024 ranks; 0: never"},
       [](Settings& s, std::string_view n, std::string_view v) { s.replan = whole_number(n, v, 0, 1 << 30); }},
      {{"alltoallv_plan", "0",
        "1: what MPI_Alltoallv_init and the like are told of sizes is gathered, and shares of the routes of the "
        "schedule file that serves them are planned for it, up to 1024 ranks; 0: the file's own shares"},
       [](Settings& s, std::string_view n, std::string_view v) { s.plan = whole_number(n, v, 0, 1) == 1; }},
      {{"rules", "", "JSON file that says which algorithm serves which call (docs/rules.md); empty: the model decides"},
       [](Settings& s, std::string_view, std::string_view v) { s.rules = v; }},
      {{"watch", "2",
        "seconds between looks at whether the files of topology, schedules and rules have changed, which the job then "
        "goes on with, and at lanes that stall; 0: never"},
       [](Settings& s, std::string_view n, std::string_view v) { s.watch_s = whole_number(n, v, 0, 86400); }},
      {{"choice", "measured",
        "measured: the first calls of each size take turns among the model's best and the previous implementation, "
        "and what was fastest stays; model: as the model predicts; off: forced, rules and files only"},
       [](Settings& s, std::string_view, std::string_view v) { s.choosing = choosing_from(v); }},
      {{"trial_after", "32", "calls of a size that follow the model before those that take turns begin"},
       [](Settings& s, std::string_view n, std::string_view v) {
         s.trial_after = static_cast<std::size_t>(whole_number(n, v, 0, 1 << 30));
       }},
      {{"decisions", "",
        "file that remembers what was measured fastest: read by the first call, written at the end; with it, "
        "reductions whose order shows in the bits are tried as well"},
       [](Settings& s, std::string_view, std::string_view v) { s.decisions = v; }},
      {{"constants", "auto",
        "file of measured constants for the model, as colltopo-probe writes them; auto: where it writes them by "
        "default; "
        "off: none"},
       [](Settings& s, std::string_view, std::string_view v) { s.constants = v.empty() ? "off" : v; }},
      {{"segment_bytes", "auto",
        "pipelining: shards larger than this are cut into segments; 0: off; auto: schedule files as their steps ask "
        "for"},
       [](Settings& s, std::string_view n, std::string_view v) {
         s.segment_bytes = v == "auto" ? std::nullopt : std::optional(byte_count(n, v));
       }},
      {{"pace", "free", "free: every message as soon as it may start; steps: step by step"},
       [](Settings& s, std::string_view, std::string_view v) {
         if (v != "free" && v != "steps") throw Error(fmt::format("pace is {}; must be free or steps", in_quotes(v)));
         s.pace = v == "steps" ? Pace::steps : Pace::free;
       }},
      {{"window", "64", "messages that a rank has under way at most, each way, where any order is right"},
       [](Settings& s, std::string_view n, std::string_view v) { s.machine.window = whole_number(n, v, 1, 1 << 20); }},
      {{"transport", "pml", "pml: the MPI library's messages; ucx: UCX endpoints of its own, one per peer and lane"},
       [](Settings& s, std::string_view, std::string_view v) {
         if (v != "pml" && v != "ucx") throw Error(fmt::format("transport is {}; must be pml or ucx", in_quotes(v)));
         s.own_lanes = v == "ucx";
       }},
      {{"lanes", "",
        "transport ucx: what makes each lane take its route: device:a,b,.., ports:FIRST:COUNT, lid-bits:0,1,.., "
        "gid-index:.., sl:..; shared: one lane for all; empty: one lane"},
       [](Settings& s, std::string_view, std::string_view v) { s.lanes = lane_setting(v); }},
      {{"connect_timeout_s", "10", "transport ucx: seconds that new endpoints have to get a message through"},
       [](Settings& s, std::string_view n, std::string_view v) { s.connect_timeout_s = whole_number(n, v, 1, 3600); }},
      {{"lane_patience_s", "2",
        "transport ucx: seconds that a message may be late on one lane, when later ones of its sender have come by "
        "another "
        "and nothing moves; then all ranks give the lane up for a while, at their next look (watch); 0, or watch 0: "
        "never"},
       [](Settings& s, std::string_view n, std::string_view v) { s.lane_patience_s = whole_number(n, v, 0, 86400); }},
      latency_row("latency_node", &Machine::latency_node, "0.4us", "model: one message within a node"),
      latency_row("latency_network", &Machine::latency_network, "2us",
                  "model: one message between nodes that are near"),
      latency_row("latency_hop", &Machine::latency_hop, "1us", "model: each link more that a message takes"),
      latency_row("message_overhead", &Machine::overhead, "0.15us", "model: each further message of a rank in a step"),
      bandwidth_row("bandwidth_node", &Machine::bandwidth_node, "8GBps", "model: one rank to another of its node"),
      bandwidth_row("bandwidth_network", &Machine::bandwidth_network, "12GBps",
                    "model: a node's network interface; with `topology`, each of its links"),
      bandwidth_row("bandwidth_copy", &Machine::bandwidth_copy, "10GBps", "model: packing and local copies"),
      bandwidth_row("bandwidth_reduce", &Machine::bandwidth_reduce, "6GBps", "model: local reductions"),
      {{"verbose", "0", "1: a line per communicator and decision; 2: a line per call"},
       [](Settings& s, std::string_view n, std::string_view v) { s.verbose = whole_number(n, v, 0, 2); }},
  };
}

const std::vector<Row>& rows() {
  static const std::vector<Row> table = [] {
    std::vector<Row> all;
    for (const CollectiveRow& collective : calls()) all.push_back(algorithm_row(collective));
    for (auto more : {own_rows(), option_rows()}) all.insert(all.end(), more.begin(), more.end());
    return all;
  }();
  return table;
}

}  // namespace

std::span<const colltopo_setting> setting_table() {
  static const std::vector<colltopo_setting> table = [] {
    std::vector<colltopo_setting> shown;
    for (const Row& row : rows()) shown.push_back(row.shown);
    shown.push_back({nullptr, nullptr, nullptr});
    return shown;
  }();
  return table;
}

void Settings::set(std::string_view name, std::string_view value) {
  const auto row = std::ranges::find_if(rows(), [&](const Row& r) { return name == r.shown.name; });
  if (row == rows().end()) throw Error(fmt::format("there is no setting {}", in_quotes(name)));
  row->apply(*this, name, value);
  if (name != "verbose") canonical += fmt::format("{}={}\n", name, value);
}

std::optional<Collective> Settings::concerns(std::string_view name) {
  std::optional<Collective> concerned;
  std::size_t longest = 0;  // reduce_scatter_algorithm begins with reduce_ as well
  for (const CollectiveRow& row : calls()) {
    if (!name.starts_with(row.name) || !name.substr(row.name.size()).starts_with('_') || row.name.size() < longest)
      continue;
    concerned = row.collective;
    longest = row.name.size();
  }
  return concerned;
}

}  // namespace colltopo
