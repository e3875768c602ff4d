// The native topology file: a JSON object (docs/command.md, "Topology files").
#include <algorithm>
#include <initializer_list>
#include <istream>
#include <iterator>
#include <limits>
#include <map>
#include <ostream>
#include <unordered_set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json.h"
#include "base/lines.h"
#include "colltopo/error.h"
#include "colltopo/topology.h"

namespace colltopo {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr int k_version = 1;

/// On which line each key of the file's object stands, and each of its links.
struct Lines {
  std::map<std::string, std::int64_t> keys;
  std::vector<std::int64_t> links;

  std::int64_t of(const std::string& key) const { return keys.count(key) > 0 ? keys.at(key) : 1; }
  std::int64_t of_link(std::size_t link) const { return link < links.size() ? links[link] : of("links"); }
};

/// A value of the file and its place in it, for messages.
struct Place {
  const std::string& file;
  std::int64_t line;
  std::string at;  // "links[3].tail"

  [[noreturn]] void refuse(const std::string& fact, std::string_view expected) const {
    throw Error(fmt::format("{}:{}: {}: {}; expected {}", file, line, at, fact, expected));
  }
};

const json& member(const json& object, const char* name, const Place& place) {
  const auto found = object.find(name);
  if (found == object.end()) place.refuse(fmt::format("no \"{}\"", name), "it to be given");
  return *found;
}

/// A key that nobody reads is one that was meant to be another: "bandwith" would leave the default in force.
void expect_keys(const json& object, std::initializer_list<std::string_view> known, const Place& place) {
  for (const auto& [key, value] : object.items())
    if (std::find(known.begin(), known.end(), key) == known.end())
      place.refuse(fmt::format("unknown key {}", in_quotes(key)), fmt::format("{}", fmt::join(known, ", ")));
}

void expect_different_names(const Topology& topology, const Place& place) {
  std::unordered_set<std::string_view> names;
  for (NodeId node = 0; node < topology.nodes(); ++node)
    if (!names.insert(topology.node_name(node)).second)
      place.refuse(fmt::format("two nodes are called {}", in_quotes(topology.node_name(node))),
                   "a name for each alone");
}

double number(const json& value, const Place& place) {
  if (!value.is_number()) place.refuse(shown(value), "a number");
  return value.get<double>();
}

std::int64_t whole_number(const json& value, const Place& place) {
  constexpr std::int64_t k_most = std::numeric_limits<std::int32_t>::max();
  if (!value.is_number_integer() || value.get<std::int64_t>() < 0 || value.get<std::int64_t>() > k_most)
    place.refuse(shown(value), "a whole number of 0 or more");
  return value.get<std::int64_t>();
}

// Either how many there are or their names.
std::int64_t count_of(const json& nodes, const Place& place) {
  return nodes.is_array() ? static_cast<std::int64_t>(nodes.size()) : whole_number(nodes, place);
}

void name_nodes(TopologyBuilder& builder, const json& nodes, NodeId first, const Place& place) {
  if (!nodes.is_array()) return;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (!nodes[i].is_string()) place.refuse(fmt::format("[{}] is {}", i, shown(nodes[i])), "a name in quotes");
    builder.name_node(first + static_cast<NodeId>(i), nodes[i].get<std::string>());
  }
}

void add_link(TopologyBuilder& builder, const json& link, const Place& place) {
  if (!link.is_object())
    place.refuse(shown(link), R"({"tail": NODE, "head": NODE, "bandwidth": BYTES_PER_SECOND, "latency": SECONDS})");
  expect_keys(link, {"tail", "head", "bandwidth", "latency"}, place);
  const auto tail = static_cast<NodeId>(whole_number(member(link, "tail", place), place));
  const auto head = static_cast<NodeId>(whole_number(member(link, "head", place), place));
  const double bandwidth = link.contains("bandwidth") ? number(link["bandwidth"], place) : k_default_bandwidth;
  const double latency = link.contains("latency") ? number(link["latency"], place) : k_default_latency;
  try {
    builder.link(tail, head, bandwidth, latency);
  } catch (const Error& error) {
    // The builder gives the topology's name for a place, which is the file's unless the file has another.
    std::string_view what = error.what();
    if (what.starts_with(place.file + ": ")) what.remove_prefix(place.file.size() + 2);
    throw Error(fmt::format("{}:{}: {}", place.file, place.line, what));
  }
}

void set_grid(TopologyBuilder& builder, const json& grid, const Place& place) {
  if (!grid.is_object()) place.refuse(shown(grid), R"({"sides": [NUMBERS], "wraps": true or false})");
  expect_keys(grid, {"sides", "wraps"}, place);
  std::vector<int> sides;
  const json& given = member(grid, "sides", place);
  if (!given.is_array()) place.refuse(shown(given), "\"sides\" to be a list of numbers");
  for (const json& side : given) sides.push_back(static_cast<int>(whole_number(side, place)));
  const json& wraps = member(grid, "wraps", place);
  if (!wraps.is_boolean()) place.refuse(shown(wraps), "\"wraps\" to be true or false");
  builder.grid(std::move(sides), wraps.get<bool>());
}

