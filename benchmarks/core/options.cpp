#include "options.h"

#include <algorithm>
#include <charconv>
#include <iostream>
#include <stdexcept>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "collectives/sizes.h"

namespace colltopo::bench {

namespace {

constexpr const char* k_about =
    "Times the core of coll/topo alone, over its C API: one rank of a made-up communicator of any size, whose "
    "messages\n"
    "complete at once (poll: one per turn of progress). Times are of this process's processor, in microseconds.\n"
    "Without --what and the options of cases: the cases that have marks.\n"
    "BYTES is what a rank has for each other rank (alltoall), contributes (allgather), receives (reduce_scatter), or "
    "the\n"
    "whole vector (allreduce, bcast, reduce).\n"
    "Exit status: 0 good, 1 a mark is missed (--marks), 2 usage or a call that fails.";

// What is asked for, before it is multiplied into cases.
struct Asked {
  std::string whats = "all", collectives = "alltoall", algorithms = "auto", sizes = "8", ranks = "1024";
  std::string schedule;
  std::vector<std::string> settings;
  Case rest;  // what all cases share
  int rank = 1, ranks_per_node = 8;
};

std::vector<What> whats_from(const std::string& text) {
  std::vector<What> chosen;
  for (const std::string& part : parts_between_commas(text)) {
    const auto found = std::ranges::find(whats(), part, &WhatRow::name);
    if (part == "all") {
      for (const WhatRow& row : whats()) chosen.push_back(row.what);
    } else if (found != whats().end()) {
      chosen.push_back(found->what);
    } else {
      std::string known = "all";
      for (const WhatRow& row : whats()) known += fmt::format(" {}", row.name);
      throw std::invalid_argument(fmt::format("--what \"{}\" is not one of {}", part, known));
    }
  }
  return chosen;
}

std::vector<const CollectiveRow*> collectives_from(const std::string& text) {
  std::vector<const CollectiveRow*> chosen;
  for (const std::string& part : parts_between_commas(text)) {
    if (part == "all")
      for (const CollectiveRow& row : collective_rows()) chosen.push_back(&row);
    else
      chosen.push_back(&collective_named(part));
  }
  return chosen;
}

std::vector<int> ranks_from(const std::string& text) {
  std::vector<int> all;
  for (const std::string& part : parts_between_commas(text)) {
    int ranks = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), ranks);
    if (error != std::errc{} || end != part.data() + part.size() || ranks < 1)
      throw std::invalid_argument(fmt::format("--ranks \"{}\" is not a number above 0", part));
    all.push_back(ranks);
  }
  return all;
}

std::vector<Setting> settings_from(const std::vector<std::string>& texts) {
  std::vector<Setting> all;
  for (const std::string& text : texts) {
    const auto equals = text.find('=');
    if (equals == 0 || equals == std::string::npos)
      throw std::invalid_argument(fmt::format("--set \"{}\" is not name=value", text));
    all.push_back({text.substr(0, equals), text.substr(equals + 1)});
  }
  return all;
}

// New roots only of collectives that have one. Sizes in turn: each with the next, a single one with its double.
void add_cases(Case one, const std::vector<std::size_t>& sizes, std::vector<Mark>& cases) {
  if (one.what == What::new_root && !one.collective->rooted) return;
  const bool pairs = one.what == What::two_sizes;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (pairs && i + 1 == sizes.size() && i > 0) break;
    one.bytes = sizes[i];
    if (pairs) one.other_bytes = i + 1 < sizes.size() ? sizes[i + 1] : 2 * sizes[i];
    cases.push_back({"", one, Reading::us, Figures::k_none});
  }
}

