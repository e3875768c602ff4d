#include "comm/decisions.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "base/file_lock.h"
#include "base/lines.h"
#include "base/read_file.h"
#include "colltopo/error.h"
#include "comm/agreement.h"

namespace colltopo {

namespace {

constexpr const char* k_header = "colltopo-decisions 1";
constexpr const char* k_columns = "# collective from to operation previous winner, then contestants with seconds";
constexpr std::string_view k_communicator = "communicator ";
constexpr std::size_t k_most_kinds = 1024;  // in a process: many short-lived shapes

std::string outcome_line(const Outcome& outcome) {
  const DecisionKey& key = outcome.key;
  std::string line = fmt::format("{} {} {} {} {} {}", name(key.collective), key.from, key.to, key.operation,
                                 key.previous.empty() ? "-" : key.previous, outcome.winner);
  for (const Outcome::Time& time : outcome.times) line += fmt::format(" {} {:.4g}", time.name, time.seconds);
  return line;
}

}  // namespace

const Outcome* Decisions::find(const DecisionKey& key) const {
  const auto found = places_.find(key);
  return found == places_.end() ? nullptr : &all_[found->second];
}

void Decisions::add(Outcome outcome) {
  const auto [place, is_new] = places_.emplace(outcome.key, all_.size());
  if (is_new)
    all_.push_back(std::move(outcome));
  else
    all_[place->second] = std::move(outcome);
}

void Decisions::add(const Decisions& others) {
  for (const Outcome& outcome : others.all_) add(outcome);
}

std::string Decisions::text() const {
  std::string text;
  for (const Outcome& outcome : all_) text += outcome_line(outcome) + '\n';
  return text;
}

Outcome Decisions::outcome_from(const std::string& line, const std::string& place) {
  std::istringstream words(line);
  Outcome outcome;
  std::string collective;
  DecisionKey& key = outcome.key;
  if (!(words >> collective >> key.from >> key.to >> key.operation >> key.previous >> outcome.winner) ||
      !call_named(collective) || key.from >= key.to)
    throw Error(fmt::format("{}: {} is no decision; expected COLLECTIVE FROM TO OPERATION PREVIOUS WINNER and times",
                            place, in_quotes(line)));
  key.collective = *call_named(collective);
  if (key.previous == "-") key.previous.clear();
  if (outcome.winner != k_by_schedules) static_cast<void>(forced_from(place, key.collective, outcome.winner));
  for (Outcome::Time time; words >> time.name >> time.seconds;) outcome.times.push_back(time);
  return outcome;
}

DecisionFile DecisionFile::parse(const std::string& text, const std::string& path) {
  DecisionFile file;
  std::istringstream lines(text);
  std::string line;
  Decisions* of_kind = nullptr;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string place = fmt::format("{}:{}", path, number);
    if (number == 1) {
      if (line != k_header)
        throw Error(fmt::format("{}: {}; expected '{}' of a file of decisions", place, in_quotes(line), k_header));
    } else if (line.starts_with(k_communicator)) {
      of_kind = &file.of_kind_[line.substr(k_communicator.size())];
    } else if (!line.empty() && line[0] != '#') {
      if (of_kind == nullptr) of_kind = &file.of_kind_[""];
      of_kind->add(Decisions::outcome_from(line, place));
    }
  }
  return file;
}

DecisionFile DecisionFile::read(const std::string& path) {
  const std::string text = read_file_if_there(path, k_decisions_file).value_or("");
  return text.empty() ? DecisionFile() : parse(text, path);
}

// Line by line, for what others wrote between, comments among it, stays.
std::string DecisionFile::with(const std::string& before, const std::string& kind, const Decisions& decisions) {
  std::vector<bool> placed(decisions.all().size(), false);
  const auto take_lines = [&] {
    std::string lines;
    for (std::size_t i = 0; i < placed.size(); ++i)
      if (!placed[i]) lines += outcome_line(decisions.all()[i]) + '\n';
    placed.assign(placed.size(), true);
    return lines;
  };
  std::string text;
  bool of_kind = false;
  std::istringstream lines(before);
  for (std::string line; std::getline(lines, line); text += line + '\n') {
    if (line.starts_with(k_communicator)) {
      if (of_kind) text += take_lines();
      of_kind = line.substr(k_communicator.size()) == kind;
    } else if (of_kind && !line.empty() && line[0] != '#' && text.find('\n') != std::string::npos) {
      const Outcome* const found = decisions.find(Decisions::outcome_from(line, "").key);
      if (found == nullptr) continue;
      line = outcome_line(*found);  // of two that a file has, the later one counts
      placed[static_cast<std::size_t>(found - decisions.all().data())] = true;
    }
  }
  const bool is_all = std::ranges::find(placed, false) == placed.end();
  if (!is_all && !of_kind) text += fmt::format("{}{}\n", k_communicator, kind);
  return text + take_lines();
}

void DecisionFile::add(const std::string& path, const std::string& kind, const Decisions& decisions) {
  try {
    change_file(path, k_decisions_file, [&](const std::string& before) {
      if (before.empty()) return with(fmt::format("{}\n{}\n", k_header, k_columns), kind, decisions);
      static_cast<void>(parse(before, path));  // what is no file of decisions is not written to
      return with(before, kind, decisions);
    });
  } catch (const Error& error) {
    throw Error(fmt::format("{}; what was decided is lost", error.what()));
  }
}

const Decisions* DecisionFile::find(const std::string& kind) const {
  const auto found = of_kind_.find(kind);
  return found == of_kind_.end() ? nullptr : &found->second;
}

DecisionBook& DecisionBook::of_process() {
  static auto* const book = new DecisionBook;  // communicators may end after other static objects
  return *book;
}

Decisions DecisionBook::known(const std::string& path, const std::string& kind) {
  const std::lock_guard lock(mutex_);
  Decisions all;
  if (!path.empty()) {
    const auto read = files_.find(path);
    const DecisionFile& file =
        read != files_.end() ? read->second : files_.emplace(path, DecisionFile::read(path)).first->second;
    if (const Decisions* const found = file.find(kind)) all = *found;
  }
  if (const auto made = made_.find({path, kind}); made != made_.end()) all.add(made->second);
  return all;
}

void DecisionBook::add(const std::string& path, const std::string& kind, const Outcome& outcome) {
  const std::lock_guard lock(mutex_);
  if (made_.size() >= k_most_kinds) made_.clear();
  made_[{path, kind}].add(outcome);
}

void DecisionBook::forget_added(const std::string& path, const std::string& kind) {
  const std::lock_guard lock(mutex_);
  made_.erase({path, kind});
}

std::string kind_of_communicator(const std::vector<int>& node_of, const std::string& settings, long long network) {
  // What does not change which program a name stands for, or how it runs.
  static const std::set<std::string, std::less<>> k_of_no_matter = {"choice", "trial_after", "decisions", "verbose",
                                                                    "watch"};
  std::string matter;
  for (std::string_view rest = settings; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    if (!k_of_no_matter.contains(line.substr(0, line.find('=')))) (matter += line) += '\n';
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
  }
  const Rank nodes = grouped(node_of)->groups();
  return fmt::format("{} ranks, {} nodes, placement {:x}, settings {:x}", node_of.size(), nodes,
                     checksum_of(std::span<const int>(node_of)), checksum_of(std::string_view(matter)) ^ network);
}

}  // namespace colltopo
