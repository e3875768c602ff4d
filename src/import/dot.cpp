// Graphviz's DOT language: graph and digraph, subgraphs, chains of edges, default attributes. Attributes that count are
// type (host or switch), bandwidth and latency, and sides and wraps of the graph; the rest is for drawing.
//
// Read here and not with Graphviz's library because that forgets the lines, which errors must name.
#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/numbers.h"
#include "import/dot_tokens.h"
#include "import/formats.h"
#include "import/limits.h"
#include "import/network.h"

namespace colltopo::import {

namespace {

using Attributes = std::map<std::string, std::string>;

/// What the statements node [...] and edge [...] set for all that follows in their braces.
struct Scope {
  Attributes node, edge;
};

/// An end of an edge: one node, or all of a subgraph.
struct Operand {
  std::vector<Network::Node> nodes;
  bool is_subgraph = false;
};

class DotFile {
 public:
  explicit DotFile(const Source& source)
      : source_(source),
        tokens_(source),
        network_(source),
        bandwidth_(source.bandwidth("bandwidth", k_default_bandwidth)),
        latency_(source.latency("latency", k_default_latency)) {}

  Topology read() {
    tokens_.takes_word("strict");
    directed_ = tokens_.takes_word("digraph");
    if (!directed_ && !tokens_.takes_word("graph")) tokens_.refuse("graph or digraph");
    if (tokens_.is_name()) network_.set_name(tokens_.take_name());
    tokens_.expect("{");
    Scope scope;
    statements(scope, 0);
    if (!tokens_.at_end()) tokens_.refuse("nothing after the last }");
    return std::move(network_).topology();
  }

 private:
  /// Up to the closing brace; returns the nodes that were named.
  std::vector<Network::Node> statements(Scope& scope, int depth) {
    constexpr int k_deepest = 100;
    if (depth == k_deepest) throw source_.error(tokens_.line(), fmt::format("{} braces open; expected fewer", depth));
    std::vector<Network::Node> named;
    while (!tokens_.takes("}")) {
      if (tokens_.takes(";")) continue;
      if (tokens_.takes_word("graph")) {
        Attributes attributes;
        add_attributes(attributes);
        if (depth == 0) set_grid(attributes, tokens_.line());
      } else if (tokens_.takes_word("node")) {
        add_attributes(scope.node);
      } else if (tokens_.takes_word("edge")) {
        add_attributes(scope.edge);
      } else {
        statement(scope, named, depth);
      }
    }
    return named;
  }

  void statement(Scope& scope, std::vector<Network::Node>& named, int depth) {
    const std::int64_t line = tokens_.line();
    std::vector<Operand> chain{operand(scope, depth)};
    if (chain[0].nodes.empty() && !chain[0].is_subgraph) return;  // KEY=VALUE
    while (tokens_.is("->") || tokens_.is("--")) {
      if (tokens_.is("->") != directed_) tokens_.refuse(directed_ ? "-> in a digraph" : "-- in a graph");
      tokens_.takes(directed_ ? "->" : "--");
      chain.push_back(operand(scope, depth));
      if (chain.back().nodes.empty() && !chain.back().is_subgraph) tokens_.refuse("a node before this");
    }
    if (chain.size() > 1) {
      Attributes attributes = scope.edge;
      add_attributes(attributes);
      for (std::size_t i = 0; i + 1 < chain.size(); ++i)
        for (const Network::Node a : chain[i].nodes)
          for (const Network::Node b : chain[i + 1].nodes) add_edge(a, b, attributes, line);
    } else if (!chain[0].is_subgraph) {
      Attributes attributes;
      add_attributes(attributes);
      network_.state(chain[0].nodes[0], line);
      set_type(chain[0].nodes[0], attributes, line);
    }
    for (const Operand& each : chain) named.insert(named.end(), each.nodes.begin(), each.nodes.end());
  }

  Operand operand(Scope& scope, int depth) {
    const bool is_subgraph = tokens_.takes_word("subgraph");
    if (is_subgraph && tokens_.is_name()) tokens_.take_name();
    if (tokens_.takes("{")) {
      Scope inner = scope;
      return {statements(inner, depth + 1), true};
    }
    if (is_subgraph) tokens_.refuse("{ of the subgraph");
    if (!tokens_.is_name()) tokens_.refuse("a node, an edge, a subgraph or }");
    const std::int64_t line = tokens_.line();
    const std::string name = tokens_.take_name();
    if (tokens_.takes("=")) {  // an attribute of the graph or subgraph
      const std::string value = tokens_.take_name();
      if (depth == 0) set_grid({{name, value}}, line);
      return {};
    }
    if (name.empty()) throw source_.error(line, "a node without a name; expected one");
    for (int i = 0; i < 2 && tokens_.takes(":"); ++i) tokens_.take_name();  // where the line touches the picture
    const bool is_new = !network_.find(name);
    const Network::Node node = network_.node(name);
    if (is_new) set_type(node, scope.node, line);
    return {{node}, false};
  }

