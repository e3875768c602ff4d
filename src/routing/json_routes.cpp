// Tables and routes as JSON for programs that know their fabric: a subnet manager that gives every port as many LIDs as
// there are planes (LMC), a card that is given whole paths.
//
// Texts are the JSON library's. Rows of numbers are printed one by one: there are millions of them, and as objects of
// the library they take seven times as long.
#include <algorithm>
#include <istream>
#include <iterator>
#include <ostream>

#include <fmt/ostream.h>

#include "base/json.h"
#include "colltopo/error.h"
#include "colltopo/forwarding.h"

namespace colltopo {

namespace {

constexpr const char* k_format = "colltopo-routes 1";

using Json = nlohmann::json;

std::string text_of(const std::string& text, const Topology& topology) {
  try {
    return Json(text).dump();
  } catch (const Json::type_error&) {
    throw Error(fmt::format("{}: a name is not UTF-8; JSON cannot hold it", topology.name()));
  }
}

/// Bits of a LID that number the planes.
int bits_for(std::int32_t planes) {
  int bits = 0;
  while ((std::int64_t{1} << bits) < planes) ++bits;
  return bits;
}

void write_nodes(std::ostream& out, const Topology& topology, const ForwardingTables& tables) {
  out << "  \"nodes\": [";
  for (NodeId node = 0; node < topology.nodes(); ++node) {
    fmt::print(out, "{}\n    {{\"node\": {}, \"name\": {}, \"entries\": [", node > 0 ? "," : "", node,
               text_of(topology.node_name(node), topology));
    bool first = true;
    for (std::int32_t plane = 0; plane < tables.planes(); ++plane)
      for (NodeId target = 0; target < tables.hosts(); ++target) {
        const LinkId link = tables.link(plane, node, target);
        if (link < 0 || node == target) continue;
        fmt::print(out, "{}\n      {{\"plane\": {}, \"target\": {}, \"link\": {}}}", first ? "" : ",", plane, target,
                   link);
        first = false;
      }
    out << "]}";
  }
  out << "\n  ],\n";
}

void write_exceptions(std::ostream& out, const ForwardingTables& tables) {
  out << "  \"exceptions\": [";
  bool first = true;
  for (const ForwardingException& e : tables.exceptions) {
    fmt::print(out,
               "{}\n    {{\"source\": {}, \"target\": {}, \"lane\": {}, \"plane\": {}, \"node\": {}, \"link\": {}}}",
               first ? "" : ",", e.source, e.target, e.lane, e.lane, e.node, e.link);
    first = false;
  }
  out << "],\n";
}

void write_paths(std::ostream& out, const Schedule& schedule) {
  out << "  \"routes\": [";
  bool first = true;
  for (const Route& route : schedule.routes) {
    fmt::print(out, "{}\n    {{\"source\": {}, \"target\": {}, \"lane\": {}, \"layer\": {}, \"links\": {}}}",
               first ? "" : ",", route.source, route.target, route.lane, route.layer, Json(route.links).dump());
    first = false;
  }
  out << "]\n";
}

class RoutesReader {
 public:
  RoutesReader(std::istream& in, std::string name)
      : name_(std::move(name)),
        root_(read_json<Json>(std::string(std::istreambuf_iterator<char>(in), {}), name_,
                              "the JSON of colltopo routes")) {
    if (!root_.is_object() || text("format") != k_format)
      throw Error(fmt::format("{}: format is not \"{}\"; expected the JSON of colltopo routes", name_, k_format));
  }

  /// Empty when there is none.
  std::string text(const char* field) const {
    const auto found = root_.find(field);
    return found != root_.end() && found->is_string() ? found->get<std::string>() : "";
  }
  const Json& list(const char* field) const {
    const auto found = root_.find(field);
    if (found == root_.end() || !found->is_array()) throw Error(fmt::format("{}: {}: expected a list", name_, field));
    return *found;
  }
  std::int32_t number(const Json& object, const std::string& where, const char* field, std::int32_t end) const {
    const auto found = object.is_object() ? object.find(field) : object.end();
    if (!object.is_object() || found == object.end() || !found->is_number_integer() || found->get<std::int64_t>() < 0 ||
        found->get<std::int64_t>() >= end)
      throw Error(fmt::format("{}: {}: {} is {}; expected 0..{}", name_, where, field,
                              object.is_object() && found != object.end() ? shown(*found) : "missing", end - 1));
    return found->get<std::int32_t>();
  }
  const Json& root() const { return root_; }
  [[noreturn]] void fail(const std::string& fact) const { throw Error(fmt::format("{}: {}", name_, fact)); }

 private:
  std::string name_;
  Json root_;
};

}  // namespace

void write_json_routes(std::ostream& out, const Schedule& schedule, const Topology& topology,
                       const ForwardingTables& tables) {
  std::int32_t layers = 0;
  for (const Route& route : schedule.routes) layers = std::max(layers, route.layer + 1);
  fmt::print(out,
             "{{\n  \"format\": \"{}\",\n  \"schedule\": {},\n  \"topology\": {},\n  \"topology_name\": {},\n"
             "  \"hosts\": {},\n  \"planes\": {},\n  \"lmc\": {},\n  \"layers\": {},\n",
             k_format, text_of(schedule.name, topology), text_of(fingerprint(topology), topology),
             text_of(topology.name(), topology), tables.hosts(), tables.planes(), bits_for(tables.planes()), layers);
  write_nodes(out, topology, tables);
  write_exceptions(out, tables);
  write_paths(out, schedule);
  out << "}\n";
}

ForwardingTables read_json_routes(std::istream& in, const std::string& name_for_errors, const Schedule& schedule,
                                  const Topology& topology) {
  const RoutesReader reader(in, name_for_errors);
  if (const std::string made_for = reader.text("topology"); made_for != fingerprint(topology))
    reader.fail(
        fmt::format("its tables are those of topology {}; {} is {}", made_for, topology.name(), fingerprint(topology)));
  const std::int32_t planes = reader.number(reader.root(), "planes", "planes", 1 << 16);
  const auto links = static_cast<LinkId>(topology.links().size());
  ForwardingTables tables(topology.nodes(), topology.hosts(), planes);
  for (const Json& at : reader.list("nodes")) {
    const NodeId node = reader.number(at, "nodes", "node", topology.nodes());
    const std::string where = fmt::format("node {}", node);
    if (!at.contains("entries") || !at["entries"].is_array()) reader.fail(where + ": entries: expected a list");
    for (const Json& entry : at["entries"])
      tables.set(reader.number(entry, where, "plane", planes), node,
                 reader.number(entry, where, "target", topology.hosts()), reader.number(entry, where, "link", links));
  }
  for (const Json& e : reader.list("exceptions"))
    tables.exceptions.push_back(
        {reader.number(e, "exceptions", "source", schedule.shape.ranks),
         reader.number(e, "exceptions", "target", schedule.shape.ranks), reader.number(e, "exceptions", "lane", planes),
         reader.number(e, "exceptions", "node", topology.nodes()), reader.number(e, "exceptions", "link", links)});
  std::ranges::sort(tables.exceptions, {},
                    [](const ForwardingException& e) { return std::tuple(e.node, e.source, e.target, e.lane); });
  return tables;
}

}  // namespace colltopo
