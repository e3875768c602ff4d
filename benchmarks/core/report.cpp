#include "report.h"

#include <cstdio>
#include <iostream>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

#include "base/replace_file.h"
#include "collectives/sizes.h"

namespace colltopo::bench {

namespace {

std::string served_by(const Figures& figures) { return figures.served ? figures.algorithm.data() : "declined"; }

std::string number_text(double number) {
  if (std::isnan(number)) return "-";
  return number >= 100 ? fmt::format("{:.0f}", number) : fmt::format("{:.3g}", number);
}

// In a unit that reads well.
std::string text_of(Reading reading, double value) {
  if (std::isnan(value)) return "-";
  const std::string unit = unit_of(reading);
  if (unit == "us" && value >= 1000) return number_text(value / 1000) + " ms";
  if (unit == "bytes" && value >= 1e5) return number_text(value / 1e6) + " MB";
  return number_text(value) + " " + (unit == "bytes" ? "B" : unit);
}

std::string size_of(const Case& one) {
  const std::string size = size_text(one.bytes);
  return one.what == What::two_sizes ? size + "+" + size_text(one.other_bytes) : size;
}

nlohmann::ordered_json json_of(const Result& result) {
  const Case& one = result.asked.one;
  const auto number = [](double value) {
    return std::isnan(value) ? nlohmann::ordered_json() : nlohmann::ordered_json(value);
  };
  nlohmann::ordered_json line = {{"what", name_of(one.what)},
                                 {"collective", one.collective->name},
                                 {"ranks", one.ranks},
                                 {"us", number(result.figures.us)},
                                 {"bytes", static_cast<long long>(result.figures.bytes)},
                                 {"asked", one.algorithm},
                                 {"algorithm", served_by(result.figures)},
                                 {"served", result.figures.served},
                                 {"rank", one.rank},
                                 {"ranks_per_node", one.ranks_per_node},
                                 {"size_bytes", one.bytes}};
  if (one.what == What::two_sizes) line["other_size_bytes"] = one.other_bytes;
  if (one.collective->rooted) line["root"] = one.root;
  for (std::size_t i = 0; i < k_figures; ++i)
    if (!std::isnan(result.figures.others[i])) line[name_of(static_cast<Figure>(i))] = result.figures.others[i];
  line["load"] = result.load;
  if (result.asked.row.empty()) return line;
  line["row"] = result.asked.row;
  line["figure"] = number(read(result.asked.reading, result.figures));
  line["unit"] = unit_of(result.asked.reading);
  line["mark"] = number(result.asked.most);
  line["met"] = result.has_mark() ? nlohmann::ordered_json(result.met()) : nlohmann::ordered_json();
  return line;
}

// Quoted where a comma asks for it.
std::string field(const std::string& text) { return text.find(',') == std::string::npos ? text : '"' + text + '"'; }
std::string field(double number) { return std::isnan(number) ? "" : fmt::format("{:.6g}", number); }

}  // namespace

void print_table_head(bool marks) {
  if (marks)
    fmt::print("{:<57}{:<38}{:>11}{:>11}  {}\n", "", "collective, bytes, asked, ranks per node, by", "figure", "mark",
               "met");
  else
    fmt::print("{:<12}{:<15}{:<19}{:<19}{:>6}{:>9}{:>13}{:>11}  {}\n", "what", "collective", "asked", "served by",
               "ranks", "size", "us", "held", "further");
}

void print_table_row(bool marks, const Result& result) {
  const Case& one = result.asked.one;
  if (marks) {
    const std::string asked = one.algorithm.starts_with("file:") ? "file" : one.algorithm;
    const std::string by = one.algorithm == "auto" ? " -> " + served_by(result.figures) : "";
    const std::string variant =
        fmt::format("{} {} {}{} /{}", one.collective->name, size_of(one), asked, by, one.ranks_per_node);
    fmt::print("{:<57}{:<38}{:>11}{:>11}  {}\n", result.asked.row, variant,
               text_of(result.asked.reading, read(result.asked.reading, result.figures)),
               text_of(result.asked.reading, result.asked.most),
               !result.has_mark() ? "-"
               : result.met()     ? "yes"
                                  : "NO");
  } else {
    std::string further;
    for (std::size_t i = 0; i < k_figures; ++i)
      if (!std::isnan(result.figures.others[i]))
        further += fmt::format("{}{} {}", further.empty() ? "" : ", ", name_of(static_cast<Figure>(i)),
                               number_text(result.figures.others[i]));
    fmt::print("{:<12}{:<15}{:<19}{:<19}{:>6}{:>9}{:>13.3f}{:>11}  {}\n", name_of(one.what), one.collective->name,
               one.algorithm, served_by(result.figures), one.ranks, size_of(one), result.figures.us,
               one.what == What::held ? text_of(Reading::held, result.figures.bytes) : "-", further);
  }
  std::fflush(stdout);
}

void print_json(const std::vector<Result>& results) {
  nlohmann::ordered_json all = {{"program", "colltopo-bench-core"}, {"version", colltopo_version()}};
  all["results"] = nlohmann::ordered_json::array();
  for (const Result& result : results) all["results"].push_back(json_of(result));
  std::cout << all.dump(2) << "\n";
}

void write_csv(const std::string& file, const std::vector<Result>& results) {
  FileDraft draft(file);
  std::ostream& out = draft.out();
  fmt::print(out, "row,what,collective,asked,served_by,ranks,ranks_per_node,rank,size_bytes,other_size_bytes,us,bytes");
  for (std::size_t i = 0; i < k_figures; ++i) fmt::print(out, ",{}", name_of(static_cast<Figure>(i)));
  fmt::print(out, ",figure,unit,mark,load\n");
  for (const Result& result : results) {
    const Case& one = result.asked.one;
    const bool listed = !result.asked.row.empty();
    fmt::print(out, "{},{},{},{},{},{},{},{},{},{},{},{}", field(result.asked.row), name_of(one.what),
               one.collective->name, field(one.algorithm), served_by(result.figures), one.ranks, one.ranks_per_node,
               one.rank, one.bytes, one.what == What::two_sizes ? std::to_string(one.other_bytes) : "",
               field(result.figures.us), field(result.figures.bytes));
    for (const double other : result.figures.others) fmt::print(out, ",{}", field(other));
    fmt::print(out, ",{},{},{},{:.2f}\n", listed ? field(read(result.asked.reading, result.figures)) : "",
               listed ? unit_of(result.asked.reading) : "", field(result.asked.most), result.load);
  }
  draft.replace();
}

}  // namespace colltopo::bench
