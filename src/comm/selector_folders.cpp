// What folders of schedules decide, as far as the selector has to do with it.

#include <fmt/format.h>

#include "comm/selector.h"

namespace colltopo {

FiledSchedules::Found Selector::found_in_folders(const Request& request) {
  std::vector<FiledSchedules::Remark> remarks;
  // Where ranks do not know each other's sizes, it is the schedule for large ones, whatever the call.
  Request asked = of_schedules(request);
  if (!is_sized(request)) asked.bytes = k_any_bytes - 1;
  FiledSchedules::Found found = filed_.find(asked, agreement_, &remarks);
  if (!is_sized(request)) found.from = 0, found.to = k_any_bytes;
  for (const FiledSchedules::Remark& remark : remarks) voice_.say(remark.level, remark.line);
  return found;
}

// What a folder says is no command: where it cannot serve a call, the model decides.
std::optional<Decision> Selector::decided_by_folder(const std::string& choice, const Request& request, Kept* kept) {
  const Forced told = forced_from("rules of a folder", scheduled(request.collective), choice);
  if (told.kind == Forced::Kind::automatic) return std::nullopt;
  if (told.kind == Forced::Kind::file) return decided_by_folders_file(told.path, request);
  if (told.kind == Forced::Kind::fallback) {
    if (!request.fallback_allowed) return std::nullopt;
    say_decision(request, "fallback", "rules of a folder");
    return Decision{nullptr, nullptr, {}, "fallback"};
  }
  return decided_by_algorithm(told, "rules of a folder", request, kept);
}

std::optional<Decision> Selector::decided_by_folders_file(const std::string& path, const Request& request) {
  const Collective collective = scheduled(request.collective);
  std::string fault;
  const auto loaded =
      files_.load(path, {collective, rank_, ranks_, filed_.places().rank_at, settings_.prove}, agreement_, &fault);
  if (loaded == nullptr) {
    if (!fault.empty()) voice_.say(0, fmt::format("{}: {}; the model decides", name(request.collective), fault));
    filed_.forget(collective, "file:" + path);
    return std::nullopt;
  }
  if (const std::string unfit = unfit_for(*loaded, request); !unfit.empty()) {
    voice_.say_once(1, fmt::format("{}: {} {}; the model decides", name(request.collective), path, unfit));
    return std::nullopt;
  }
  // The same file may also be forced, with rank r in place r.
  const std::string called = "file:" + path + (filed_.places().in_order ? "" : " by host");
  say_decision(request, called, "found by topology and placement");
  return Decision{nullptr, loaded, {}, called};
}

}  // namespace colltopo