  void add_attributes(Attributes& attributes) {
    while (tokens_.takes("[")) {
      while (!tokens_.takes("]")) {
        if (tokens_.takes(",") || tokens_.takes(";")) continue;
        if (!tokens_.is_name()) tokens_.refuse("an attribute, as in [bandwidth=\"100Gbps\"]");
        const std::string key = tokens_.take_name();
        set_attribute(attributes, key, tokens_.takes("=") ? tokens_.take_name() : "true");
      }
    }
  }

  /// Defaults are copied for every statement in their braces: only those that count are kept, and no long ones.
  void set_attribute(Attributes& attributes, const std::string& key, std::string value) const {
    constexpr std::array<std::string_view, 6> k_that_count = {"type", "bandwidth", "latency", "dir", "sides", "wraps"};
    if (std::ranges::find(k_that_count, key) == k_that_count.end()) return;
    if (value.size() > Limits::k_most_default)
      throw source_.error(tokens_.line(), fmt::format("{} of {} bytes; expected at most {}", key, value.size(),
                                                      Limits::k_most_default));
    attributes[key] = std::move(value);
  }

  void set_type(Network::Node node, const Attributes& attributes, std::int64_t line) {
    const auto type = attributes.find("type");
    if (type == attributes.end()) return;
    if (type->second != "host" && type->second != "switch")
      throw source_.error(line, fmt::format("type {} of node {}; expected host or switch", in_quotes(type->second),
                                            in_quotes(network_.name_of(node))));
    network_.set_kind(node, type->second == "host" ? Kind::host : Kind::switching);
  }

  void set_grid(const Attributes& attributes, std::int64_t line) {
    if (const auto sides = attributes.find("sides"); sides != attributes.end()) {
      if (sides_.empty() && !parse_sides(sides->second, sides_))
        throw source_.error(line, fmt::format("sides {}; expected numbers such as 4x4", in_quotes(sides->second)));
    }
    if (const auto wraps = attributes.find("wraps"); wraps != attributes.end() && !sides_.empty())
      network_.set_grid(sides_, wraps->second == "true", line);
  }

  void add_edge(Network::Node a, Network::Node b, const Attributes& attributes, std::int64_t line) {
    const auto given = [&](const char* key) { return attributes.find(key); };
    const auto none = attributes.end();
    const double bandwidth =
        given("bandwidth") != none ? source_.link_bandwidth(given("bandwidth")->second, line) : bandwidth_;
    const double latency = given("latency") != none ? source_.link_latency(given("latency")->second, line) : latency_;
    const std::string direction = given("dir") != none ? given("dir")->second : "forward";
    if (!directed_ || direction == "both")
      network_.cable(a, b, bandwidth, latency, line);
    else if (direction == "back")
      network_.link(b, a, bandwidth, latency, line);
    else
      network_.link(a, b, bandwidth, latency, line);
  }

  const Source& source_;
  DotTokens tokens_;
  Network network_;
  double bandwidth_, latency_;
  bool directed_ = false;
  std::vector<int> sides_;
};

Topology read_dot(const Source& source) { return DotFile(source).read(); }

bool is_dot(std::string_view contents) {
  std::string_view line = first_line(contents, "//");
  while (line.starts_with('#') || line.starts_with("/*")) {
    const std::string_view end = line[0] == '#' ? "\n" : "*/";
    const std::string_view rest = contents.substr(static_cast<std::size_t>(line.data() - contents.data()));
    const std::size_t at = rest.find(end);
    if (at == std::string_view::npos) return false;
    contents = rest.substr(at + end.size());
    line = first_line(contents, "//");
  }
  const std::string word = lower_case(line.substr(0, line.find_first_of(" \t{\"")));
  return word == "strict" || word == "graph" || word == "digraph";
}

std::string dot_name(const std::string& text) {
  std::string result = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') result += '\\';
    result += letter;
  }
  return result + '"';
}

std::string write_dot(const Topology& topology) {
  const std::span<const Link> links = topology.links();
  std::string text = fmt::format("digraph {} {{\n", dot_name(topology.name()));
  if (!topology.sides().empty())
    text += fmt::format("  graph [sides=\"{}\", wraps={}];\n", fmt::join(topology.sides(), "x"), topology.wraps());
  for (NodeId node = 0; node < topology.nodes(); ++node)
    text += fmt::format("  {} [type={}];\n", dot_name(topology.node_name(node)),
                        topology.is_host(node) ? "host" : "switch, shape=box");
  for (std::size_t i = 0; i < links.size(); ++i) {
    const Link& link = links[i];
    const bool cable = i + 1 < links.size() && is_other_direction(link, links[i + 1]);
    text +=
        fmt::format("  {} -> {} [bandwidth=\"{}\", latency=\"{}\"{}];\n", dot_name(topology.node_name(link.tail)),
                    dot_name(topology.node_name(link.head)), link.bandwidth, link.latency, cable ? ", dir=both" : "");
    if (cable) ++i;
  }
  return text + "}\n";
}

}  // namespace

Format dot_format() { return {"dot", "Graphviz's DOT", "bandwidth=25Gbps latency=1us", is_dot, read_dot, write_dot}; }

}  // namespace colltopo::import
