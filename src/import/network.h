// A network while it is being read: nodes by name, links by the line they stand on. Becomes a Topology.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "colltopo/topology.h"
#include "import/source.h"

namespace colltopo::import {

enum class Kind { host, switching };

/// Order by name in which the numbers in names count as numbers: node2 before node10.
bool in_natural_order(std::string_view a, std::string_view b);

/// Whether two links are one cable.
inline bool is_other_direction(const Link& a, const Link& b) {
  return b == Link{a.head, a.tail, a.bandwidth, a.latency};
}

class Network {
 public:
  using Node = std::size_t;

  explicit Network(const Source& source) : source_(source), name_(source.file) {}

  void set_name(std::string name) { name_ = std::move(name); }
  void set_grid(std::vector<int> sides, bool wraps, std::int64_t line);

  /// A node that the file states; twice the same name is an error.
  Node declare(std::string_view name, Kind kind, std::int64_t line);
  /// The node of that name; made, as a host, when it is not known.
  Node node(std::string_view name);
  /// Takes the node as declared, unless it is already.
  void state(Node node, std::int64_t line);
  void set_kind(Node node, Kind kind) { nodes_[node].kind = kind; }
  std::optional<Node> find(std::string_view name) const;
  const std::string& name_of(Node node) const { return nodes_[node].name; }

  void link(Node tail, Node head, double bandwidth, double latency, std::int64_t line);
  /// Both directions.
  void cable(Node a, Node b, double bandwidth, double latency, std::int64_t line);

  /// Hosts first, then switches; among them those declared in their order, then the others in natural order of their
  /// names. Links keep their order.
  Topology topology() &&;

 private:
  struct Entry {
    std::string name;
    Kind kind = Kind::host;
    bool declared = false;
    std::int64_t line = 0;  // of the declaration
    std::size_t place = 0;  // among the declared
  };
  struct Grid {
    std::vector<int> sides;
    bool wraps = false;
    std::int64_t line = 0;
  };
  struct Join {
    Node tail, head;
    double bandwidth, latency;
  };

  Node add(Entry entry);

  const Source& source_;
  std::string name_;
  std::vector<Entry> nodes_;
  std::size_t declared_ = 0;  // how many
  std::unordered_map<std::string, Node> by_name_;
  std::vector<Join> links_;
  std::optional<Grid> grid_;
};

}  // namespace colltopo::import
