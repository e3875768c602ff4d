#include "transport/ucx/log.h"

#include <ucs/debug/log_def.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <mutex>

namespace colltopo::ucx {

namespace {

// UCX's own threads log too, and may do so while the process ends.
struct Listening {
  std::mutex mutex;
  int listeners = 0;
  std::string first;
  std::string of_settings;
};
Listening& listening() {
  static auto* const listening = new Listening;
  return *listening;
}

ucs_log_func_rc_t keep(const char*, unsigned, const char*, ucs_log_level_t level, const ucs_log_component_config_t*,
                       const char* message, std::va_list arguments) {
  if (level > UCS_LOG_LEVEL_WARN || level == UCS_LOG_LEVEL_FATAL) return UCS_LOG_FUNC_RC_CONTINUE;
  std::array<char, 400> line{};
  std::vsnprintf(line.data(), line.size(), message, arguments);
  const std::lock_guard lock(listening().mutex);
  if (listening().first.empty()) listening().first = line.data();
  if (listening().of_settings.empty() && std::strncmp(line.data(), "invalid configuration", 21) == 0)
    listening().of_settings = line.data();
  return UCS_LOG_FUNC_RC_STOP;
}

}  // namespace

void listen_begin() {
  const std::lock_guard lock(listening().mutex);
  if (listening().listeners++ > 0) return;
  listening().first.clear();
  listening().of_settings.clear();
  ucs_log_push_handler(keep);
}

std::string listen_end() {
  const std::lock_guard lock(listening().mutex);
  if (--listening().listeners == 0) ucs_log_pop_handler();
  return listening().first;
}

std::string heard() {
  const std::lock_guard lock(listening().mutex);
  return listening().first;
}

std::string heard_of_settings() {
  const std::lock_guard lock(listening().mutex);
  return listening().of_settings;
}

}  // namespace colltopo::ucx
