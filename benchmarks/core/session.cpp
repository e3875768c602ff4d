#include "session.h"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include <fmt/format.h>

namespace colltopo::bench {

namespace {

constexpr double k_block_us = 4000;
constexpr std::string_view k_calls_of = "calls_";

void set(colltopo_comm* comm, const std::string& name, const std::string& value) {
  if (colltopo_comm_set(comm, name.c_str(), value.c_str()) != COLLTOPO_SUCCESS)
    throw std::runtime_error(colltopo_last_error());
}

std::vector<unsigned long long> counter_values() {
  std::vector<unsigned long long> all;
  for (std::size_t i = 0; colltopo_counters()[i].name != nullptr; ++i) all.push_back(colltopo_counter_value(i));
  return all;
}

}  // namespace

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

Session::Session(const Case& one, std::size_t largest)
    : one_(one), world_({one.rank, one.ranks, one.ranks_per_node}), input_(whole(largest)), output_(whole(largest)) {
  world_.lend(&input_, &output_);
}

OwnComm Session::comm() {
  const colltopo_callbacks callbacks = world_.callbacks();
  OwnComm made(colltopo_comm_create(one_.rank, one_.ranks, &callbacks));
  if (!made) throw std::runtime_error(fmt::format("rank {} of {} cannot be made", one_.rank, one_.ranks));
  if (one_.algorithm != "auto") set(made.get(), fmt::format("{}_algorithm", one_.collective->name), one_.algorithm);
  for (const Setting& setting : one_.settings) set(made.get(), setting.name, setting.value);
  return made;
}

colltopo_call Session::call(std::size_t bytes, int root) const {
  colltopo_call call{};
  call.input = input_.data();
  call.output = output_.data();
  call.in_place = one_.in_place ? 1 : 0;
  call.element_size = bytes % 8 == 0 ? 8 : 1;
  call.count = bytes / call.element_size;
  call.root = root;
  call.op_properties = COLLTOPO_OP_COMMUTATIVE | COLLTOPO_OP_ASSOCIATIVE_BITS;
  call.reduce = [](void*, const void*, void*, std::size_t) { return 0; };
  return call;
}

bool Session::run(colltopo_comm* comm, const colltopo_call& call) const {
  const int code = one_.collective->call(comm, &call);
  if (code != COLLTOPO_SUCCESS && code != COLLTOPO_DECLINED)
    throw std::runtime_error(fmt::format("the call gives {} {}", code, colltopo_last_error()));
  return code == COLLTOPO_SUCCESS;
}

bool Session::serves(colltopo_comm* comm, const colltopo_call& call) const {
  return colltopo_serves(comm, one_.collective->number, &call) == 1;
}

double Session::us_of_block(colltopo_comm* comm, std::span<const colltopo_call> several, long calls) const {
  const double us = us_of([&] {
    std::size_t turn = 0;
    for (long i = 0; i < calls; ++i) {
      run(comm, several[turn]);
      if (++turn == several.size()) turn = 0;
    }
  });
  return us / static_cast<double>(calls);
}

long Session::calls_of_a_block(colltopo_comm* comm, std::span<const colltopo_call> several) const {
  auto calls = static_cast<long>(several.size());
  // Twice: a single look may have met an interruption.
  const auto us = [&] { return us_of_block(comm, several, calls) * static_cast<double>(calls); };
  while (std::min(us(), us()) < k_block_us) calls *= 2;
  return calls;
}

double Session::us_per_call(colltopo_comm* comm, const colltopo_call& call) const {
  const long calls = calls_of_a_block(comm, {&call, 1});
  std::vector<double> blocks(k_blocks);
  for (double& block : blocks) block = us_of_block(comm, {&call, 1}, calls);
  return median(std::move(blocks));
}

void Session::touch_buffers() const {
  input_.touch();
  output_.touch();
}

void Session::forget_buffers() const {
  input_.forget();
  output_.forget();
}

std::size_t Session::whole(std::size_t bytes) const {
  return one_.collective->blocks ? bytes * static_cast<std::size_t>(one_.ranks) : bytes;
}

ServedBy::ServedBy() : before_(counter_values()) {}

void ServedBy::tell(Figures& figures) const {
  const std::vector<unsigned long long> now = counter_values();
  unsigned long long most = 0;
  std::string_view algorithm;
  for (std::size_t i = 0; i < now.size(); ++i) {
    const std::string_view name = colltopo_counters()[i].name;
    if (!name.starts_with(k_calls_of) || now[i] - before_[i] <= most) continue;
    most = now[i] - before_[i];
    algorithm = name.substr(k_calls_of.size());
  }
  figures.served = most > 0;
  algorithm.copy(figures.algorithm.data(), figures.algorithm.size() - 1);
}

}  // namespace colltopo::bench
