// Reading the XML: every number is in its range, every step that is waited for exists.
#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "base/numbers.h"
#include "base/plain.h"
#include "base/xml.h"
#include "formats/msccl.h"

namespace colltopo::msccl {

namespace {

// Chunks of a buffer: far more than a runtime takes, few enough to have a table of them.
constexpr std::int64_t k_most_msccl_chunks = 1 << 22;
// Chunks of all buffers, and what all steps move: reading takes some 50 bytes for each.
constexpr std::int64_t k_most_of_all = 1 << 22;

struct NamedType {
  std::string_view name;
  StepType type;
};
constexpr std::array<NamedType, 10> k_types = {{{"nop", StepType::nop},
                                                {"s", StepType::send},
                                                {"r", StepType::recv},
                                                {"cpy", StepType::copy},
                                                {"cp", StepType::copy},
                                                {"re", StepType::reduce},
                                                {"rcs", StepType::recv_copy_send},
                                                {"rrs", StepType::recv_reduce_send},
                                                {"rrc", StepType::recv_reduce_copy},
                                                {"rrcs", StepType::recv_reduce_copy_send}}};

class Parser {
 public:
  explicit Parser(const TextFile& source) : document_(source, "algo") {}

  Algorithm algorithm() {
    const pugi::xml_node algo = document_.root();
    algorithm_.name = algo.attribute("name").value();
    if (control_at(algorithm_.name) != std::string::npos)
      throw document_.error(algo, "a name with control characters; expected plain text");
    algorithm_.protocol = algo.attribute("proto").as_string("Simple");
    algorithm_.collective = collective(algo);
    algorithm_.chunks = static_cast<Chunk>(number(algo, "nchunksperloop", 1, k_most_msccl_chunks));
    algorithm_.in_place = document_.whole(algo, "inplace", 0) != 0;
    algorithm_.out_of_place = document_.whole(algo, "outofplace", algorithm_.in_place ? 0 : 1) != 0;
    algorithm_.min_bytes = document_.whole(algo, "minBytes", 0);
    algorithm_.max_bytes = document_.whole(algo, "maxBytes", 0);
    ranks_ = static_cast<Rank>(number(algo, "ngpus", 1, 1 << 20));
    read_gpus(algo);
    return std::move(algorithm_);
  }

 private:
  std::int64_t number(pugi::xml_node node, const char* attribute, std::int64_t least, std::int64_t most) const {
    const std::string text = document_.text(node, attribute);
    std::int64_t value = 0;
    if (!parse_number(text, value) || value < least || value > most)
      throw document_.error(node, fmt::format("{}={} of <{}>; expected a whole number in {}..{}", attribute,
                                              in_quotes(text), node.name(), least, most));
    return value;
  }

  void expect_few(pugi::xml_node node, std::int64_t all, std::string_view what) const {
    if (all > k_most_of_all)
      throw document_.error(node, fmt::format("{} {} so far; expected at most {}", all, what, k_most_of_all));
  }

  Collective collective(pugi::xml_node algo) const {
    const std::string name = document_.text(algo, "coll");
    for (const NamedCollective& known : k_named_collectives)
      if (known.name == name || known.in_rccl == name) return known.collective;
    throw document_.error(
        algo, fmt::format("coll={}: what must come out of it is not known; expected allgather, reduce_scatter, "
                          "allreduce, alltoall, broadcast or reduce",
                          in_quotes(name)));
  }

  void read_gpus(pugi::xml_node algo) {
    std::vector<pugi::xml_node> by_rank(static_cast<std::size_t>(ranks_));
    for (const pugi::xml_node gpu : algo.children("gpu")) {
      pugi::xml_node& place = by_rank[static_cast<std::size_t>(number(gpu, "id", 0, ranks_ - 1))];
      if (place)
        throw document_.error(gpu, fmt::format("gpu {} again; expected each once", gpu.attribute("id").value()));
      place = gpu;
    }
    for (Rank rank = 0; rank < ranks_; ++rank) {
      const pugi::xml_node gpu = by_rank[static_cast<std::size_t>(rank)];
      if (!gpu)
        throw document_.error(algo,
                              fmt::format("no <gpu id=\"{}\">; expected one for each of 0..{}", rank, ranks_ - 1));
      read_gpu(gpu, rank);
    }
  }

  void read_gpu(pugi::xml_node node, Rank rank) {
    Gpu gpu;
    gpu.input = static_cast<Chunk>(number(node, "i_chunks", 0, k_most_msccl_chunks));
    gpu.output = static_cast<Chunk>(number(node, "o_chunks", 0, k_most_msccl_chunks));
    gpu.scratch = static_cast<Chunk>(number(node, "s_chunks", 0, k_most_msccl_chunks));
    expect_few(node, chunks_ += std::int64_t{gpu.input} + gpu.output + gpu.scratch, "chunks on all gpus");
    blocks_.clear();
    for (const pugi::xml_node tb : node.children("tb")) {
      ThreadBlock block;
      block.line = document_.line_of(tb);
      block.send = peer(tb, "send", rank);
      block.recv = peer(tb, "recv", rank);
      block.channel = static_cast<Lane>(number(tb, "chan", 0, 1 << 20));
      const auto index = static_cast<std::int32_t>(gpu.blocks.size());
      if (!blocks_.emplace(number(tb, "id", 0, 1 << 20), index).second)
        throw document_.error(
            tb, fmt::format("thread block {} of gpu {} again; expected each once", tb.attribute("id").value(), rank));
      require_own_connections(gpu, block, rank, tb);
      gpu.blocks.push_back(std::move(block));
    }
    std::size_t index = 0;
    for (const pugi::xml_node tb : node.children("tb")) read_steps(tb, gpu, gpu.blocks[index++]);
    index = 0;
    for (const pugi::xml_node tb : node.children("tb")) require_awaited(tb, gpu, gpu.blocks[index++]);
    algorithm_.gpus.push_back(std::move(gpu));
  }

