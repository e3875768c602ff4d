// Turns of digits are written as what they are; only other permutations, and those of switches, are listed. Paths are a
// tree, written branch by branch: a line goes on from a node that is known, and each of its words is one link further.

#include "text/symmetry.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace colltopo::text {

namespace {

constexpr std::int32_t k_most_generators = 30;  // each at least doubles the group
constexpr std::size_t k_most_words = 64;        // of a line of paths

std::vector<std::int32_t> numbers_to_end(Words& words, std::string_view what) {
  std::vector<std::int32_t> numbers;
  while (!words.done()) numbers.push_back(words.number(what, 0, k_most_chunks));
  return numbers;
}

Generator read_generator(Words words, Rank ranks) {
  const bool turns = words.takes("turn");
  std::int32_t block = 0;
  if (turns)
    block = words.number("the block that turns", 1, ranks);
  else
    words.keyword("move");
  words.keyword("order");
  const std::int32_t order = words.number("order", 2, ranks);
  if (!turns) {
    words.keyword("nodes");
    return {order, numbers_to_end(words, "a node")};
  }
  if (order > ranks / block || ranks % (block * order) != 0)
    throw words.error(
        fmt::format("{} blocks of {} ranks turn, expected their product to divide {}", order, block, ranks));
  std::vector<std::int32_t> switches;
  if (words.takes("switches")) switches = numbers_to_end(words, "a switch");
  words.end();
  return turn(ranks, block, order, std::move(switches));
}

PathTree::Node read_node(const Words& words, std::string_view word, const Head& head, std::int32_t from) {
  const std::size_t colon = std::min(word.find(':'), word.size());
  PathTree::Node node{from, 0, head.header.shape.chunks, 0};
  node.link = static_cast<LinkId>(words.number_in(word.substr(0, colon), "link", 0, k_most_chunks));
  if (colon == word.size()) return node;
  const std::size_t at = std::min(word.find('@', colon), word.size());
  node.chunks = static_cast<Chunk>(words.number_in(word.substr(colon + 1, at - colon - 1), "chunks", 0,
                                                   static_cast<std::uint64_t>(head.header.shape.chunks)));
  if (at < word.size())
    node.layer = static_cast<std::int32_t>(words.number_in(word.substr(at + 1), "layer", 0, k_most_chunks));
  return node;
}

void append_node(std::string& line, const PathTree::Node& node, Chunk chunks) {
  line.append(" ").append(fmt::format_int(node.link).c_str());
  if (node.chunks != chunks || node.layer != 0) line.append(":").append(fmt::format_int(node.chunks).c_str());
  if (node.layer != 0) line.append("@").append(fmt::format_int(node.layer).c_str());
}

}  // namespace

Symmetry read_symmetry(Lines& lines, const Head& head) {
  const Rank ranks = head.header.shape.ranks;
  Words first(lines, lines.next("the section of symmetries"));
  first.keyword("symmetry");
  const std::int32_t count = first.number("generators", 0, k_most_generators);
  first.end();
  std::vector<Generator> generators;
  for (std::int32_t i = 0; i < count; ++i)
    generators.push_back(read_generator(Words(lines, lines.next("a generator")), ranks));
  Words words(lines, lines.next("the representatives"));
  words.keyword("representatives");
  std::vector<std::int32_t> representatives = numbers_to_end(words, "a representative");
  if (representatives.size() != static_cast<std::size_t>(head.header.orbits))
    throw lines.error(
        fmt::format("{} representatives, expected {}, one of each orbit", representatives.size(), head.header.orbits));
  try {
    return Symmetry(ranks, std::move(generators), std::move(representatives));
  } catch (const Error& error) {
    throw lines.error(error.what());
  }
}

