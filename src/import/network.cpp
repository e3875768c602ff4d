#include "import/network.h"

#include <algorithm>
#include <cctype>
#include <numeric>

#include <fmt/format.h>

#include "import/limits.h"

namespace colltopo::import {

namespace {

constexpr std::size_t k_most_nodes = 1 << 22;

bool is_digit(char letter) { return std::isdigit(static_cast<unsigned char>(letter)) != 0; }

/// The digits at the beginning of `text` without leading zeros, cut off it.
std::string_view take_number(std::string_view& text) {
  std::size_t end = 0;
  while (end < text.size() && is_digit(text[end])) ++end;
  std::string_view digits = text.substr(0, end);
  text.remove_prefix(end);
  digits.remove_prefix(std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

}  // namespace

bool in_natural_order(std::string_view a, std::string_view b) {
  std::string_view rest_a = a, rest_b = b;
  while (!rest_a.empty() && !rest_b.empty()) {
    if (is_digit(rest_a[0]) && is_digit(rest_b[0])) {
      const std::string_view number_a = take_number(rest_a), number_b = take_number(rest_b);
      if (number_a.size() != number_b.size()) return number_a.size() < number_b.size();
      if (number_a != number_b) return number_a < number_b;
    } else {
      if (rest_a[0] != rest_b[0]) return rest_a[0] < rest_b[0];
      rest_a.remove_prefix(1);
      rest_b.remove_prefix(1);
    }
  }
  if (rest_a.empty() != rest_b.empty()) return rest_a.empty();
  return a < b;  // they differ in leading zeros at most
}

void Network::set_grid(std::vector<int> sides, bool wraps, std::int64_t line) {
  if (grid_) throw source_.error(line, fmt::format("a second grid; the first is on line {}", grid_->line));
  grid_ = Grid{std::move(sides), wraps, line};
}

Network::Node Network::add(Entry entry) {
  if (nodes_.size() == k_most_nodes)
    throw Error(fmt::format("{}: more than {} nodes; a topology cannot be larger", source_.file, k_most_nodes));
  by_name_.emplace(entry.name, nodes_.size());
  nodes_.push_back(std::move(entry));
  return nodes_.size() - 1;
}

Network::Node Network::declare(std::string_view name, Kind kind, std::int64_t line) {
  if (name.empty()) throw source_.error(line, "a node without a name; expected one");
  if (const auto known = find(name)) {
    if (nodes_[*known].declared)
      throw source_.error(line, fmt::format("node {} again; it is on line {} already and names must differ",
                                            in_quotes(name), nodes_[*known].line));
    nodes_[*known] = {std::string(name), kind, true, line, declared_++};
    return *known;
  }
  return add({std::string(name), kind, true, line, declared_++});
}

void Network::state(Node node, std::int64_t line) {
  Entry& entry = nodes_[node];
  if (entry.declared) return;
  entry.declared = true;
  entry.line = line;
  entry.place = declared_++;
}

Network::Node Network::node(std::string_view name) {
  if (const auto known = find(name)) return *known;
  return add({std::string(name), Kind::host, false, 0, 0});
}

std::optional<Network::Node> Network::find(std::string_view name) const {
  const auto known = by_name_.find(std::string(name));
  if (known == by_name_.end()) return std::nullopt;
  return known->second;
}

void Network::link(Node tail, Node head, double bandwidth, double latency, std::int64_t line) {
  if (tail == head)
    throw source_.error(line, fmt::format("a link from {} to itself; its ends must differ", in_quotes(name_of(tail))));
  const std::size_t most = std::max(Limits::k_least_most_links, Limits::k_links_per_byte * source_.contents.size());
  if (links_.size() == most)
    throw source_.error(line,
                        fmt::format("more than {} links of {} bytes; expected fewer", most, source_.contents.size()));
  links_.push_back({tail, head, bandwidth, latency});
}

void Network::cable(Node a, Node b, double bandwidth, double latency, std::int64_t line) {
  link(a, b, bandwidth, latency, line);
  link(b, a, bandwidth, latency, line);
}

Topology Network::topology() && {
  std::vector<Node> order(nodes_.size());
  std::iota(order.begin(), order.end(), Node{0});
  std::sort(order.begin(), order.end(), [&](Node a, Node b) {
    const Entry &left = nodes_[a], &right = nodes_[b];
    if (left.kind != right.kind) return left.kind == Kind::host;
    if (left.declared != right.declared) return left.declared;
    return left.declared ? left.place < right.place : in_natural_order(left.name, right.name);
  });
  const auto hosts_end =
      std::partition_point(order.begin(), order.end(), [&](Node node) { return nodes_[node].kind == Kind::host; });
  const auto hosts = hosts_end - order.begin();
  if (hosts == 0) throw Error(fmt::format("{}: no hosts; a topology needs at least one", source_.file));
  try {
    TopologyBuilder builder(name_, hosts, static_cast<std::int64_t>(order.size()) - hosts);
    std::vector<NodeId> number(nodes_.size());
    for (std::size_t place = 0; place < order.size(); ++place) {
      number[order[place]] = static_cast<NodeId>(place);
      builder.name_node(static_cast<NodeId>(place), nodes_[order[place]].name);
    }
    for (const Join& join : links_) builder.link(number[join.tail], number[join.head], join.bandwidth, join.latency);
    if (grid_) builder.grid(grid_->sides, grid_->wraps);
    return std::move(builder).build();
  } catch (const Error& error) {
    // The builder knows the topology's name only; of what it checks, only the grid can still be wrong.
    if (grid_) throw source_.error(grid_->line, error.what());
    throw Error(fmt::format("{}: {}", source_.file, error.what()));
  }
}

}  // namespace colltopo::import
