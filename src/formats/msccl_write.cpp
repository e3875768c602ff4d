// Writing the XML, and the choice of thread blocks.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "colltopo/error.h"
#include "colltopo/formats.h"
#include "colltopo/verify.h"
#include "formats/msccl_blocks.h"

namespace colltopo {

namespace msccl {

namespace {

std::string_view name_of(StepType type) {
  switch (type) {
    case StepType::nop:
      return "nop";
    case StepType::send:
      return "s";
    case StepType::recv:
      return "r";
    case StepType::copy:
      return "cpy";
    case StepType::reduce:
      return "re";
    case StepType::recv_copy_send:
      return "rcs";
    case StepType::recv_reduce_send:
      return "rrs";
    case StepType::recv_reduce_copy:
      return "rrc";
    case StepType::recv_reduce_copy_send:
      return "rrcs";
  }
  return "";
}

char letter_of(Memory memory) { return memory == Memory::input ? 'i' : memory == Memory::output ? 'o' : 's'; }

std::string_view name_of(Collective collective, bool rccl) {
  for (const NamedCollective& known : k_named_collectives)
    if (known.collective == collective) return rccl ? known.in_rccl : known.name;
  throw Error(fmt::format("MSCCL has no {}; expected allgather, reduce_scatter, allreduce, alltoall, bcast or reduce",
                          name(collective)));
}

// The runtimes' parsers know no escapes and have little room for a value.
std::string plain(std::string_view text) {
  constexpr std::size_t k_most = 200;
  std::string all(text.substr(0, k_most));
  for (char& letter : all)
    if (std::string_view("<>&\"'").find(letter) != std::string_view::npos) letter = '_';
  return all;
}

using Awaited = std::set<std::pair<std::int32_t, std::int32_t>>;  // thread block and step

Awaited awaited_steps(const Gpu& gpu) {
  Awaited awaited;
  for (const ThreadBlock& block : gpu.blocks)
    for (const Instruction& step : block.steps)
      if (step.awaited_block >= 0) awaited.emplace(step.awaited_block, step.awaited_step);
  return awaited;
}

void print_step(std::back_insert_iterator<std::string> out, const Instruction& step, std::size_t index, bool awaited) {
  fmt::format_to(out,
                 "      <step s=\"{}\" type=\"{}\" srcbuf=\"{}\" srcoff=\"{}\" dstbuf=\"{}\" dstoff=\"{}\" cnt=\"{}\" "
                 "depid=\"{}\" deps=\"{}\" hasdep=\"{}\"/>\n",
                 index, name_of(step.type), letter_of(step.source.memory), step.source.first,
                 letter_of(step.target.memory), step.target.first, step.count, step.awaited_block, step.awaited_step,
                 awaited ? 1 : 0);
}

}  // namespace

std::string printed(const Algorithm& algorithm, bool rccl) {
  Lane channels = 1;
  for (const Gpu& gpu : algorithm.gpus)
    for (const ThreadBlock& block : gpu.blocks) channels = std::max(channels, block.channel + 1);
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out,
                 "<algo name=\"{}\" proto=\"{}\" nchannels=\"{}\" nchunksperloop=\"{}\" ngpus=\"{}\" coll=\"{}\" "
                 "inplace=\"{}\" outofplace=\"{}\" minBytes=\"{}\" maxBytes=\"{}\">\n",
                 plain(algorithm.name), plain(algorithm.protocol), channels, algorithm.chunks, algorithm.gpus.size(),
                 name_of(algorithm.collective, rccl), algorithm.in_place ? 1 : 0, algorithm.out_of_place ? 1 : 0,
                 algorithm.min_bytes, algorithm.max_bytes);
  std::size_t rank = 0;
  for (const Gpu& gpu : algorithm.gpus) {
    fmt::format_to(out, "  <gpu id=\"{}\" i_chunks=\"{}\" o_chunks=\"{}\" s_chunks=\"{}\">\n", rank++, gpu.input,
                   gpu.output, gpu.scratch);
    const Awaited awaited = awaited_steps(gpu);
    std::int32_t id = 0;
    for (const ThreadBlock& block : gpu.blocks) {
      fmt::format_to(out, "    <tb id=\"{}\" send=\"{}\" recv=\"{}\" chan=\"{}\">\n", id, block.send, block.recv,
                     block.channel);
      for (std::size_t i = 0; i < block.steps.size(); ++i)
        print_step(out, block.steps[i], i, awaited.contains({id, static_cast<std::int32_t>(i)}));
      text += "    </tb>\n";
      ++id;
    }
    text += "  </gpu>\n";
  }
  return text + "</algo>\n";
}

}  // namespace msccl

std::string msccl_xml(const Schedule& schedule, const MscclOptions& options, MscclSize* size) {
  const Verdict verdict = verify(schedule);
  if (!verdict.valid())
    throw Error(
        fmt::format("{} is not valid and cannot be written: {}", schedule.name, to_string(verdict.violations.front())));
  const bool in_place = options.in_place.value_or(verdict.in_place);
  msccl::Algorithm algorithm = in_blocks(schedule, msccl::Grouping::few_blocks, in_place);
  if (needs_buffers(algorithm)) algorithm = in_blocks(schedule, msccl::Grouping::apart, in_place);
  algorithm.protocol = options.protocol;
  algorithm.out_of_place = options.out_of_place;
  algorithm.min_bytes = options.min_bytes;
  algorithm.max_bytes = options.max_bytes;
  if (size != nullptr) {
    for (const msccl::Gpu& gpu : algorithm.gpus) {
      size->thread_blocks = std::max(size->thread_blocks, gpu.blocks.size());
      for (const msccl::ThreadBlock& block : gpu.blocks) {
        size->steps = std::max(size->steps, block.steps.size());
        size->channels = std::max(size->channels, static_cast<std::size_t>(block.channel) + 1);
      }
    }
  }
  return printed(algorithm, options.rccl);
}

}  // namespace colltopo
