// NCCL's topology XML (NCCL_TOPO_DUMP_FILE): the GPUs of a machine and what joins them. GPUs are the hosts; CPUs, PCI
// bridges, network cards and the NVSwitches (as one, as NCCL takes them) are switches.
//
// Bandwidths are those that NCCL itself plans with (its src/graph/topo.h): what arrives, not what the wire carries.
#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

#include "base/numbers.h"
#include "base/xml.h"
#include "import/formats.h"
#include "import/network.h"

namespace colltopo::import {

namespace {

constexpr double k_local = 5000e9;  // inside one chip

/// Of one NVLink by compute capability, bytes per second.
double nvlink_bandwidth(std::int64_t sm) {
  struct Row {
    std::int64_t from;
    double bandwidth;
  };
  constexpr Row k_rows[] = {{100, 40.1e9}, {90, 20.6e9}, {87, 20e9}, {86, 12e9}, {70, 20e9}, {60, 18e9}};
  for (const Row& row : k_rows)
    if (sm >= row.from) return row.bandwidth;
  return 20e9;
}

/// Between two CPUs of a machine.
double cpu_bandwidth(const std::string& arch, const std::string& vendor, std::int64_t family, std::int64_t model) {
  if (arch == "ppc64") return 32e9;
  if (arch == "arm64") return 6e9;
  if (vendor == "GenuineIntel") {
    if (model >= 0xcf) return 40e9;  // Emerald Rapids
    if (model >= 0x8f) return 22e9;  // Sapphire Rapids
    return model >= 0x55 ? 10e9 : 6e9;
  }
  if (vendor == "AuthenticAMD") {
    if (family >= 0xbf) return 32e9;  // Zen 5
    return family >= 0xaf ? 24e9 : 16e9;
  }
  return k_local;  // as NCCL takes those that it does not know
}

class NcclFile {
 public:
  explicit NcclFile(const Source& source)
      : source_(source),
        document_(source, "system"),
        network_(source),
        latency_(source.latency("latency", k_default_latency)) {}

  Topology read() {
    std::vector<std::string> machines;
    for (const pugi::xml_node cpu : document_.root().children("cpu")) {
      const std::string machine = cpu.attribute("host_hash").value();
      if (std::find(machines.begin(), machines.end(), machine) == machines.end()) machines.push_back(machine);
    }
    for (std::size_t i = 0; i < machines.size(); ++i) {
      // Numbers of CPUs, buses and GPUs are those of their machine.
      prefix_ = machines.size() > 1 ? fmt::format("machine{}.", i) : "";
      read_machine(machines[i]);
    }
    if (!any_gpu_) throw document_.error(document_.root(), "no <gpu>; expected at least one");
    return std::move(network_).topology();
  }

 private:
  struct Cpu {
    Network::Node node;
    double bandwidth;  // to the others
    std::int64_t line;
  };
  struct Gpu {
    std::string bus;
    Network::Node node;
    pugi::xml_node element;
    Network::Node cpu;
  };

  void read_machine(const std::string& machine) {
    gpus_.clear();
    gpu_at_.clear();
    std::vector<Cpu> cpus;
    for (const pugi::xml_node cpu : document_.root().children("cpu")) {
      if (machine != cpu.attribute("host_hash").value()) continue;
      const std::int64_t line = document_.line_of(cpu);
      const Network::Node node =
          network_.declare(fmt::format("{}cpu{}", prefix_, document_.text(cpu, "numaid")), Kind::switching, line);
      cpus.push_back({node,
                      cpu_bandwidth(cpu.attribute("arch").value(), cpu.attribute("vendor").value(),
                                    document_.whole(cpu, "familyid", 0), document_.whole(cpu, "modelid", 0)),
                      line});
      cpu_ = node;
      walk(cpu, node, k_local);
    }
    for (std::size_t a = 0; a < cpus.size(); ++a)
      for (std::size_t b = a + 1; b < cpus.size(); ++b)
        network_.cable(cpus[a].node, cpus[b].node, std::min(cpus[a].bandwidth, cpus[b].bandwidth), latency_,
                       cpus[b].line);
    for (const Gpu& gpu : gpus_)
      for (const pugi::xml_node nvlink : gpu.element.children("nvlink")) add_nvlink(gpu, nvlink);
  }

  /// What is inside a CPU or a PCI device; `bandwidth` is that of the device's own connection.
  void walk(pugi::xml_node element, Network::Node around, double bandwidth) {
    for (const pugi::xml_node inner : element.children()) {
      const std::string_view kind = inner.name();
      if (kind == "pci") {
        add_pci(inner, around);
      } else if (kind == "gpu") {
        add_gpu(inner, around, bandwidth);
      } else if (kind == "nic") {
        walk(inner, around, bandwidth);
      } else if (kind == "net") {
        const Network::Node net =
            network_.declare(prefix_ + document_.text(inner, "name"), Kind::switching, document_.line_of(inner));
        network_.cable(net, around, bandwidth, latency_, document_.line_of(inner));
      }
    }
  }

