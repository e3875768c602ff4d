// GraphML: nodes, edges and their data. Data that count are type (host or switch), name (or label), bandwidth and
// latency, and sides and wraps of the graph; the rest is for others.
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/numbers.h"
#include "base/xml.h"
#include "import/formats.h"
#include "import/limits.h"
#include "import/network.h"

namespace colltopo::import {

namespace {

class GraphmlFile {
 public:
  explicit GraphmlFile(const Source& source)
      : source_(source),
        document_(source, "graphml"),
        network_(source),
        bandwidth_(source.bandwidth("bandwidth", k_default_bandwidth)),
        latency_(source.latency("latency", k_default_latency)) {}

  Topology read() {
    read_keys();
    const pugi::xml_node graph = document_.root().child("graph");
    if (!graph) throw document_.error(document_.root(), "no <graph>; expected one in <graphml>");
    if (graph.next_sibling("graph"))
      throw document_.error(graph.next_sibling("graph"), "a second <graph>; expected one topology in the file");
    if (const std::string name = data(graph, "graph", "name"); !name.empty()) network_.set_name(name);
    read_nodes(graph);
    read_edges(graph);
    if (const std::string text = data(graph, "graph", "sides"); !text.empty()) {
      std::vector<int> sides;
      if (!parse_sides(text, sides))
        throw document_.error(graph, fmt::format("sides {}; expected numbers such as 4x4", in_quotes(text)));
      network_.set_grid(std::move(sides), data(graph, "graph", "wraps") == "true", document_.line_of(graph));
    }
    return std::move(network_).topology();
  }

 private:
  struct Key {
    std::string id, otherwise;
  };

  void read_keys() {
    for (const pugi::xml_node key : document_.root().children("key")) {
      const std::string domain = key.attribute("for").as_string("all");
      const std::string_view otherwise = key.child("default").text().get();
      if (otherwise.size() > Limits::k_most_default)
        throw document_.error(
            key, fmt::format("a default of {} bytes; expected at most {}", otherwise.size(), Limits::k_most_default));
      keys_.insert_or_assign(domain + "/" + key.attribute("attr.name").value(),
                             Key{document_.text(key, "id"), std::string(otherwise)});
    }
  }

  /// The text of one attribute of a node, an edge or the graph; "" when there is none.
  std::string data(pugi::xml_node element, const std::string& domain, const std::string& name) const {
    for (const std::string& scope : {domain, std::string("all")}) {
      const auto key = keys_.find(scope + "/" + name);
      if (key == keys_.end()) continue;
      for (const pugi::xml_node each : element.children("data"))
        if (key->second.id == each.attribute("key").value()) return each.text().get();
      return key->second.otherwise;
    }
    return "";
  }

  /// Also those of graphs inside nodes.
  void read_nodes(pugi::xml_node graph) {
    for (const pugi::xml_node node : graph.children("node")) {
      const std::string id = document_.text(node, "id");
      const std::string type = data(node, "node", "type");
      if (!type.empty() && type != "host" && type != "switch")
        throw document_.error(
            node, fmt::format("type {} of node {}; expected host or switch", in_quotes(type), in_quotes(id)));
      std::string name = data(node, "node", "name");
      if (name.empty()) name = data(node, "node", "label");
      if (name.empty()) name = id;
      const Network::Node made =
          network_.declare(name, type == "switch" ? Kind::switching : Kind::host, document_.line_of(node));
      if (!by_id_.emplace(id, made).second)
        throw document_.error(node, fmt::format("id {} again; expected another for each node", in_quotes(id)));
      for (const pugi::xml_node inner : node.children("graph")) read_nodes(inner);
    }
  }

  void read_edges(pugi::xml_node graph) {
    const std::string direction = graph.attribute("edgedefault").as_string("undirected");
    if (const pugi::xml_node many = graph.child("hyperedge"))
      throw document_.error(many, "a hyperedge; expected edges with two ends (a switch with an edge to each)");
    for (const pugi::xml_node edge : graph.children("edge")) {
      const std::int64_t line = document_.line_of(edge);
      const Network::Node source = end(edge, "source"), target = end(edge, "target");
      const std::string bandwidth = data(edge, "edge", "bandwidth"), latency = data(edge, "edge", "latency");
      const double bytes_per_second = bandwidth.empty() ? bandwidth_ : source_.link_bandwidth(trimmed(bandwidth), line);
      const double seconds = latency.empty() ? latency_ : source_.link_latency(trimmed(latency), line);
      if (edge.attribute("directed").as_bool(direction == "directed"))
        network_.link(source, target, bytes_per_second, seconds, line);
      else
        network_.cable(source, target, bytes_per_second, seconds, line);
    }
    for (const pugi::xml_node node : graph.children("node"))
      for (const pugi::xml_node inner : node.children("graph")) read_edges(inner);
  }

