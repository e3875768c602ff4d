#include "comm/decisions.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <sstream>

#include "colltopo/error.h"
#include "comm/agreement.h"

namespace colltopo {

namespace {

constexpr const char* k_header = "colltopo-decisions 1";
constexpr std::string_view k_communicator = "communicator ";
constexpr std::size_t k_most_kinds = 1024;  // in a process: many short-lived shapes

// An open file under a lock.
class LockedFile {
 public:
  LockedFile(const std::string& path, int flags, int lock) : descriptor_(open(path.c_str(), flags | O_CLOEXEC, 0644)) {
    if (descriptor_ >= 0) flock(descriptor_, lock);  // a file system without locks is used without
  }
  ~LockedFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  LockedFile(const LockedFile&) = delete;
  LockedFile& operator=(const LockedFile&) = delete;

  bool good() const { return descriptor_ >= 0; }
  std::string text() const {
    std::string text;
    char part[4096];
    for (ssize_t got = 0; (got = pread(descriptor_, part, sizeof part, static_cast<off_t>(text.size()))) > 0;)
      text.append(part, static_cast<std::size_t>(got));
    return text;
  }
  bool replace(const std::string& text) const {
    for (std::size_t done = 0; done < text.size();) {
      const ssize_t put = pwrite(descriptor_, text.data() + done, text.size() - done, static_cast<off_t>(done));
      if (put <= 0) return false;
      done += static_cast<std::size_t>(put);
    }
    return ftruncate(descriptor_, static_cast<off_t>(text.size())) == 0;
  }

 private:
  int descriptor_;
};

std::string outcome_line(const Outcome& outcome) {
  const DecisionKey& key = outcome.key;
  std::string line = fmt::format("{} {} {} {} {} {}", name(key.collective), key.from, key.to, key.operation,
                                 key.previous.empty() ? "-" : key.previous, outcome.winner);
  for (const Outcome::Time& time : outcome.times) line += fmt::format(" {} {:.4g}", time.name, time.seconds);
  return line;
}

}  // namespace

const Outcome* Decisions::find(const DecisionKey& key) const {
  const auto found = std::ranges::find(all_, key, &Outcome::key);
  return found == all_.end() ? nullptr : &*found;
}

void Decisions::add(Outcome outcome) {
  const auto found = std::ranges::find(all_, outcome.key, &Outcome::key);
  if (found == all_.end())
    all_.push_back(std::move(outcome));
  else
    *found = std::move(outcome);
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
    throw Error(fmt::format("{}: '{}' is no decision; expected COLLECTIVE FROM TO OPERATION PREVIOUS WINNER and times",
                            place, line));
  key.collective = *call_named(collective);
  if (key.previous == "-") key.previous.clear();
  if (outcome.winner != k_by_schedules) static_cast<void>(forced_from(place, key.collective, outcome.winner));
  for (Outcome::Time time; words >> time.name >> time.seconds;) outcome.times.push_back(time);
  return outcome;
}

DecisionFile DecisionFile::parse(const std::string& text, const std::string& path) {
  DecisionFile file;
  std::istringstream lines(text);
  std::string line, kind;
  for (int number = 1; std::getline(lines, line); ++number) {
    const std::string place = fmt::format("{}:{}", path, number);
    if (number == 1) {
      if (line != k_header)
        throw Error(fmt::format("{}: '{}'; expected '{}' of a file of decisions", place, line.substr(0, 40), k_header));
    } else if (line.starts_with(k_communicator)) {
      kind = line.substr(k_communicator.size());
    } else if (!line.empty() && line[0] != '#') {
      file.of_kind_[kind].add(Decisions::outcome_from(line, place));
    }
  }
  return file;
}

std::string DecisionFile::text() const {
  std::string text =
      fmt::format("{}\n# collective from to operation previous winner, then contestants with seconds\n", k_header);
  for (const auto& [kind, decisions] : of_kind_)
    text += fmt::format("{}{}\n{}", k_communicator, kind, decisions.text());
  return text;
}

DecisionFile DecisionFile::read(const std::string& path) {
  const LockedFile file(path, O_RDONLY, LOCK_SH);
  if (!file.good()) {
    if (errno == ENOENT) return {};
    throw Error(fmt::format("{}: cannot be read ({}); must be a file of decisions", path, std::strerror(errno)));
  }
  return parse(file.text(), path);
}

void DecisionFile::add(const std::string& path, const std::string& kind, const Decisions& decisions) {
  const LockedFile file(path, O_RDWR | O_CREAT, LOCK_EX);
  if (!file.good())
    throw Error(fmt::format("{}: cannot be written ({}); what was decided is lost", path, std::strerror(errno)));
  const std::string before = file.text();
  DecisionFile all = before.empty() ? DecisionFile() : parse(before, path);
  all.of_kind_[kind].add(decisions);
  if (!file.replace(all.text()))
    throw Error(fmt::format("{}: cannot be written ({}); what was decided is lost", path, std::strerror(errno)));
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
  std::istringstream lines(settings);
  for (std::string line; std::getline(lines, line);)
    if (!k_of_no_matter.contains(line.substr(0, line.find('=')))) matter += line + '\n';
  const Rank nodes = grouped(node_of)->groups();
  return fmt::format("{} ranks, {} nodes, placement {:x}, settings {:x}", node_of.size(), nodes,
                     checksum_of(std::span<const int>(node_of)), checksum_of(std::string_view(matter)) ^ network);
}

}  // namespace colltopo
