#include "transport/lane_transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include "transport/message_tag.h"

namespace colltopo {

namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned k_turns_between = 16;  // of lanes that move, until MPI gets one too
constexpr double k_flush_patience_s = 5;
constexpr double k_settle_patience_s = 10;

}  // namespace

// A message over an endpoint that is new to this communicator, on its way out or in.
struct LaneTransport::Trial {
  bool sends;
  Rank peer;
  Lane lane;
  Request request = nullptr;
  bool failed = false;
  std::uint64_t word = 0;
};

LaneTransport::LaneTransport(const LaneCalls& calls, LaneSet* set, LaneSetting setting, Place place, Transport& lent)
    : calls_(calls), set_(set), setting_(std::move(setting)), place_(place), lent_(lent) {
  const auto ranks = static_cast<std::size_t>(place.ranks);
  endpoints_.resize(ranks * static_cast<std::size_t>(setting_.lanes()));
  heard_.resize(endpoints_.size());
  sent_.resize(ranks);
  received_.resize(ranks);
}

LaneTransport::~LaneTransport() {
  for (Request& flush : flushes_)
    if (flush != nullptr) calls_.abandon(&flush);
  calls_.close(set_, k_flush_patience_s);
}

std::size_t LaneTransport::address_bytes() const {
  std::size_t all = 0;
  for (Lane lane = 0; lane < setting_.lanes(); ++lane) {
    std::size_t bytes = 0;
    calls_.address(set_, lane, &bytes);
    all += sizeof bytes + bytes;
  }
  return all;
}

std::vector<std::byte> LaneTransport::addresses(std::size_t block) const {
  std::vector<std::byte> all(block);
  std::byte* next = all.data();
  for (Lane lane = 0; lane < setting_.lanes(); ++lane) {
    std::size_t bytes = 0;
    const void* const address = calls_.address(set_, lane, &bytes);
    std::memcpy(next, &bytes, sizeof bytes);
    std::memcpy(next + sizeof bytes, address, bytes);
    next += sizeof bytes + bytes;
  }
  return all;
}

void LaneTransport::know(std::vector<std::byte> blocks, std::size_t block) {
  blocks_ = std::move(blocks);
  block_ = block;
}

Lane LaneTransport::unserved(const Program& program) const {
  for (std::size_t i = 0; i < program.size(); ++i) {
    const Op op = program.op(i);
    if ((op.action == Action::send || op.action == Action::recv) && setting_.serving(op.lane) < 0) return op.lane;
  }
  return -1;
}

void LaneTransport::use(Lane lane) {
  if (std::ranges::find(used_, lane) != used_.end()) return;
  used_.push_back(lane);
  flushes_.push_back(nullptr);
}

bool LaneTransport::connect(Rank peer, Lane lane, std::string* fault) {
  const std::byte* next = blocks_.data() + static_cast<std::size_t>(peer) * block_;
  std::size_t bytes = 0;
  for (Lane before = 0;; ++before) {
    std::memcpy(&bytes, next, sizeof bytes);
    next += sizeof bytes;
    if (before == lane) break;
    next += bytes;
  }
  const auto node_of = [&](Rank rank) { return (*place_.node_of)[static_cast<std::size_t>(rank)]; };
  LaneFault why{};
  endpoint(peer, lane) = calls_.connect(set_, lane, next, bytes, node_of(peer) == node_of(place_.rank) ? 1 : 0, &why);
  if (endpoint(peer, lane) != nullptr) return ++endpoints_made_, true;
  if (fault->empty())
    *fault = fmt::format("rank {} has no endpoint to rank {} on lane {}: {}", place_.rank, peer, lane, why.text);
  return false;
}

std::string LaneTransport::wire(const Program& program, double time_limit_s) {
  std::vector<Trial> trials;
  std::string fault;
  LaneFault heard{};
  calls_.listen_begin();
  for (std::size_t i = 0; i < program.size(); ++i) {
    const Op op = program.op(i);
    if (op.action != Action::send && op.action != Action::recv) continue;
    const Lane lane = setting_.serving(op.lane);
    use(lane);
    if (op.action == Action::send) {
      if (endpoint(op.peer, lane) == nullptr && connect(op.peer, lane, &fault)) trials.push_back({true, op.peer, lane});
    } else {
      const std::size_t index = static_cast<std::size_t>(&endpoint(op.peer, lane) - endpoints_.data());
      if (!heard_[index]) trials.push_back({false, op.peer, lane});
      heard_[index] = true;
    }
  }
  const std::string trial_fault = try_endpoints(trials, time_limit_s);
  calls_.listen_end(&heard);
  if (fault.empty() && !trial_fault.empty()) {
    fault = trial_fault;
    if (heard.text[0] != '\0') fault += fmt::format(" (UCX: {})", heard.text);
  }
  return fault;
}

