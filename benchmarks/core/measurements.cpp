#include "measurements.h"

#include <algorithm>
#include <array>
#include <stdexcept>

#include "resident.h"
#include "session.h"

namespace colltopo::bench {

namespace {

constexpr std::size_t k_small = 8;  // bytes of the call that comes before or after another
constexpr long k_sizes = 32;
constexpr long k_roots = 1024;
constexpr int k_dups = 32;

std::size_t number_of(const MadeUpRank::Counts& counts) { return counts.sends + counts.receives; }

Figures first_call(const Case& one) {
  Session session(one, one.bytes);
  Figures figures;
  OwnComm comm;
  figures[Figure::create_us] = us_of([&] { comm = session.comm(); });
  const colltopo_call call = session.call();
  figures[Figure::decide_us] = us_of([&] { session.serves(comm.get(), call); });
  session.world().forget_counts();
  figures.us = figures[Figure::decide_us] + us_of([&] { session.run(comm.get(), call); });
  figures[Figure::messages] = static_cast<double>(number_of(session.world().counts()));
  figures[Figure::same_us] = session.us_per_call(comm.get(), call);
  return figures;
}

Figures new_size(const Case& one) {
  constexpr std::size_t k_step = 8;
  const long sizes = one.calls > 0 ? one.calls : k_sizes;
  Session session(one, one.bytes + static_cast<std::size_t>(sizes) * k_step);
  session.touch_buffers();
  const OwnComm comm = session.comm();
  session.run(comm.get(), session.call());
  Figures figures;
  std::vector<double> decide, all, again;
  for (long i = 1; i <= sizes; ++i) {
    const colltopo_call call = session.call(one.bytes + static_cast<std::size_t>(i) * k_step, one.root);
    decide.push_back(us_of([&] { session.serves(comm.get(), call); }));
    all.push_back(decide.back() + us_of([&] { session.run(comm.get(), call); }));
    again.push_back(us_of([&] { session.run(comm.get(), call); }));
  }
  figures[Figure::worst_us] = *std::ranges::max_element(all);
  figures.us = median(std::move(all));
  figures[Figure::decide_us] = median(std::move(decide));
  figures[Figure::same_us] = median(std::move(again));
  return figures;
}

Figures new_root(const Case& one) {
  Session session(one, one.bytes);
  const OwnComm comm = session.comm();
  session.run(comm.get(), session.call());
  const long others = std::min(one.calls > 0 ? one.calls : k_roots, static_cast<long>(one.ranks) - 1);
  const auto round = [&] {
    const double us = us_of([&] {
      for (long i = 1; i <= others; ++i)
        session.run(comm.get(), session.call(one.bytes, static_cast<int>((one.root + i) % one.ranks)));
    });
    return us / static_cast<double>(std::max(others, 1L));
  };
  Figures figures;
  figures.us = round();
  figures[Figure::again_us] = round();
  figures[Figure::same_us] = session.us_per_call(comm.get(), session.call());
  return figures;
}

Figures same_size(const Case& one) {
  Session session(one, one.bytes);
  const OwnComm comm = session.comm();
  session.run(comm.get(), session.call());
  Figures figures;
  figures.us = session.us_per_call(comm.get(), session.call());
  session.world().forget_counts();
  session.run(comm.get(), session.call());
  figures[Figure::messages] = static_cast<double>(number_of(session.world().counts()));
  return figures;
}

Figures two_sizes(const Case& one) {
  Session session(one, std::max(one.bytes, one.other_bytes));
  const OwnComm comm = session.comm();
  const std::array<colltopo_call, 2> calls = {session.call(), session.call(one.other_bytes, one.root)};
  const std::array<std::span<const colltopo_call>, 3> ways = {std::span(calls).first(1), std::span(calls).last(1),
                                                              calls};
  std::array<long, 3> long_enough{};
  for (std::size_t way = 0; way < ways.size(); ++way)
    long_enough[way] = session.calls_of_a_block(comm.get(), ways[way]);
  std::vector<double> alone, in_turn, ratios;
  for (int block = 0; block < Session::k_blocks; ++block) {
    std::array<double, 3> us{};
    for (std::size_t way = 0; way < ways.size(); ++way)
      us[way] = session.us_of_block(comm.get(), ways[way], long_enough[way]);
    alone.push_back((us[0] + us[1]) / 2);
    in_turn.push_back(us[2]);
    ratios.push_back(us[2] / alone.back());
  }
  Figures figures;
  figures.us = median(std::move(in_turn));
  figures[Figure::same_us] = median(std::move(alone));
  figures[Figure::ratio] = median(std::move(ratios));
  return figures;
}

Figures poll(const Case& one) {
  Session session(one, one.bytes);
  const OwnComm comm = session.comm();
  for (int warm = 0; warm < 2; ++warm) session.run(comm.get(), session.call());
  session.world().complete(Completion::one_per_turn);
  session.run(comm.get(), session.call());
  session.world().forget_counts();
  Figures figures;
  figures.us = us_of([&] { session.run(comm.get(), session.call()); });
  const MadeUpRank::Counts& counts = session.world().counts();
  figures[Figure::tests] = static_cast<double>(counts.tests);
  figures[Figure::turns] = static_cast<double>(counts.turns);
  figures[Figure::messages] = static_cast<double>(number_of(counts));
  return figures;
}

double grown(std::size_t now, std::size_t before) { return now > before ? static_cast<double>(now - before) : 0; }

// Twice: the time where messages touch nothing, the memory where receives write what is not the user's.
Figures held(const Case& one) {
  Figures figures;
  Session session(one, std::max(one.bytes, k_small));
  const std::size_t before = resident_bytes();
  const bool peaks = begin_peak();
  const std::size_t resident_before = peak_bytes();
  session.world().write_received(true);
  OwnComm comm = session.comm();
  const colltopo_call small = session.call(k_small, one.root);
  session.run(comm.get(), small);
  const ServedBy served;  // the call, not the small ones
  session.run(comm.get(), session.call());
  served.tell(figures);
  const std::size_t with_buffers = resident_bytes();
  const std::size_t peak = peak_bytes();
  session.forget_buffers();
  const std::size_t after = resident_bytes();
  figures[Figure::memory_bytes] = static_cast<double>(colltopo_comm_memory(comm.get()));
  figures[Figure::resident_bytes] = grown(after, before);
  if (peaks) figures[Figure::peak_bytes] = grown(peak, resident_before + (with_buffers - after));
  figures.bytes = std::max(figures[Figure::memory_bytes], figures[Figure::resident_bytes]);
  session.run(comm.get(), small);
  session.forget_buffers();
  figures[Figure::later_bytes] =
      std::max(static_cast<double>(colltopo_comm_memory(comm.get())), grown(resident_bytes(), before));

  session.world().write_received(false);
  comm = session.comm();
  session.run(comm.get(), small);
  session.forget_buffers();
  figures.us = us_of([&] { session.run(comm.get(), session.call()); });
  session.forget_buffers();
  figures[Figure::same_us] = us_of([&] { session.run(comm.get(), session.call()); });
  return figures;
}

Figures dup(const Case& one) {
  Session session(one, one.bytes);
  const OwnComm first = session.comm();
  session.run(first.get(), session.call());
  const long dups = one.calls > 0 ? one.calls : k_dups;
  double create = 0, run = 0, free = 0;
  for (long i = 0; i < dups; ++i) {
    OwnComm comm;
    create += us_of([&] { comm = session.comm(); });
    run += us_of([&] { session.run(comm.get(), session.call()); });
    free += us_of([&] { comm.reset(); });
  }
  const auto count = static_cast<double>(dups);
  Figures figures;
  figures.us = (create + run + free) / count;
  figures[Figure::create_us] = create / count;
  figures[Figure::free_us] = free / count;
  return figures;
}

}  // namespace

Figures figures_of(const Case& one) {
  const ServedBy served;
  const auto of_what = [&] {
    switch (one.what) {
      case What::first_call:
        return first_call(one);
      case What::new_size:
        return new_size(one);
      case What::new_root:
        return new_root(one);
      case What::same_size:
        return same_size(one);
      case What::two_sizes:
        return two_sizes(one);
      case What::poll:
        return poll(one);
      case What::held:
        return held(one);
      case What::dup:
        return dup(one);
    }
    throw std::logic_error("no such kind of case");
  };
  Figures figures = of_what();
  if (one.what == What::held) return figures;
  served.tell(figures);
  figures.bytes = static_cast<double>(one.bytes);
  return figures;
}

}  // namespace colltopo::bench