void set_routes(TopologyBuilder& builder, const json& routes, const Place& place) {
  const auto paths = routes.is_string() ? single_paths_named(routes.get<std::string>()) : std::nullopt;
  if (!paths) place.refuse(shown(routes), "\"lowest\" or \"hash\"");
  builder.route(*paths);
}

Topology topology_in(const json& file, const std::string& file_name, const Lines& lines) {
  const Place top{file_name, 1, "top"};
  if (!file.is_object()) top.refuse("not an object", "{\"colltopo-topology\": 1, ...}");
  expect_keys(file, {"colltopo-topology", "name", "hosts", "switches", "links", "grid", "routes"}, top);
  const auto key = [&](const char* name) { return Place{file_name, lines.of(name), name}; };
  const Place version = key("colltopo-topology");
  if (whole_number(member(file, "colltopo-topology", top), version) != k_version)
    version.refuse(shown(file["colltopo-topology"]), "version 1, the only one");

  const Place hosts = key("hosts"), switches = key("switches"), links = key("links");
  const json& host_list = member(file, "hosts", top);
  const json switch_list = file.contains("switches") ? file["switches"] : json(0);
  std::string name = file_name;
  if (file.contains("name")) {
    if (!file["name"].is_string()) key("name").refuse(shown(file["name"]), "a text");
    name = file["name"].get<std::string>();
  }
  const std::int64_t host_count = count_of(host_list, hosts);
  TopologyBuilder builder(name, host_count, count_of(switch_list, switches));
  name_nodes(builder, host_list, 0, hosts);
  name_nodes(builder, switch_list, static_cast<NodeId>(host_count), switches);

  const json& link_list = member(file, "links", top);
  if (!link_list.is_array()) links.refuse(link_list.type_name(), "a list");
  for (std::size_t i = 0; i < link_list.size(); ++i)
    add_link(builder, link_list[i], Place{file_name, lines.of_link(i), fmt::format("links[{}]", i)});
  if (file.contains("grid")) set_grid(builder, file["grid"], key("grid"));
  if (file.contains("routes")) set_routes(builder, file["routes"], key("routes"));
  Topology topology = std::move(builder).build();
  expect_different_names(topology, hosts);
  return topology;
}

}  // namespace

Topology read_topology(std::istream& in, const std::string& file_name) {
  const std::string text(std::istreambuf_iterator<char>(in), {});
  Lines lines;
  std::string key;
  const auto note_line = [&](int depth, json::parse_event_t event, const json& parsed, std::int64_t line) {
    if (event == json::parse_event_t::key && depth == 1) lines.keys[key = parsed.get<std::string>()] = line;
    if (event == json::parse_event_t::object_start && depth == 2 && key == "links") lines.links.push_back(line);
  };
  const json file = read_json<json>(text, file_name, "a topology as JSON", note_line);
  try {
    return topology_in(file, file_name, lines);
  } catch (const Error& error) {
    const std::string what = error.what();
    if (what.rfind(file_name, 0) == 0) throw;
    throw Error(fmt::format("{}: {}", file_name, what));  // the builder knows the topology's name only
  }
}

void write_topology(std::ostream& out, const Topology& topology) {
  const auto text = [&](const json& value) {
    try {
      return value.dump();
    } catch (const json::type_error&) {
      throw Error(fmt::format("{}: a name is not UTF-8; JSON cannot hold it", topology.name()));
    }
  };
  const auto names = [&](NodeId first, NodeId end) {
    json list = json::array();
    for (NodeId node = first; node < end; ++node) list.push_back(topology.node_name(node));
    return text(list);
  };
  out << "{\n  \"colltopo-topology\": " << k_version << ",\n  \"name\": " << text(topology.name())
      << ",\n  \"hosts\": " << names(0, topology.hosts())
      << ",\n  \"switches\": " << names(topology.hosts(), topology.nodes()) << ",\n";
  if (!topology.sides().empty())
    out << "  \"grid\": {\"sides\": " << json(topology.sides()).dump()
        << ", \"wraps\": " << (topology.wraps() ? "true" : "false") << "},\n";
  if (topology.single_paths() != SinglePaths::unknown)
    out << "  \"routes\": \"" << name(topology.single_paths()) << "\",\n";
  out << "  \"links\": [";
  const char* before = "\n";
  for (const Link& link : topology.links()) {
    out << before << "    "
        << ordered_json{
               {"tail", link.tail}, {"head", link.head}, {"bandwidth", link.bandwidth}, {"latency", link.latency}};
    before = ",\n";
  }
  out << "\n  ]\n}\n";
}

}  // namespace colltopo