std::string LaneTransport::try_endpoints(std::vector<Trial>& trials, double time_limit_s) {
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(time_limit_s));
  for (Trial& trial : trials) {
    const std::uint64_t tag = trial_tag(place_.number, trial.sends ? place_.rank : trial.peer, trial.lane);
    trial.failed =
        (trial.sends
             ? calls_.send(endpoint(trial.peer, trial.lane), &trial.word, sizeof trial.word, tag, &trial.request)
             : calls_.recv(set_, trial.lane, &trial.word, sizeof trial.word, tag, nullptr, &trial.request)) != 0;
  }
  for (bool pending = true; pending && Clock::now() < deadline;) {
    progress();
    pending = false;
    for (Trial& trial : trials) {
      if (trial.request != nullptr && calls_.test(&trial.request) != 0) trial.failed = true;
      pending = pending || trial.request != nullptr;
    }
  }
  std::string fault;
  bool says_send = false;
  for (Trial& trial : trials) {
    if (!trial.failed && trial.request == nullptr) continue;
    // What was not reached tells more than what was not heard.
    if (fault.empty() || (trial.sends && !says_send)) fault = fault_of(trial);
    says_send = says_send || trial.sends;
    if (trial.request != nullptr) calls_.abandon(&trial.request);
    if (trial.sends) calls_.condemn(endpoint(trial.peer, trial.lane));
  }
  return fault;
}

std::string LaneTransport::fault_of(const Trial& trial) {
  LaneFault why{};
  if (!trial.sends)
    return fmt::format("rank {} hears nothing from rank {} on lane {}", place_.rank, trial.peer, trial.lane);
  const bool known = calls_.has_failed(endpoint(trial.peer, trial.lane), &why) != 0;
  return fmt::format("rank {} does not reach rank {} on lane {}: {}", place_.rank, trial.peer, trial.lane,
                     known ? why.text : "no connection in time");
}

int LaneTransport::send(const std::byte* data, std::size_t bytes, Rank peer, Lane lane, Request* request) noexcept {
  const auto to = static_cast<std::size_t>(peer);
  const std::uint64_t tag = message_tag(place_.number, place_.rank, sent_[to]++);
  const int code = calls_.send(endpoint(peer, setting_.serving(lane)), data, bytes, tag, request);
  return code == 0 ? 0 : code_of(code);
}

int LaneTransport::recv(std::byte* data, std::size_t bytes, Rank peer, Lane lane, Request* request) noexcept {
  const std::uint64_t tag = message_tag(place_.number, peer, received_[static_cast<std::size_t>(peer)]++);
  const Lane ours = setting_.serving(lane);
  const int code = calls_.recv(set_, ours, data, bytes, tag, endpoint(peer, ours), request);
  return code == 0 ? 0 : code_of(code);
}

int LaneTransport::test(Request* request) noexcept {
  const int code = calls_.test(request);
  return code == 0 ? 0 : code_of(code);
}

void LaneTransport::progress() noexcept {
  bool moved = false;
  for (const Lane lane : used_) moved = calls_.progress(set_, lane) != 0 || moved;
  if (!moved || ++turns_ % k_turns_between == 0) lent_.progress();
}

bool LaneTransport::is_settled(double time_s, bool whole) noexcept {
  for (std::size_t i = 0; i < used_.size(); ++i)
    if (flushes_[i] == nullptr) calls_.settle(set_, used_[i], &flushes_[i]);
  const auto is_under_way = [](const Request& flush) { return flush != nullptr; };
  if (!whole && std::ranges::none_of(flushes_, is_under_way)) return true;
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(time_s));
  do {
    progress();
    for (Request& flush : flushes_)
      if (flush != nullptr) calls_.test(&flush);
  } while ((whole || std::ranges::any_of(flushes_, is_under_way)) && Clock::now() < deadline);
  return std::ranges::none_of(flushes_, is_under_way);
}

// What stays under way for so long is not waited for again: it may be nobody's message.
void LaneTransport::settle() noexcept { settles_ = settles_ && is_settled(k_settle_patience_s, false); }

}  // namespace colltopo
