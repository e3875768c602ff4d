// An MSCCL algorithm as its XML says it.
//
// A GPU runs its thread blocks at the same time and each one's steps in order. A thread block has at most one peer to
// send to and one to receive from; the k-th message of a GPU to another on a channel meets the k-th that the other
// receives from it on that channel. Sends are buffered. A step may wait for one step of another thread block of its
// GPU; where it must wait for more, `nop` steps before it do.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "colltopo/shape.h"

namespace colltopo::msccl {

enum class StepType : std::uint8_t {
  nop,
  send,
  recv,
  copy,
  reduce,                // target = target (op) source
  recv_copy_send,        // target = message; send target
  recv_reduce_send,      // send source (op) message, which is stored nowhere
  recv_reduce_copy,      // target = source (op) message
  recv_reduce_copy_send  // the same; send target
};
constexpr bool sends(StepType type) {
  return type == StepType::send || type == StepType::recv_copy_send || type == StepType::recv_reduce_send ||
         type == StepType::recv_reduce_copy_send;
}
constexpr bool receives(StepType type) { return type >= StepType::recv_copy_send || type == StepType::recv; }
constexpr bool reduces(StepType type) { return type == StepType::reduce || type >= StepType::recv_reduce_send; }
/// Whether the step uses what its source, or its target, names on its own GPU.
constexpr bool reads_source(StepType type) { return type == StepType::send || type == StepType::copy || reduces(type); }
constexpr bool writes_target(StepType type) {
  return type != StepType::nop && type != StepType::send && type != StepType::recv_reduce_send;
}

/// The collectives that the runtimes have, and what they call them.
struct NamedCollective {
  Collective collective;
  std::string_view name, in_rccl;
};
inline constexpr std::array<NamedCollective, 6> k_named_collectives = {
    {{Collective::alltoall, "alltoall", "alltoall"},
     {Collective::allgather, "allgather", "allgather"},
     {Collective::reduce_scatter, "reduce_scatter", "reducescatter"},
     {Collective::allreduce, "allreduce", "allreduce"},
     {Collective::bcast, "broadcast", "broadcast"},
     {Collective::reduce, "reduce", "reduce"}}};

/// By the letters of the XML.
enum class Memory : std::uint8_t { input, output, scratch };

struct Place {
  Memory memory = Memory::input;
  Chunk first = 0;
};

struct Instruction {
  StepType type = StepType::nop;
  Place source, target;
  Chunk count = 0;
  std::int32_t awaited_block = -1;  // index of a thread block; -1: none
  std::int32_t awaited_step = -1;   // index of its step
  std::int64_t line = 0;            // of the file it was read from
};

struct ThreadBlock {
  Rank send = -1;  // -1: none
  Rank recv = -1;
  Lane channel = 0;
  std::vector<Instruction> steps;  // as the XML calls them
  std::int64_t line = 0;
};

struct Gpu {
  Chunk input = 0, output = 0, scratch = 0;
  std::vector<ThreadBlock> blocks;
};

struct Algorithm {
  std::string name;
  std::string protocol = "Simple";
  Collective collective = Collective::alltoall;
  bool in_place = false, out_of_place = true;
  std::int64_t min_bytes = 0, max_bytes = 0;
  Chunk chunks = 0;  // nchunksperloop: of the whole buffer
  std::vector<Gpu> gpus;
};

/// No more chunks than this in a step: the runtimes count them in a small table.
inline constexpr Chunk k_most_chunks_of_step = 71;

Algorithm parsed(std::string_view contents, const std::string& file);

/// As the runtimes' own parsers take it, which are no full readers of XML: no declaration, one space between
/// attributes.
std::string printed(const Algorithm& algorithm, bool rccl);

}  // namespace colltopo::msccl
