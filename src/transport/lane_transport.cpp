#include "transport/lane_transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>

#include "transport/lingering.h"

namespace colltopo {

namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned k_turns_between = 16;  // of lanes that move, until MPI gets one too
constexpr std::chrono::milliseconds k_flush_patience{5000};
constexpr std::chrono::milliseconds k_flush_patience_beside{500};  // operations of others
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
    : calls_(calls),
      set_(set),
      setting_(std::move(setting)),
      place_(place),
      lent_(lent),
      waits_(place.ranks, setting_.lanes() > 1 ? place.patience_s : 0),
      operations_(lingering().operations_on(set)) {
  const auto ranks = static_cast<std::size_t>(place.ranks);
  endpoints_.resize(ranks * static_cast<std::size_t>(setting_.lanes()));
  heard_.resize(endpoints_.size());
  sent_.resize(ranks);
  received_.resize(ranks);
  const auto lanes = static_cast<std::size_t>(setting_.lanes());
  used_.resize(lanes);
  wiring_.under_way.resize(lanes);
  settling_.under_way.resize(lanes);
  lingering_.under_way.resize(lanes);
}

// Where operations of others are under way on the lanes, UCX cannot tell when what is left of this one is out: a while
// must do, and they move on what it has not been enough for, on the lanes that they use.
LaneTransport::~LaneTransport() {
  lingering().remove(*this);
  const auto begin = Clock::now();
  const auto is_patient = [&] {
    const bool alone = operations_->load(std::memory_order_acquire) <= 0;
    return Clock::now() - begin < (alone ? k_flush_patience : k_flush_patience_beside);
  };
  while ((lingers_ || !lingering_.is_over()) && is_patient() && !owes_nothing()) lent_.progress();
  abandon(wiring_);
  abandon(settling_);
  abandon(lingering_);
  // What is not heard may still come in.
  for (Trial& knock : knocks_)
    if (knock.request != nullptr) calls_.abandon(&knock.request);
  keep_knocks();
  calls_.close(set_, std::chrono::duration<double>(k_flush_patience).count());
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
  const std::size_t used = lanes_used_.load(std::memory_order_relaxed);
  const auto end = used_.begin() + static_cast<std::ptrdiff_t>(used);
  if (std::find(used_.begin(), end, lane) != end) return;
  *end = lane;
  lanes_used_.store(used + 1, std::memory_order_release);
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

std::string LaneTransport::connect(const Program& program) {
  std::string fault;
  trials_.clear();
  calls_.listen_begin();
  for (std::size_t i = 0; i < program.size(); ++i) {
    const Op op = program.op(i);
    if (op.action != Action::send && op.action != Action::recv) continue;
    const Lane lane = lane_to(op.peer, op.lane, given_up_);
    use(lane);
    if (op.action == Action::send) {
      if (endpoint(op.peer, lane) == nullptr && connect(op.peer, lane, &fault))
        trials_.push_back({true, op.peer, lane});
    } else {
      const std::size_t index = static_cast<std::size_t>(&endpoint(op.peer, lane) - endpoints_.data());
      if (!heard_[index]) trials_.push_back({false, op.peer, lane});
      heard_[index] = true;
    }
  }
  begin_trials();
  return fault;
}

void LaneTransport::begin_trials() {
  for (Trial& trial : trials_) begin(trial);
}

void LaneTransport::begin(Trial& trial) {
  const std::uint64_t tag = trial_tag(place_.number, trial.sends ? place_.rank : trial.peer, trial.lane);
  trial.failed =
      (trial.sends ? calls_.send(endpoint(trial.peer, trial.lane), &trial.word, sizeof trial.word, tag, &trial.request)
                   : calls_.recv(set_, trial.lane, &trial.word, sizeof trial.word, tag, nullptr, &trial.request)) != 0;
}

// Ends of endpoints are made on both ranks together, so every knock has somebody who listens.
void LaneTransport::knock(Lane lane) {
  for (Rank peer = 0; peer < place_.ranks; ++peer) {
    LaneEndpoint*& to = endpoint(peer, lane);
    if (to != nullptr) begin(knocks_.emplace_back(Trial{true, peer, lane}));
    if (heard_[static_cast<std::size_t>(&to - endpoints_.data())])
      begin(knocks_.emplace_back(Trial{false, peer, lane}));
  }
}

// Of knocks that may still come in: their memory must stay.
void LaneTransport::keep_knocks() {
  static auto* const mutex = new std::mutex;
  static auto* const kept = new std::list<Trial>;
  const std::lock_guard lock(*mutex);
  kept->splice(kept->end(), knocks_);
}

bool LaneTransport::is_heard(Lane lane) {
  move();
  std::erase_if(knocks_, [&](Trial& knock) {
    if (knock.lane != lane || knock.failed) return false;
    if (knock.request != nullptr && calls_.test(&knock.request) != 0) knock.failed = true;
    return knock.request == nullptr && !knock.failed;
  });
  return std::ranges::none_of(knocks_, [&](const Trial& knock) { return knock.lane == lane; });
}

Lane LaneTransport::in_place_of(Lane lane, Rank peer, LaneMask given_up) const noexcept {
  const auto is_left = [&](Lane other) { return (mask_of(other) & given_up) == 0; };
  Lane left = 0;
  for (Lane other = 0; other < setting_.lanes(); ++other) left += is_left(other) ? 1 : 0;
  Lane skip = (place_.rank + peer + lane) % std::max(left, Lane{1});
  for (Lane other = 0;; ++other)
    if (is_left(other) && skip-- == 0) return other;
}

std::string LaneTransport::reach(double time_limit_s, Transport& waits) {
  std::string fault = end_trials(true, time_limit_s, waits);
  LaneFault heard{};
  calls_.listen_end(&heard);
  if (!fault.empty() && heard.text[0] != '\0') fault += fmt::format(" (UCX: {})", heard.text);
  return fault;
}

std::string LaneTransport::hear(double time_limit_s, Transport& waits) {
  return end_trials(false, time_limit_s, waits);
}

std::string LaneTransport::end_trials(bool of_sends, double time_limit_s, Transport& waits) {
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(time_limit_s));
  for (bool pending = true; pending && Clock::now() < deadline;) {
    move_on(waits);
    pending = false;
    for (Trial& trial : trials_) {
      if (trial.request != nullptr && calls_.test(&trial.request) != 0) trial.failed = true;
      pending = pending || (trial.request != nullptr && trial.sends == of_sends);
    }
  }
  const auto is_bad = [&](const Trial& trial) {
    return trial.sends == of_sends && (trial.failed || trial.request != nullptr);
  };
  const auto bad = std::ranges::find_if(trials_, is_bad);
  return bad == trials_.end() ? "" : fault_of(*bad);
}

void LaneTransport::give_trials_up() {
  for (Trial& trial : trials_) {
    const bool is_bad = trial.failed || trial.request != nullptr;
    if (trial.request != nullptr) calls_.abandon(&trial.request);
    if (is_bad && trial.sends) calls_.condemn(endpoint(trial.peer, trial.lane));
  }
}

std::string LaneTransport::fault_of(const Trial& trial) {
  LaneFault why{};
  if (!trial.sends)
    return fmt::format("rank {} hears nothing from rank {} on lane {}", place_.rank, trial.peer, trial.lane);
  const bool known = calls_.has_failed(endpoint(trial.peer, trial.lane), &why) != 0;
  return fmt::format("rank {} does not reach rank {} on lane {}: {}", place_.rank, trial.peer, trial.lane,
                     known ? why.text : "no connection in time");
}

int LaneTransport::send_as(std::uint64_t tag, const std::byte* data, std::size_t bytes, Rank peer, Lane lane,
                           Request* request) noexcept {
  const int code = calls_.send(endpoint(peer, lane), data, bytes, tag, request);
  return code == 0 ? 0 : code_of(code);
}

int LaneTransport::recv_as(std::uint64_t tag, std::byte* data, std::size_t bytes, Rank peer, Lane lane,
                           Request* request) noexcept {
  const int code = calls_.recv(set_, lane, data, bytes, tag, endpoint(peer, lane), request);
  return code == 0 ? 0 : code_of(code);
}

int LaneTransport::send(const std::byte* data, std::size_t bytes, Rank peer, Lane lane, Request* request) noexcept {
  const std::uint32_t sequence = sent_[static_cast<std::size_t>(peer)]++;
  const std::uint64_t tag = message_tag(place_.number, place_.rank, sequence);
  return send_as(tag, data, bytes, peer, lane_to(peer, lane, given_up_), request);
}

int LaneTransport::recv(std::byte* data, std::size_t bytes, Rank peer, Lane lane, Request* request) noexcept {
  const std::uint32_t sequence = received_[static_cast<std::size_t>(peer)]++;
  const Lane ours = lane_to(peer, lane, given_up_);
  const int code = recv_as(message_tag(place_.number, peer, sequence), data, bytes, peer, ours, request);
  if (code == 0) waits_.add(*request, peer, sequence, ours, bytes);
  return code;
}

int LaneTransport::test(Request* request) noexcept {
  const Request before = *request;
  const int code = test_as(request);
  if (*request == nullptr) waits_.remove(before);
  return code;
}

bool LaneTransport::move() noexcept {
  bool moved = false;
  const std::size_t used = lanes_used_.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < used; ++i) moved = calls_.progress(set_, used_[i]) != 0 || moved;
  return moved;
}