  Rank peer(pugi::xml_node tb, const char* attribute, Rank rank) const {
    const auto value = static_cast<Rank>(number(tb, attribute, -1, ranks_ - 1));
    if (value == rank)
      throw document_.error(tb, fmt::format("{}={}: gpu {} itself; expected another, or -1", attribute, value, rank));
    return value;
  }

  /// Two thread blocks on one connection would race for its messages.
  void require_own_connections(const Gpu& gpu, const ThreadBlock& block, Rank rank, pugi::xml_node tb) const {
    for (const ThreadBlock& other : gpu.blocks) {
      if (other.channel != block.channel) continue;
      const bool sending = block.send >= 0 && block.send == other.send;
      if (!sending && (block.recv < 0 || block.recv != other.recv)) continue;
      throw document_.error(
          tb, fmt::format(
                  "a second thread block of gpu {} {} {} on channel {}; expected one, for the order of its messages",
                  rank, sending ? "sends to" : "receives from", sending ? block.send : block.recv, block.channel));
    }
  }

  void read_steps(pugi::xml_node tb, const Gpu& gpu, ThreadBlock& block) {
    std::int64_t before = -1;
    for (const pugi::xml_node node : tb.children("step")) {
      const std::int64_t label = number(node, "s", 0, 1 << 24);
      if (label != before + 1)
        throw document_.error(node, fmt::format("step s={} after {}; expected {}", label, before, before + 1));
      before = label;
      block.steps.push_back(step(node, gpu, block));
    }
  }

  Instruction step(pugi::xml_node node, const Gpu& gpu, const ThreadBlock& block) {
    Instruction step;
    step.line = document_.line_of(node);
    step.type = type(node);
    const std::int64_t awaited = number(node, "depid", -1, 1 << 20);
    if (awaited >= 0) {
      const auto found = blocks_.find(awaited);
      if (found == blocks_.end())
        throw document_.error(node, fmt::format("depid={}: no such thread block of this gpu", awaited));
      step.awaited_block = found->second;
      step.awaited_step = static_cast<std::int32_t>(number(node, "deps", 0, 1 << 24));
    }
    if (step.type == StepType::nop) return step;
    step.count = static_cast<Chunk>(number(node, "cnt", 0, k_most_msccl_chunks));
    expect_few(node, moved_ += step.count, "chunks of steps");
    if (reads_source(step.type)) step.source = place(node, "srcbuf", "srcoff", step.count, gpu);
    if (writes_target(step.type)) step.target = place(node, "dstbuf", "dstoff", step.count, gpu);
    if ((sends(step.type) && block.send < 0) || (receives(step.type) && block.recv < 0))
      throw document_.error(node, fmt::format("type={} in a thread block with send={} and recv={}; expected a peer",
                                              in_quotes(node.attribute("type").value()), block.send, block.recv));
    if (reduces(step.type) && !colltopo::reduces(algorithm_.collective))
      throw document_.error(node, fmt::format("type={}: {} reduces nothing", in_quotes(node.attribute("type").value()),
                                              name(algorithm_.collective)));
    return step;
  }

  StepType type(pugi::xml_node node) const {
    const std::string text = document_.text(node, "type");
    for (const NamedType& known : k_types)
      if (known.name == text) return known.type;
    throw document_.error(node,
                          fmt::format("type={}; expected s, r, cpy, re, rcs, rrs, rrc, rrcs or nop", in_quotes(text)));
  }

  Place place(pugi::xml_node node, const char* buffer, const char* offset, Chunk count, const Gpu& gpu) const {
    const std::string letter = document_.text(node, buffer);
    Place place;
    Chunk chunks = gpu.input;
    if (letter == "o") {
      place.memory = Memory::output;
      chunks = gpu.output;
    } else if (letter == "s") {
      place.memory = Memory::scratch;
      chunks = gpu.scratch;
    } else if (letter != "i") {
      throw document_.error(node, fmt::format("{}={}; expected i, o or s", buffer, in_quotes(letter)));
    }
    place.first = static_cast<Chunk>(number(node, offset, 0, k_most_msccl_chunks));
    if (place.first + count > chunks)
      throw document_.error(node, fmt::format("chunks {}..{} of {}, of which this gpu has {}", place.first,
                                              place.first + count - 1, letter, chunks));
    return place;
  }

  void require_awaited(pugi::xml_node tb, const Gpu& gpu, const ThreadBlock& block) const {
    std::size_t index = 0;
    for (const pugi::xml_node node : tb.children("step")) {
      const Instruction& step = block.steps[index++];
      if (step.awaited_block < 0) continue;
      const ThreadBlock& other = gpu.blocks[static_cast<std::size_t>(step.awaited_block)];
      if (static_cast<std::size_t>(step.awaited_step) < other.steps.size()) continue;
      throw document_.error(node, fmt::format("deps={} of thread block {}, which has {} steps", step.awaited_step,
                                              node.attribute("depid").value(), other.steps.size()));
    }
  }

  XmlDocument document_;
  Algorithm algorithm_;
  std::int64_t chunks_ = 0, moved_ = 0;
  Rank ranks_ = 0;
  std::map<std::int64_t, std::int32_t> blocks_;  // of the GPU at hand: id to index
};

}  // namespace

Algorithm parsed(std::string_view contents, const std::string& file) {
  const TextFile source{contents, file};
  return Parser(source).algorithm();
}

}  // namespace colltopo::msccl
