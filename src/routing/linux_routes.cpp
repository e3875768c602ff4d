// Tables as commands for Linux: one address per host and plane, so a destination alone decides, in every node, without
// any rule; only exceptions need a rule and a table of their own.
#include <algorithm>
#include <charconv>
#include <map>
#include <ostream>

#include <fmt/ostream.h>

#include "base/lines.h"
#include "base/plain.h"
#include "colltopo/error.h"
#include "colltopo/forwarding.h"

namespace colltopo {

namespace {

constexpr int k_first_exception_table = 1000;

class Addresses {
 public:
  Addresses(const std::string& network, const Topology& topology, std::int32_t planes) : network_(network) {
    const std::size_t dot = network.find('.');
    first_ = dot == std::string::npos ? -1 : octet(network.substr(0, dot));
    second_ = dot == std::string::npos ? -1 : octet(network.substr(dot + 1));
    if (first_ < 0 || second_ < 0)
      throw Error(
          fmt::format("network {}; expected the first two octets of an address, such as 10.100", in_quotes(network)));
    if (second_ + planes > 256)
      throw Error(fmt::format("{}: {} planes; addresses from {}.0.0 on have room for {}", topology.name(), planes,
                              network, 256 - second_));
    if (topology.nodes() > 65536)
      throw Error(fmt::format("{}: {} nodes; two octets have room for 65536", topology.name(), topology.nodes()));
  }
  std::string of(NodeId node, std::int32_t plane) const {
    return fmt::format("{}.{}.{}.{}", first_, second_ + plane, node / 256, node % 256);
  }

 private:
  static int octet(const std::string& text) {
    int value = -1;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && rest == text.data() + text.size() && value >= 0 && value <= 255 ? value : -1;
  }
  std::string network_;
  int first_ = -1, second_ = -1;
};

class Script {
 public:
  Script(std::ostream& out, const Topology& topology, const ForwardingTables& tables, const LinuxNames& names)
      : out_(out),
        topology_(topology),
        tables_(tables),
        names_(names),
        addresses_(names.network, topology, tables.planes()) {
    expect_device(names.device);
  }

  void write(const Schedule& schedule) {
    head(schedule);
    for (NodeId node = 0; node < topology_.nodes(); ++node) node_case(node);
    out_ << "*)\n  echo \"routes: no node '$node' in this file; expected the name of a node\" >&2\n  exit 2\n  ;;\n"
            "esac\n";
  }

 private:
  // The kernel's devices have up to 15 letters; what is written as a command has none that a shell or ip might read.
  static void expect_device(const std::string& device) {
    constexpr std::size_t k_most = 15;
    constexpr std::string_view k_letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    if (device.empty() || device.size() > k_most || device.front() == '-' ||
        device.find_first_not_of(k_letters) != std::string::npos)
      throw Error(fmt::format("device {}; expected up to {} letters, digits, _, . and -", in_quotes(device), k_most));
  }

  void head(const Schedule& schedule) {
    fmt::print(out_,
               "#!/bin/sh\n"
               "# Routes of {} on {}: {} hosts, {} planes, {} entries, {} exceptions.\n"
               "# As root on every node: sh FILE [NODE], NODE being its name here if that is not its host name.\n"
               "# Node n has the address {} in plane 0, with p more in the second octet in plane p, and n in the last\n"
               "# two; its device into link k is {}k. It must forward: sysctl net.ipv4.ip_forward=1.\n"
               "set -e\n"
               "node=${{1:-$(hostname)}}\n"
               "case $node in\n",
               plain_text(schedule.name), plain_text(topology_.name()), tables_.hosts(), tables_.planes(),
               tables_.entries(), tables_.exceptions.size(), addresses_.of(0, 0), names_.device);
  }

  void node_case(NodeId node) {
    fmt::print(out_, "{})\n  ip -batch - <<'ROUTES'\n", for_shell(topology_.node_name(node)));
    for (std::int32_t plane = 0; plane < tables_.planes(); ++plane)
      for (NodeId target = 0; target < tables_.hosts(); ++target)
        if (const LinkId link = tables_.link(plane, node, target); link >= 0 && node != target)
          route(node, plane, target, link, 0);
    const auto first = std::ranges::lower_bound(tables_.exceptions, node, {}, &ForwardingException::node);
    int table = k_first_exception_table;
    for (auto e = first; e != tables_.exceptions.end() && e->node == node; ++e, ++table) {
      route(node, e->lane, e->target, e->link, table);
      fmt::print(out_, "rule add from {} to {} lookup {}\n", addresses_.of(e->source, e->lane),
                 addresses_.of(e->target, e->lane), table);
    }
    out_ << "ROUTES\n  ;;\n";
  }

  void route(NodeId node, std::int32_t plane, NodeId target, LinkId link, int table) {
    fmt::print(out_, "route replace {}/32 via {} dev {}{} onlink src {}", addresses_.of(target, plane),
               addresses_.of(topology_.link(link).head, 0), names_.device, link, addresses_.of(node, plane));
    if (table > 0) fmt::print(out_, " table {}", table);
    out_ << '\n';
  }

  std::ostream& out_;
  const Topology& topology_;
  const ForwardingTables& tables_;
  const LinuxNames& names_;
  Addresses addresses_;
};

}  // namespace

void write_linux_routes(std::ostream& out, const Schedule& schedule, const Topology& topology,
                        const ForwardingTables& tables, const LinuxNames& names) {
  Script(out, topology, tables, names).write(schedule);
}

}  // namespace colltopo
