// What ibnetdiscover prints: every InfiniBand node with its ports, and per port the node and port at the other end and
// the speed. Each end states its own direction of a cable.
//
// Channel adapters whose description is "HOST DEVICE" ("node01 HCA-1", "node01 mlx5_0") are ports of the host; several
// of them make several links of one host. Other adapters are hosts by their identifier. The aggregation nodes inside
// switches, which compute for SHARP, are left out with their links.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/numbers.h"
#include "import/formats.h"
#include "import/network.h"

namespace colltopo::import {

namespace {

/// One end of a cable.
struct Port {
  std::string node;  // "S-0002c9020048a2b8"
  std::int64_t number = 0;

  friend auto operator<=>(const Port&, const Port&) = default;
};

struct PortLine {
  Port from, to;
  double bandwidth = 0;
  std::int64_t line = 0;
};

struct FabricNode {
  std::string id, description;
  bool is_switch = false;
  std::int64_t line = 0;
};

bool is_aggregation(const FabricNode& node) { return node.description.find("Aggregation Node") != std::string::npos; }

/// Gb/s of data per lane.
bool lane_gigabits(std::string_view speed, double& gigabits) {
  struct Row {
    std::string_view name;
    double gigabits;
  };
  constexpr Row k_rows[] = {{"SDR", 2},  {"DDR", 4},  {"QDR", 8},   {"FDR10", 10}, {"FDR", 14.0625 * 64 / 66},
                            {"EDR", 25}, {"HDR", 50}, {"NDR", 100}, {"XDR", 200}};
  for (const Row& row : k_rows)
    if (row.name == speed) {
      gigabits = row.gigabits;
      return true;
    }
  return false;
}

/// Bytes per second of "4xHDR"; false when it is something else.
bool parse_speed(std::string_view word, double& bandwidth) {
  const std::size_t x = word.find('x');
  std::int64_t lanes = 0;
  double gigabits = 0;
  if (x == std::string_view::npos || !parse_number(word.substr(0, x), lanes) || lanes < 1 ||
      !lane_gigabits(word.substr(x + 1), gigabits))
    return false;
  bandwidth = static_cast<double>(lanes) * gigabits * 1e9 / 8;
  return true;
}

/// The host of an adapter's description, "" when it does not say.
std::string host_in(std::string_view description) {
  std::string_view rest = description;
  const std::string_view host = take_word(rest), device = take_word(rest);
  if (device.empty()) return std::string(host);
  const bool looks_like_device = device.find_first_of("0123456789") != std::string_view::npos &&
                                 device.find_first_of("-_") != std::string_view::npos;
  return trimmed(rest).empty() && looks_like_device ? std::string(host) : "";
}

class Fabric {
 public:
  explicit Fabric(const Source& source) : source_(source) {}

  Topology read() {
    TextLines lines(source_.contents);
    std::string_view line;
    while (lines.next(line)) {
      line_ = lines.number();
      take(trimmed(line));
    }
    if (nodes_.empty()) throw source_.error(lines.number(), "no node; expected what ibnetdiscover prints");
    check_ends();
    return topology();
  }

 private:
  void take(std::string_view line) {
    static constexpr std::string_view k_ignored[] = {"#",       "vendid=", "devid=",  "sysimgguid=", "switchguid=",
                                                     "caguid=", "rtguid=", "Chassis", "Hostname:",   "Non-Chassis",
                                                     "Spine",   "Line",    "ibwarn:"};
    if (line.empty()) return;
    for (const std::string_view ignored : k_ignored)
      if (line.starts_with(ignored)) return;
    if (line.starts_with('[')) return take_port(line);
    std::string_view rest = line;
    const std::string_view kind = take_word(rest);
    if (kind == "Switch" || kind == "Ca" || kind == "Rt") return take_node(kind != "Ca", rest);
    refuse(line, "a node (Switch, Ca, Rt), a port or an identifier");
  }

  [[noreturn]] void refuse(std::string_view found, std::string_view expected) const {
    throw source_.error(line_, fmt::format("{}; expected {}", in_quotes(found), expected));
  }

  /// `36 "S-0002c9020048a2b8"  # "MF0;leaf1:MSB7700/U1" enhanced port 0 lid 3 lmc 0`
  void take_node(bool is_switch, std::string_view rest) {
    const std::string_view all = rest;
    std::int64_t ports = 0;
    if (!parse_number(take_word(rest), ports)) refuse(all, "the number of ports and an identifier in quotes");
    FabricNode node{take_quoted(rest), "", is_switch, line_};
    const std::size_t comment = rest.find('#');
    if (comment != std::string_view::npos) {
      const std::string_view text = rest.substr(comment);
      const std::size_t first = text.find('"'), last = text.rfind('"');
      if (last > first && last != std::string_view::npos) node.description = text.substr(first + 1, last - first - 1);
    }
    const auto [known, added] = nodes_.emplace(node.id, node);
    if (!added)
      throw source_.error(line_, fmt::format("node {} again; it is on line {} already and is listed once",
                                             in_quotes(node.id), known->second.line));
    order_.push_back(node.id);
    current_ = node.id;
  }