  Network::Node end(pugi::xml_node edge, const char* which) const {
    const std::string id = document_.text(edge, which);
    const auto known = by_id_.find(id);
    if (known == by_id_.end())
      throw document_.error(edge,
                            fmt::format("{} {} of an edge is no node; expected the id of one", which, in_quotes(id)));
    return known->second;
  }

  const Source& source_;
  XmlDocument document_;
  Network network_;
  double bandwidth_, latency_;
  std::map<std::string, Key> keys_;  // "node/bandwidth"
  std::map<std::string, Network::Node> by_id_;
};

Topology read_graphml(const Source& source) { return GraphmlFile(source).read(); }

bool is_graphml(std::string_view contents) { return has_xml_root(contents, "graphml"); }

struct WrittenKey {
  const char *domain, *name, *type;
};
constexpr WrittenKey k_written_keys[] = {{"graph", "name", "string"},   {"graph", "sides", "string"},
                                         {"graph", "wraps", "boolean"}, {"node", "name", "string"},
                                         {"node", "type", "string"},    {"edge", "bandwidth", "double"},
                                         {"edge", "latency", "double"}};

std::string key_id(const char* domain, const char* name) { return fmt::format("{}_{}", domain, name); }

void add_data(pugi::xml_node element, const char* name, const std::string& value) {
  pugi::xml_node data = element.append_child("data");
  data.append_attribute("key") = key_id(element.name(), name).c_str();
  data.text() = value.c_str();
}

void add_edges(pugi::xml_node graph, const Topology& topology) {
  const std::span<const Link> links = topology.links();
  for (std::size_t i = 0; i < links.size(); ++i) {
    const Link& link = links[i];
    const bool cable = i + 1 < links.size() && is_other_direction(link, links[i + 1]);
    pugi::xml_node edge = graph.append_child("edge");
    edge.append_attribute("source") = fmt::format("n{}", link.tail).c_str();
    edge.append_attribute("target") = fmt::format("n{}", link.head).c_str();
    edge.append_attribute("directed") = !cable;
    add_data(edge, "bandwidth", fmt::format("{}", link.bandwidth));
    add_data(edge, "latency", fmt::format("{}", link.latency));
    if (cable) ++i;
  }
}

std::string write_graphml(const Topology& topology) {
  pugi::xml_document document;
  pugi::xml_node root = document.append_child("graphml");
  root.append_attribute("xmlns") = "http://graphml.graphdrawing.org/xmlns";
  for (const WrittenKey& each : k_written_keys) {
    pugi::xml_node key = root.append_child("key");
    key.append_attribute("id") = key_id(each.domain, each.name).c_str();
    key.append_attribute("for") = each.domain;
    key.append_attribute("attr.name") = each.name;
    key.append_attribute("attr.type") = each.type;
  }
  pugi::xml_node graph = root.append_child("graph");
  graph.append_attribute("edgedefault") = "directed";
  add_data(graph, "name", topology.name());
  if (!topology.sides().empty()) {
    add_data(graph, "sides", fmt::format("{}", fmt::join(topology.sides(), "x")));
    add_data(graph, "wraps", topology.wraps() ? "true" : "false");
  }
  for (NodeId id = 0; id < topology.nodes(); ++id) {
    pugi::xml_node node = graph.append_child("node");
    node.append_attribute("id") = fmt::format("n{}", id).c_str();
    add_data(node, "name", topology.node_name(id));
    add_data(node, "type", topology.is_host(id) ? "host" : "switch");
  }
  add_edges(graph, topology);
  std::ostringstream out;
  document.save(out, "  ", pugi::format_default, pugi::encoding_utf8);
  return out.str();
}

}  // namespace

Format graphml_format() {
  return {"graphml", "GraphML", "bandwidth=25Gbps latency=1us", is_graphml, read_graphml, write_graphml};
}

}  // namespace colltopo::import
