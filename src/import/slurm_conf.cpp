// Slurm's topology.conf (topology/tree and topology/block): one line per switch or block, words KEY=VALUE.
//
// The file gives no bandwidths except LinkSpeed, whose unit Slurm leaves open: it is read as Gb/s of the links from the
// line's switch to what hangs below it. Blocks are switches under one switch named "blocks".
#include <fmt/format.h>

#include "base/numbers.h"
#include "import/formats.h"
#include "import/host_list.h"
#include "import/switch_tree.h"

namespace colltopo::import {

namespace {

constexpr std::string_view k_expected_keys =
    "SwitchName=NAME with Nodes=LIST or Switches=LIST, or BlockName=NAME Nodes=LIST";

/// The words of one line.
struct Statement {
  std::string switch_name, block_name, nodes, switches;
  bool block_sizes = false;
  double link_bandwidth = 0;  // 0: not given
  std::int64_t line = 0;
};

void set(std::string& field, std::string_view key, std::string_view value, const Source& source, std::int64_t line) {
  if (!field.empty()) throw source.error(line, fmt::format("{} twice; expected it once in a line", key));
  field = value;
}

void take_setting(Statement& statement, std::string_view word, const Source& source, std::int64_t line) {
  const std::size_t equals = word.find('=');
  if (equals == std::string_view::npos || equals + 1 == word.size())
    throw source.error(line, fmt::format("{}; expected {}", in_quotes(word), k_expected_keys));
  const std::string key = lower_case(word.substr(0, equals));
  const std::string_view value = word.substr(equals + 1);
  if (key == "switchname") {
    set(statement.switch_name, "SwitchName", value, source, line);
  } else if (key == "blockname") {
    set(statement.block_name, "BlockName", value, source, line);
  } else if (key == "nodes") {
    set(statement.nodes, "Nodes", value, source, line);
  } else if (key == "switches") {
    set(statement.switches, "Switches", value, source, line);
  } else if (key == "blocksizes") {
    statement.block_sizes = true;  // how jobs are placed; says nothing about links
  } else if (key == "linkspeed") {
    double gigabits = 0;
    if (!parse_number(value, gigabits) || gigabits <= 0)
      throw source.error(line, fmt::format("LinkSpeed={}; expected a number above 0, read as Gb/s", in_quotes(value)));
    statement.link_bandwidth = gigabits * 1e9 / 8;
  } else {
    throw source.error(line,
                       fmt::format("unknown key {}; expected {}", in_quotes(word.substr(0, equals)), k_expected_keys));
  }
}

Statement statement_in(std::string_view text, const Source& source, std::int64_t line) {
  Statement statement;
  statement.line = line;
  for (std::string_view word = take_word(text); !word.empty(); word = take_word(text))
    take_setting(statement, word, source, line);
  const bool names_one = statement.switch_name.empty() != statement.block_name.empty();
  const bool only_sizes = statement.block_sizes && statement.switch_name.empty() && statement.block_name.empty() &&
                          statement.nodes.empty() && statement.switches.empty();
  if (only_sizes) return statement;
  if (!names_one)
    throw source.error(line, fmt::format("names no switch and no block, or both; expected {}", k_expected_keys));
  if (statement.nodes.empty() && statement.switches.empty())
    throw source.error(line, fmt::format("{} has neither Nodes nor Switches; expected what hangs below it",
                                         in_quotes(statement.switch_name + statement.block_name)));
  return statement;
}

Topology read_slurm_conf(const Source& source) {
  SwitchTree tree(source);
  std::vector<std::string> blocks;
  std::int64_t block_line = 0;
  TextLines lines(source.contents);
  std::string_view line;
  while (lines.next(line)) {
    const std::int64_t number = lines.number();
    std::string text(line.substr(0, line.find('#')));
    // A backslash at the end joins the next line.
    while (trimmed(text).ends_with('\\') && lines.next(line)) {
      text = trimmed(text);
      text.pop_back();
      text += line.substr(0, line.find('#'));
    }
    if (trimmed(text).empty()) continue;
    const Statement statement = statement_in(text, source, number);
    const std::string& name = statement.switch_name.empty() ? statement.block_name : statement.switch_name;
    if (name.empty()) continue;
    tree.add_switch(name, statement.link_bandwidth, number);
    if (!statement.nodes.empty()) tree.add_hosts(expand_host_list(statement.nodes, source, number));
    if (!statement.switches.empty()) tree.add_switches(expand_host_list(statement.switches, source, number));
    if (!statement.block_name.empty()) {
      blocks.push_back(name);
      block_line = number;
    }
  }
  if (tree.empty())
    throw source.error(lines.number(), fmt::format("no switch in the file; expected {}", k_expected_keys));
  if (blocks.size() > 1) {
    tree.add_switch("blocks", 0, block_line);
    tree.add_switches(blocks);
  }
  return tree.topology(source.file);
}

bool is_slurm_conf(std::string_view contents) {
  const std::string line = lower_case(first_line(contents));
  for (const char* key : {"switchname=", "blockname=", "blocksizes=", "linkspeed="})
    if (line.starts_with(key)) return true;
  return false;
}

}  // namespace

Format slurm_format() {
  return {"slurm", "Slurm's topology.conf", k_switch_tree_options, is_slurm_conf, read_slurm_conf, nullptr};
}

}  // namespace colltopo::import