  /// `[1](2c90300a1b2c1)  "S-0002c9020048a2b8"[7][ext 7]  # lid 5 lmc 0 "MF0;leaf1" lid 3 4xEDR`
  void take_port(std::string_view rest) {
    const std::string_view all = rest;
    if (current_.empty()) refuse(all, "a node (Switch, Ca, Rt) before its ports");
    PortLine port;
    port.line = line_;
    port.from = {current_, take_port_number(rest)};
    rest.remove_prefix(std::min(rest.find('"'), rest.size()));
    port.to.node = take_quoted(rest);
    port.to.number = take_port_number(rest);
    // After the last description: lid, width and speed.
    rest.remove_prefix(std::min(rest.rfind('"'), rest.size()));
    for (std::string_view word = take_word(rest); !word.empty() && port.bandwidth == 0; word = take_word(rest))
      parse_speed(word, port.bandwidth);
    if (port.bandwidth == 0) refuse(all, "a width and speed such as 4xEDR at the end of the line");
    const auto [known, added] = ports_.emplace(port.from, port);
    if (!added)
      throw source_.error(line_, fmt::format("port {} of {} again; it is on line {} already and has one cable",
                                             port.from.number, in_quotes(port.from.node), known->second.line));
  }

  std::string take_quoted(std::string_view& rest) const {
    const std::string_view all = rest;
    rest = trimmed(rest);
    const std::size_t end = rest.size() > 1 ? rest.find('"', 1) : std::string_view::npos;
    if (!rest.starts_with('"') || end == std::string_view::npos || end == 1) refuse(all, "an identifier in quotes");
    const std::string text(rest.substr(1, end - 1));
    rest.remove_prefix(end + 1);
    return text;
  }

  std::int64_t take_port_number(std::string_view& rest) const {
    const std::string_view all = rest;
    const std::size_t end = rest.find(']');
    std::int64_t number = 0;
    if (!rest.starts_with('[') || end == std::string_view::npos || !parse_number(rest.substr(1, end - 1), number))
      refuse(all, "a port number in brackets");
    rest.remove_prefix(end + 1);
    return number;
  }

  /// Both ends of a cable must say the same.
  void check_ends() const {
    for (const auto& [from, port] : ports_)
      if (nodes_.count(port.to.node) == 0)
        throw source_.error(port.line, fmt::format("a cable to {}, which is nowhere in the file; expected all of what "
                                                   "ibnetdiscover prints",
                                                   in_quotes(port.to.node)));
    for (const auto& [from, port] : ports_) {
      const auto back = ports_.find(port.to);
      if (back == ports_.end())
        throw source_.error(port.line, fmt::format("a cable to port {} of {}, which does not list it; expected both "
                                                   "ends in the file",
                                                   port.to.number, in_quotes(port.to.node)));
      if (back->second.to != from)
        throw source_.error(port.line, fmt::format("a cable to port {} of {}, which on line {} has one to {}; expected "
                                                   "both ends to say the same",
                                                   port.to.number, in_quotes(port.to.node), back->second.line,
                                                   in_quotes(back->second.to.node)));
    }
  }

  Topology topology() const {
    const double latency = source_.latency("latency", k_default_latency);
    Network network(source_);
    std::map<std::string, Network::Node> node;
    std::map<std::string, int> same_description;
    for (const auto& [id, each] : nodes_) ++same_description[each.description];
    for (const std::string& id : order_) {
      const FabricNode& each = nodes_.at(id);
      if (is_aggregation(each)) continue;
      if (each.is_switch) {
        const bool is_unique = !each.description.empty() && same_description[each.description] == 1;
        node[id] = network.declare(is_unique ? each.description : id, Kind::switching, each.line);
      } else {
        const std::string host = host_in(each.description);
        node[id] = network.node(host.empty() ? id : host);  // in order of their names, which discovery is not
      }
    }
    for (const std::string& id : order_)
      for (auto port = ports_.lower_bound({id, 0}); port != ports_.end() && port->first.node == id; ++port) {
        const PortLine& cable = port->second;
        if (node.count(id) == 0 || node.count(cable.to.node) == 0) continue;
        network.link(node.at(id), node.at(cable.to.node), cable.bandwidth, latency, cable.line);
      }
    return std::move(network).topology();
  }

  const Source& source_;
  std::int64_t line_ = 0;
  std::string current_;
  std::map<std::string, FabricNode> nodes_;
  std::vector<std::string> order_;
  std::map<Port, PortLine> ports_;
};

Topology read_ibnetdiscover(const Source& source) { return Fabric(source).read(); }

bool is_ibnetdiscover(std::string_view contents) {
  const std::string_view line = first_line(contents);
  for (const std::string_view beginning :
       {"vendid=", "devid=", "Switch\t", "Switch ", "Ca\t", "Ca ", "Non-Chassis", "Chassis ", "ibwarn:"})
    if (line.starts_with(beginning)) return true;
  return false;
}

}  // namespace

Format ibnetdiscover_format() {
  return {"ibnetdiscover",    "what ibnetdiscover prints about an InfiniBand network",
          "latency=1us",      is_ibnetdiscover,
          read_ibnetdiscover, nullptr};
}

}  // namespace colltopo::import
