// Slurm's topology.yaml: a list of topologies, of which the one with cluster_default, or else the first, is read. Each
// is a tree of switches or a list of blocks; "flat" says nothing about the network.
#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "import/formats.h"
#include "import/host_list.h"
#include "import/switch_tree.h"

namespace colltopo::import {

namespace {

std::int64_t line_of(const YAML::Mark& mark) { return mark.is_null() ? 1 : mark.line + 1; }

class SlurmYaml {
 public:
  explicit SlurmYaml(const Source& source) : source_(source) {}

  Topology read() {
    const YAML::Node file = YAML::Load(std::string(source_.contents));
    if (!file.IsSequence() || file.size() == 0)
      refuse(file, "not a list of topologies", "entries that begin with \"- topology: NAME\"");
    YAML::Node chosen;
    bool any = false, is_default = false;
    for (const YAML::Node& each : file) {
      const std::string name = text(each, "topology");
      const bool wants = each["cluster_default"] && text(each, "cluster_default") == "true";
      if (any && (is_default || !wants)) continue;
      any = true;
      chosen.reset(each);
      is_default = wants;
      name_ = name;
    }
    SwitchTree tree(source_);
    if (chosen["tree"]) {
      read_tree(chosen["tree"], tree);
    } else if (chosen["block"]) {
      read_blocks(chosen["block"], tree);
    } else {
      refuse(chosen, fmt::format("topology {} has neither \"tree\" nor \"block\"", in_quotes(name_)),
             "one of them; a flat topology says nothing about the network");
    }
    return tree.topology(name_);
  }

 private:
  [[noreturn]] void refuse(const YAML::Node& at, std::string_view fact, std::string_view expected) const {
    throw source_.error(line_of(at.Mark()), fmt::format("{}; expected {}", fact, expected));
  }

  std::string text(const YAML::Node& map, const char* key) const {
    if (!map.IsMap()) refuse(map, "not a map of keys and values", fmt::format("one with \"{}\"", key));
    const YAML::Node value = map[key];
    if (!value || !value.IsScalar() || value.Scalar().empty())
      refuse(value ? value : map, fmt::format("no text for \"{}\"", key), "it to be given");
    return value.Scalar();
  }

  YAML::Node list(const YAML::Node& map, const char* key) const {
    if (!map.IsMap() || !map[key] || !map[key].IsSequence() || map[key].size() == 0)
      refuse(map, fmt::format("no list \"{}\"", key), "at least one entry in it");
    return map[key];
  }

  void read_tree(const YAML::Node& given, SwitchTree& tree) const {
    for (const YAML::Node& each : list(given, "switches")) {
      const std::int64_t line = line_of(each.Mark());
      tree.add_switch(text(each, "switch"), 0, line);
      if (!each["nodes"] && !each["children"])
        refuse(each, "a switch with neither \"nodes\" nor \"children\"", "what hangs below it");
      if (each["nodes"]) tree.add_hosts(expand_host_list(text(each, "nodes"), source_, line_of(each["nodes"].Mark())));
      if (each["children"])
        tree.add_switches(expand_host_list(text(each, "children"), source_, line_of(each["children"].Mark())));
    }
  }

  void read_blocks(const YAML::Node& given, SwitchTree& tree) const {
    std::vector<std::string> blocks;
    for (const YAML::Node& each : list(given, "blocks")) {
      blocks.push_back(text(each, "block"));
      tree.add_switch(blocks.back(), 0, line_of(each.Mark()));
      tree.add_hosts(expand_host_list(text(each, "nodes"), source_, line_of(each.Mark())));
    }
    if (blocks.size() == 1) return;
    tree.add_switch("blocks", 0, line_of(given.Mark()));
    tree.add_switches(blocks);
  }

  const Source& source_;
  std::string name_;
};

Topology read_slurm_yaml(const Source& source) {
  try {
    return SlurmYaml(source).read();
  } catch (const YAML::Exception& error) {
    throw source.error(line_of(error.mark), fmt::format("{}; expected Slurm's topology.yaml", error.msg));
  }
}

bool is_slurm_yaml(std::string_view contents) {
  const std::string_view line = first_line(contents);
  return line.starts_with("- topology:") || line == "---";
}

}  // namespace

Format slurm_yaml_format() {
  return {"slurm-yaml", "Slurm's topology.yaml", k_switch_tree_options, is_slurm_yaml, read_slurm_yaml, nullptr};
}

}  // namespace colltopo::import