bool LaneTransport::move_on(Transport& waits) noexcept {
  const bool moved = move();
  if (!moved || turns_.fetch_add(1, std::memory_order_relaxed) % k_turns_between == 0) waits.progress();
  return moved;
}

void LaneTransport::progress() noexcept { waits_.turn(move_on(lent_)); }

bool LaneTransport::Flush::is_over() const noexcept {
  return std::ranges::all_of(under_way, [](const Request& request) { return request == nullptr; });
}

void LaneTransport::begin(Flush& flush) noexcept {
  const std::size_t used = lanes_used_.load(std::memory_order_acquire);
  // Over lanes that are given up goes nothing but knocks, and what operations of before send: lingering()'s.
  const LaneMask skipped = &flush == &lingering_ ? 0 : given_up_;
  for (std::size_t i = 0; i < used; ++i)
    if (flush.under_way[i] == nullptr && (mask_of(used_[i]) & skipped) == 0)
      calls_.settle(set_, used_[i], &flush.under_way[i]);
}

void LaneTransport::look_at(Flush& flush) noexcept {
  for (Request& request : flush.under_way)
    if (request != nullptr) calls_.test(&request);
}

void LaneTransport::abandon(Flush& flush) noexcept {
  for (Request& request : flush.under_way)
    if (request != nullptr) calls_.abandon(&request);
}