void write_symmetry(SealedLines& out, const Symmetry& symmetry) {
  out.line(fmt::format("symmetry {}", symmetry.generators().size()));
  for (const Generator& generator : symmetry.generators()) {
    const auto hosts = static_cast<std::ptrdiff_t>(symmetry.hosts());
    const std::int32_t block = block_of_turn(symmetry.hosts(), generator);
    const std::span switches(generator.image.begin() + hosts, generator.image.end());
    if (block == 0)
      out.line(fmt::format("move order {} nodes {}", generator.order, fmt::join(generator.image, " ")));
    else if (switches.empty())
      out.line(fmt::format("turn {} order {}", block, generator.order));
    else
      out.line(fmt::format("turn {} order {} switches {}", block, generator.order, fmt::join(switches, " ")));
  }
  out.line(fmt::format("representatives {}", fmt::join(symmetry.representatives(), " ")));
}

std::vector<Split> read_targets(Lines& lines, const Head& head, const Symmetry& symmetry, std::int32_t orbit) {
  Words first(lines, lines.next("the targets of an orbit"));
  first.keyword("targets");
  first.number("orbit", orbit, orbit);
  first.keyword("host");
  const Rank host = symmetry.representatives()[static_cast<std::size_t>(orbit)];
  first.number("host", host, host);
  first.keyword("lines");
  const auto count = first.number<std::int64_t>("lines");
  first.end();
  std::vector<Split> splits;
  for (std::int64_t i = 0; i < count; ++i) {
    Words words(lines, lines.next("targets"));
    words.keyword("to");
    const Stretch targets = words.stretch("targets");
    if (targets.first >= static_cast<std::uint64_t>(head.header.shape.ranks) ||
        targets.bytes > static_cast<std::uint64_t>(head.header.shape.ranks))
      throw lines.error(fmt::format("{} targets from {} on, expected ranks of 0..{}", targets.bytes, targets.first,
                                    head.header.shape.ranks - 1));
    splits.push_back({static_cast<Rank>(targets.first), static_cast<Rank>(targets.bytes), {}});
    splits.back().lanes = numbers_to_end(words, "chunks");
  }
  if (const std::string fault = split_fault(head.header.shape, host, splits); !fault.empty())
    throw lines.error(fmt::format("orbit {}: {}", orbit, fault));
  return splits;
}

void write_targets(SealedLines& out, const SymmetricSchedule& schedule, std::int32_t orbit) {
  const auto i = static_cast<std::size_t>(orbit);
  out.line(fmt::format("targets {} host {} lines {}", orbit, schedule.symmetry.representatives()[i],
                       schedule.splits[i].size()));
  for (const Split& split : schedule.splits[i])
    out.line(fmt::format("to {}+{} {}", split.first, split.count, fmt::join(split.lanes, " ")));
}

PathTree read_paths(Lines& lines, const Head& head, std::int32_t orbit) {
  Words first(lines, lines.next("the paths of an orbit"));
  first.keyword("paths");
  first.number("orbit", orbit, orbit);
  first.keyword("nodes");
  const auto nodes = first.number("nodes", 0, k_most_chunks - 1);
  first.end();
  PathTree tree;
  while (tree.nodes.size() <= static_cast<std::size_t>(nodes)) {
    const auto known = static_cast<std::int32_t>(tree.nodes.size());
    Words words(lines, lines.next("a branch of the paths"));
    words.keyword("from");
    std::int32_t from = words.number("the node that the branch goes on from", 0, known - 1);
    do {
      tree.nodes.push_back(read_node(words, words.word("a link"), head, from));
      from = static_cast<std::int32_t>(tree.nodes.size()) - 1;
    } while (!words.done());
    if (from > nodes) throw lines.error(fmt::format("node {}, expected {} in all", from, nodes));
  }
  return tree;
}

void write_paths(SealedLines& out, const SymmetricSchedule& schedule, std::int32_t orbit) {
  const PathTree& tree = schedule.paths[static_cast<std::size_t>(orbit)];
  out.line(fmt::format("paths {} nodes {}", orbit, tree.nodes.size() - 1));
  for (std::size_t node = 1; node < tree.nodes.size();) {
    std::string line = fmt::format("from {}", tree.nodes[node].from);
    std::size_t words = 0;
    do {
      append_node(line, tree.nodes[node], schedule.shape.chunks);
      ++node;
      ++words;
    } while (node < tree.nodes.size() && words < k_most_words &&
             tree.nodes[node].from == static_cast<std::int32_t>(node) - 1);
    out.line(line);
  }
}

}  // namespace colltopo::text