  /// A bridge is a node; a device with a GPU or a card in it is only their connection.
  void add_pci(pugi::xml_node pci, Network::Node around) {
    const double bandwidth = pci_bandwidth(pci);
    if (!pci.child("pci")) return walk(pci, around, bandwidth);
    const std::int64_t line = document_.line_of(pci);
    const Network::Node bridge =
        network_.declare(fmt::format("{}pci {}", prefix_, document_.text(pci, "busid")), Kind::switching, line);
    network_.cable(bridge, around, bandwidth, latency_, line);
    walk(pci, bridge, bandwidth);
  }

  /// Lanes times what a lane of that speed carries: 6 Gb/s at 8 GT/s, less by its encoding below that speed.
  double pci_bandwidth(pugi::xml_node pci) const {
    const std::string speed = pci.attribute("link_speed").value();  // "16.0 GT/s PCIe"
    double transfers = 8;
    if (!speed.empty() && (!parse_number(speed.substr(0, speed.find(' ')), transfers) || transfers <= 0))
      throw document_.error(pci,
                            fmt::format("link_speed {}; expected one such as \"16.0 GT/s PCIe\"", in_quotes(speed)));
    const std::int64_t lanes = document_.whole(pci, "link_width", 0);
    return static_cast<double>(lanes > 0 ? lanes : 16) * transfers * (transfers < 8 ? 0.6 : 0.75) * 1e9 / 8;
  }

  void add_gpu(pugi::xml_node gpu, Network::Node around, double bandwidth) {
    any_gpu_ = true;
    const std::int64_t line = document_.line_of(gpu);
    const Network::Node node =
        network_.declare(fmt::format("{}gpu{}", prefix_, document_.whole(gpu, "dev", -1)), Kind::host, line);
    network_.cable(node, around, bandwidth, latency_, line);
    const std::string bus = lower_case(gpu.parent().attribute("busid").value());
    if (gpu_at(bus) != nullptr)
      throw document_.error(gpu,
                            fmt::format("a second GPU at bus {}; expected another busid for each", in_quotes(bus)));
    gpu_at_.emplace(bus, gpus_.size());
    gpus_.push_back({bus, node, gpu, cpu_});
  }

  const Gpu* gpu_at(const std::string& bus) const {
    const auto found = gpu_at_.find(bus);
    return found == gpu_at_.end() ? nullptr : &gpus_[found->second];
  }

  void add_nvlink(const Gpu& gpu, pugi::xml_node nvlink) {
    const std::int64_t count = document_.whole(nvlink, "count", 0), line = document_.line_of(nvlink);
    if (count == 0) throw document_.error(nvlink, "an <nvlink> without count; expected 1 or more");
    const double bandwidth = static_cast<double>(count) * nvlink_bandwidth(document_.whole(gpu.element, "sm", 0));
    const std::string target = lower_case(document_.text(nvlink, "target"));
    const std::string_view device = nvlink.attribute("tclass").value();
    if (const Gpu* const other = gpu_at(target)) {
      // The other GPU lists the other direction.
      network_.link(gpu.node, other->node, bandwidth, latency_, line);
    } else if (device.starts_with("0x0680")) {
      const bool to_cpu = device == "0x068001";  // the bridge of POWER
      network_.cable(gpu.node, to_cpu ? gpu.cpu : nvswitch(line), bandwidth, latency_, line);
    } else if (device.empty()) {
      throw document_.error(nvlink, fmt::format("target {} is no GPU of the file and has no tclass; expected a busid",
                                                in_quotes(target)));
    }
    // Otherwise a GPU that was hidden from the job, which NCCL leaves out too.
  }

  Network::Node nvswitch(std::int64_t line) {
    const std::string name = prefix_ + "nvswitch";
    const auto known = network_.find(name);
    return known ? *known : network_.declare(name, Kind::switching, line);
  }

  const Source& source_;
  XmlDocument document_;
  Network network_;
  double latency_;
  std::string prefix_;
  Network::Node cpu_ = 0;                      // around what is being read
  std::vector<Gpu> gpus_;                      // of the machine that is being read
  std::map<std::string, std::size_t> gpu_at_;  // by bus
  bool any_gpu_ = false;
};

Topology read_nccl(const Source& source) { return NcclFile(source).read(); }

bool is_nccl(std::string_view contents) { return has_xml_root(contents, "system"); }

}  // namespace

Format nccl_format() {
  return {"nccl", "NCCL's topology XML (NCCL_TOPO_DUMP_FILE): GPUs of one machine", "latency=1us", is_nccl, read_nccl,
          nullptr};
}

}  // namespace colltopo::import