bool LaneTransport::is_settled(double time_s, bool whole, Transport& waits) noexcept {
  return is_out(wiring_, time_s, whole, waits);
}

bool LaneTransport::is_out(Flush& flush, double time_s, bool whole, Transport& waits) noexcept {
  begin(flush);
  if (!whole && flush.is_over()) return true;
  const auto deadline =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(time_s));
  do {
    move_on(waits);
    look_at(flush);
  } while ((whole || !flush.is_over()) && Clock::now() < deadline);
  return flush.is_over();
}

// What stays under way for so long is not waited for again: it may be nobody's message. But it is moved on.
void LaneTransport::settle() noexcept {
  if (operations_->load(std::memory_order_acquire) > 0) return lingering().add(*this);
  settles_ = settles_ && is_out(settling_, k_settle_patience_s, false, lent_);
  if (!settles_) lingering().add(*this);
}

void LaneTransport::operation_ends() noexcept {
  lingering().add(*this);
  operations_->fetch_sub(1, std::memory_order_release);
}

bool LaneTransport::owes_nothing() noexcept {
  if (lingering_.is_over() && lingers_.exchange(false, std::memory_order_acq_rel)) begin(lingering_);
  move();
  look_at(lingering_);
  return lingering_.is_over() && !lingers_.load(std::memory_order_acquire);
}

}  // namespace colltopo
