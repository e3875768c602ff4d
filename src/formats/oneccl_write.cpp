// Basu et al., section 4, say of what they made oneCCL run: instructions to send, receive, reduce, copy and
// synchronise, scratch for chunks that are forwarded, sends and receives without order among them. No file of theirs is
// public, so the spelling is ours, with MSCCL's names where there are any.
//
// A rank's instructions run in order. A send or a receive is begun and goes on by itself; <sync/> waits for all that
// were begun.
#include <algorithm>
#include <iterator>
#include <limits>

#include <fmt/format.h>

#include "colltopo/error.h"
#include "colltopo/formats.h"
#include "colltopo/plan.h"
#include "colltopo/verify.h"
#include "formats/pieces.h"
#include "formats/used_slots.h"

namespace colltopo {

namespace {

class RankInstructions {
 public:
  RankInstructions(const Schedule& schedule, const std::vector<std::vector<std::int32_t>>& matches, Rank rank,
                   bool in_place)
      : schedule_(schedule),
        matches_(matches),
        plan_(schedule.programs[static_cast<std::size_t>(rank)], PlanOptions{in_place}),
        slots_(plan_.program()) {}

  std::string text() {
    const Program& program = plan_.program();
    const Shape& shape = schedule_.shape;
    fmt::format_to(out(), "  <rank id=\"{}\" i_chunks=\"{}\" o_chunks=\"{}\" s_chunks=\"{}\">\n", program.rank(),
                   shape.input_chunks(program.rank()), shape.output_chunks(program.rank()), slots_.count());
    std::vector<std::size_t> last_awaited(program.size(), 0);  // [op] one more than the last message it waits for
    std::size_t synchronised = 0;                              // ops before it have ended
    for (std::size_t i = 0; i < program.size(); ++i) {
      const Op op = program.op(i);
      if (last_awaited[i] > synchronised) {
        text_ += "    <sync/>\n";
        synchronised = i;
      }
      if (op.action == Action::send || op.action == Action::recv) {
        for (const std::uint32_t later : plan_.after_completion(i))
          last_awaited[later] = std::max(last_awaited[later], i + 1);
        add_message(op, i);
      } else {
        add_local(op);
      }
    }
    return text_ + "    <sync/>\n  </rank>\n";
  }

 private:
  std::back_insert_iterator<std::string> out() { return std::back_inserter(text_); }

  std::string named(std::string_view prefix, const Run& run) const {
    const bool scratch = run.buffer == Buffer::scratch;
    const Chunk offset = scratch ? slots_.index(run.first) : run.first;
    return fmt::format("{}buf=\"{}\" {}off=\"{}\"", prefix, name(run.buffer).front(), prefix, offset);
  }

  /// In stretches that are whole at the other end too, so that both ends count the same messages.
  void add_message(const Op& op, std::size_t index) {
    const auto rank = static_cast<std::size_t>(plan_.program().rank());
    const Op other =
        schedule_.programs[static_cast<std::size_t>(op.peer)].op(static_cast<std::size_t>(matches_[rank][index]));
    const bool sending = op.action == Action::send;
    for (const Piece& piece : pieces_of(sending ? op.source : other.source, sending ? other.target : op.target,
                                        std::numeric_limits<Chunk>::max()))
      fmt::format_to(out(), "    <{} peer=\"{}\" chan=\"{}\" {} cnt=\"{}\"/>\n", sending ? "send" : "recv", op.peer,
                     op.lane, named("", sending ? piece.source : piece.target), piece.source.count);
  }

  void add_local(const Op& op) {
    for (const Piece& piece : pieces_of(op.source, op.target, std::numeric_limits<Chunk>::max()))
      fmt::format_to(out(), "    <{} {} {} cnt=\"{}\"/>\n", name(op.action), named("src", piece.source),
                     named("dst", piece.target), piece.source.count);
  }

  const Schedule& schedule_;
  const std::vector<std::vector<std::int32_t>>& matches_;
  Plan plan_;
  UsedSlots slots_;
  std::string text_;
};

std::string escaped(std::string_view text) {
  std::string all;
  for (const char letter : text) {
    switch (letter) {
      case '<':
        all += "&lt;";
        break;
      case '>':
        all += "&gt;";
        break;
      case '&':
        all += "&amp;";
        break;
      case '"':
        all += "&quot;";
        break;
      default:
        all += letter;
    }
  }
  return all;
}

}  // namespace

std::string oneccl_xml(const Schedule& schedule) {
  const Verdict verdict = verify(schedule);
  if (!verdict.valid())
    throw Error(
        fmt::format("{} is not valid and cannot be written: {}", schedule.name, to_string(verdict.violations.front())));
  Lane channels = 1;
  for (const Program& program : schedule.programs)
    for (std::size_t i = 0; i < program.size(); ++i) channels = std::max(channels, program.op(i).lane + 1);
  const Shape& shape = schedule.shape;
  std::string text = fmt::format("<algo name=\"{}\" coll=\"{}\" nranks=\"{}\" nchunks=\"{}\" nchannels=\"{}\"{}>\n",
                                 escaped(schedule.name), name(shape.collective), shape.ranks, shape.whole(), channels,
                                 rooted(shape.collective) ? fmt::format(" root=\"{}\"", shape.root) : "");
  const auto match = matches(schedule);
  for (Rank rank = 0; rank < shape.ranks; ++rank)
    text += RankInstructions(schedule, match, rank, verdict.in_place).text();
  return text + "</algo>\n";
}

}  // namespace colltopo
