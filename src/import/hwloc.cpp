// hwloc's XML (lstopo --of xml), versions 1 and 2: the network inside a machine. Cores are the hosts (processing units
// where there are no cores); machine, packages, dies, groups, NUMA nodes and L3 caches are switches, each joined to the
// one around it.
//
// hwloc does not say how fast the parts talk, so each kind of part has an assumed bandwidth towards what is around it,
// which is an option of the format. Smaller caches and devices are left out: nothing chooses a way by them.
#include <array>
#include <map>

#include <fmt/format.h>

#include "base/xml.h"
#include "import/formats.h"
#include "import/network.h"

namespace colltopo::import {

namespace {

struct Part {
  std::string_view type;  // of hwloc
  std::string_view name;  // in hwloc's command line notation, "core:3"
  const char* option;
  double bandwidth;  // towards what is around it
};
constexpr std::array<Part, 8> k_parts{{{"Core", "core", "core", 10e9},
                                       {"PU", "pu", "core", 10e9},
                                       {"L3Cache", "l3", "l3", 40e9},
                                       {"NUMANode", "numa", "numa", 80e9},
                                       {"Die", "die", "numa", 80e9},
                                       {"Group", "group", "numa", 80e9},
                                       {"Package", "package", "package", 40e9},
                                       {"Machine", "machine", "package", 40e9}}};

class HwlocFile {
 public:
  explicit HwlocFile(const Source& source)
      : source_(source), document_(source, "topology"), network_(source), latency_(source.latency("latency", 100e-9)) {}

  Topology read() {
    const pugi::xml_node machine = document_.root().child("object");
    if (!machine) throw document_.error(document_.root(), "no <object>; expected a machine and its parts");
    host_type_ = has(machine, "Core") ? "Core" : "PU";
    if (!has(machine, host_type_))
      throw document_.error(machine, "neither cores nor processing units; expected at least one");
    walk(machine, std::nullopt);
    return std::move(network_).topology();
  }

 private:
  static std::string_view type_of(pugi::xml_node object) {
    const std::string_view type = object.attribute("type").value();
    if (type == "Socket") return "Package";  // version 1 before 1.11
    // Version 1 says "Cache" and its depth.
    if (type == "Cache") return std::string_view(object.attribute("depth").value()) == "3" ? "L3Cache" : "";
    return type;
  }

  static bool has(pugi::xml_node object, std::string_view type) {
    if (type_of(object) == type) return true;
    for (const pugi::xml_node inner : object.children("object"))
      if (has(inner, type)) return true;
    return false;
  }

  void walk(pugi::xml_node object, std::optional<Network::Node> around) {
    if (document_.text(object, "type").empty()) return;
    const std::string_view type = type_of(object);
    const Part* part = nullptr;
    for (const Part& each : k_parts)
      if (each.type == type) part = &each;
    const bool is_host = type == host_type_;
    // In version 2 NUMA nodes hang beside what is near them and hold nothing: what is around them stands for both.
    if (part != nullptr && (is_host || (type != "Core" && has(object, host_type_)))) {
      const std::int64_t line = document_.line_of(object);
      const Network::Node node = network_.declare(fmt::format("{}:{}", part->name, count_[std::string(type)]++),
                                                  is_host ? Kind::host : Kind::switching, line);
      if (around) network_.cable(node, *around, source_.bandwidth(part->option, part->bandwidth), latency_, line);
      around = node;
    }
    if (is_host) return;
    for (const pugi::xml_node inner : object.children("object")) walk(inner, around);
  }

  const Source& source_;
  XmlDocument document_;
  Network network_;
  double latency_;
  std::string_view host_type_;
  std::map<std::string, int> count_;
};

Topology read_hwloc(const Source& source) { return HwlocFile(source).read(); }

bool is_hwloc(std::string_view contents) { return has_xml_root(contents, "topology"); }

}  // namespace

Format hwloc_format() {
  return {"hwloc",
          "hwloc's XML (lstopo --of xml): cores of one machine",
          "core=10GBps l3=40GBps numa=80GBps package=40GBps latency=100ns",
          is_hwloc,
          read_hwloc,
          nullptr};
}

}  // namespace colltopo::import