std::vector<Mark> cases_of(const Asked& asked) {
  const auto sizes = sizes_from(asked.sizes);
  std::vector<Mark> cases;
  for (const What what : whats_from(asked.whats))
    for (const CollectiveRow* const collective : collectives_from(asked.collectives))
      for (const std::string& algorithm : parts_between_commas(asked.algorithms))
        for (const int ranks : ranks_from(asked.ranks)) {
          Case one = asked.rest;
          one.what = what;
          one.collective = collective;
          one.algorithm = algorithm;
          one.ranks = ranks;
          one.rank = std::min(asked.rank, ranks - 1);
          one.ranks_per_node = asked.ranks_per_node;
          one.settings = settings_from(asked.settings);
          if (one.root >= ranks)
            throw std::invalid_argument(fmt::format("--root {} is not in 0..{}", one.root, ranks - 1));
          add_cases(one, sizes, cases);
        }
  if (cases.empty()) throw std::invalid_argument("--what new-root needs a collective that has a root: bcast or reduce");
  return cases;
}

// Options that choose cases; returns them, so that the preset can exclude them.
std::vector<CLI::Option*> add_case_options(CLI::App& app, Asked& asked) {
  std::string about = "W[,W...] or all:";
  for (const WhatRow& row : whats()) about += fmt::format("\n  {}: {}", row.name, row.about);
  return {
      app.add_option("--what", asked.whats, about)->capture_default_str(),
      app.add_option("--collective", asked.collectives, "C[,C...] or all")->capture_default_str(),
      app.add_option("--algorithm", asked.algorithms, "A[,A...], as in the settings; auto: what the core chooses")
          ->capture_default_str(),
      app.add_option("--ranks", asked.ranks, "P[,P...]")->capture_default_str(),
      app.add_option("--ranks-per-node", asked.ranks_per_node, "one node's ranks come after the other's")
          ->check(CLI::Range(1, 1 << 24))
          ->capture_default_str(),
      app.add_option("--rank", asked.rank, "which of them this is; the last at most")
          ->check(CLI::Range(0, 1 << 24))
          ->capture_default_str(),
      app.add_option("--bytes", asked.sizes, "sizes, as 8,1K,4M, or doubling ranges, as 8:1M")->capture_default_str(),
      app.add_option("--root", asked.rest.root, "of bcast and reduce")
          ->check(CLI::Range(0, 1 << 24))
          ->capture_default_str(),
      app.add_option("--calls", asked.rest.calls, "new sizes, new roots or communicators; 0: 32, 1024 and 32")
          ->check(CLI::Range(0L, 1000000L))
          ->capture_default_str(),
      app.add_option("--set", asked.settings, "NAME=VALUE, a setting of coll/topo; again for more")
          ->allow_extra_args(false),
      app.add_flag("--in-place", asked.rest.in_place, "calls give MPI_IN_PLACE"),
  };
}

}  // namespace

Parsed parse(int argc, char** argv) {
  Options options;
  Asked asked;
  CLI::App app{k_about, "colltopo-bench-core"};
  const std::vector<CLI::Option*> chosen = add_case_options(app, asked);
  CLI::Option* const marks_flag =
      app.add_flag("--marks", options.marks, "the cases that have marks; status 1 if one is missed");
  app.add_option(
         "--schedule", asked.schedule,
         "with the marks: an allreduce of 512 ranks, as colltopo generate swing torus:8x8x8 -c allreduce makes it")
      ->check(CLI::ExistingFile);
  app.add_option("--repeat", options.repeats, "measurements of a case, of which the middle one counts")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_flag("--json", options.json, "one JSON object on standard output");
  app.add_option("--csv", options.csv, "also write a table into this file");
  for (CLI::Option* const option : chosen) marks_flag->excludes(option);
  try {
    app.parse(argc, argv);
    const bool preset = std::ranges::all_of(chosen, [](const CLI::Option* option) { return option->count() == 0; });
    options.cases = preset ? marks(asked.schedule) : cases_of(asked);
  } catch (const CLI::ParseError& error) {
    app.exit(error);
    return {std::nullopt, error.get_exit_code() == 0 ? 0 : 2};
  } catch (const std::invalid_argument& error) {
    std::cerr << "colltopo-bench-core: " << error.what() << "\n";
    return {std::nullopt, 2};
  }
  return {options, 0};
}

}  // namespace colltopo::bench
