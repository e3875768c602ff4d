#include "transport/ucx/context.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "base/lines.h"
#include "transport/ucx/log.h"
#include "transport/ucx/setting_names.h"

namespace colltopo::ucx {

namespace {

// Transports and devices of a context, as "tcp/eth0". UCX 1.13 tells them to people only.
std::vector<std::string> resources_of(ucp_context_h context) {
  char* text = nullptr;
  std::size_t bytes = 0;
  std::FILE* const stream = open_memstream(&text, &bytes);
  if (stream == nullptr) return {};
  ucp_context_print_info(context, stream);
  std::fclose(stream);
  std::istringstream lines(std::string(text, bytes));
  std::free(text);
  std::vector<std::string> resources;
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" resource ") == std::string::npos) continue;
    resources.push_back(line.substr(line.find_last_of(' ') + 1));
  }
  return resources;
}

bool is_tcp(const std::string& resource) { return resource.starts_with("tcp/"); }

bool is_shared_memory(const std::string& resource) {
  return std::ranges::any_of(std::initializer_list<const char*>{"posix/", "sysv/", "xpmem/"},
                             [&](const char* transport) { return resource.starts_with(transport); });
}

bool is_network(const std::string& resource) {
  return !is_shared_memory(resource) && !resource.starts_with("self/") && !resource.starts_with("cma/") &&
         !resource.starts_with("knem/");
}

// rc_verbs/mlx5_0:1, dc_mlx5/..., ud_verbs/...
bool is_infiniband(const std::string& resource) {
  return resource.starts_with("rc_") || resource.starts_with("dc_") || resource.starts_with("ud_");
}

bool is_set(const char* name) {
  const std::string variable = fmt::format("UCX_{}", name);
  return std::getenv(variable.c_str()) != nullptr || std::getenv(("COLLTOPO_" + variable).c_str()) != nullptr;
}

std::string with_what_ucx_said(std::string fault) {
  if (const std::string words = heard(); !words.empty()) fault += fmt::format(" (UCX: {})", words);
  return fault;
}

ucp_context_h initialized(const ucp_config_t* config, std::string* fault) {
  ucp_params_t parameters{};
  parameters.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_REQUEST_SIZE | UCP_PARAM_FIELD_NAME;
  parameters.features = UCP_FEATURE_TAG;
  parameters.request_size = sizeof(Mark);
  parameters.name = "colltopo";
  ucp_context_h context = nullptr;
  const ucs_status_t status = ucp_init(&parameters, config, &context);
  if (status == UCS_OK) return context;
  *fault = with_what_ucx_said(ucs_status_string(status));
  return nullptr;
}

std::string no_fabric_to_set(const std::string& name) {
  return fmt::format("UCX has no InfiniBand or RoCE device here to set {} of", name);
}

ucs_status_t modify(ucp_config_t* config, const std::string& setting, const std::string& value) {
  unsigned major = 0, minor = 0, release = 0;
  ucp_get_version(&major, &minor, &release);
  return ucp_config_modify(config, name_in_ucx(setting, major, minor).c_str(), value.c_str());
}

// UCX sets its own settings, or says that it did not and goes on; messages would then not take the lane's route.
std::string dropped(const Settings& settings) {
  const std::string said = heard_of_settings();
  for (const auto& [name, value] : settings)
    for (const char* prefix : {"", "TCP_", "IB_"})
      if (was_dropped(prefix + name, said)) return fmt::format("UCX {} takes no {}", ucp_get_version_string(), name);
  return "";
}

// Empty when the resources are what the lane asked for.
std::string missing(const Settings& settings, const std::vector<std::string>& resources) {
  for (const auto& [name, value] : settings) {
    if (name == "NET_DEVICES") {
      const bool there =
          std::ranges::any_of(resources, [&](const std::string& resource) { return resource.ends_with("/" + value); });
      if (!there) return fmt::format("UCX has no network device {} here", in_quotes(value));
    } else if (name == "PORT_RANGE") {
      if (std::ranges::none_of(resources, is_tcp)) return "UCX has no TCP device here, and ports are TCP's";
    } else if (std::ranges::none_of(resources, is_infiniband)) {
      return no_fabric_to_set(name);
    }
  }
  return std::ranges::any_of(resources, is_network) ? "" : "UCX has no network device to use here";
}

// What TCP needs and the user has not set otherwise.
Settings for_tcp(const std::vector<std::string>& resources) {
  Settings settings;
  // UCX would wait for each connection by itself, two minutes for one that gets no answer.
  if (std::ranges::any_of(resources, is_tcp) && !is_set("TCP_CONN_NB")) settings.emplace_back("CONN_NB", "y");
  // TCP's rendezvous waits for its answer behind the data of the other direction: both together get half the rate.
  const auto is_tcp_or_local = [](const std::string& resource) { return !is_network(resource) || is_tcp(resource); };
  if (std::ranges::all_of(resources, is_tcp_or_local) && !is_set("RNDV_THRESH"))
    settings.emplace_back("RNDV_THRESH", "inf");
  return settings;
}

Context context_of(ucp_config_t* config, const Settings& settings, std::string* fault) {
  Context made;
  for (const auto& [name, value] : settings) {
    const ucs_status_t status = modify(config, name, value);
    if (status == UCS_OK) continue;
    // Since 1.21 UCX refuses the settings of transports whose library is not installed.
    const bool is_of_fabric = name != "NET_DEVICES" && name != "PORT_RANGE";
    *fault = with_what_ucx_said(is_of_fabric && status == UCS_ERR_INVALID_PARAM
                                    ? no_fabric_to_set(name)
                                    : fmt::format("{}={} is refused: {}", name, value, ucs_status_string(status)));
    return made;
  }
  made.context = initialized(config, fault);
  if (made.context == nullptr) return made;
  const std::vector<std::string> resources = resources_of(made.context);
  *fault = missing(settings, resources);
  if (fault->empty()) *fault = dropped(settings);
  if (const Settings more = for_tcp(resources); fault->empty() && !more.empty()) {
    ucp_cleanup(made.context);
    for (const auto& [name, value] : more) modify(config, name, value);
    made.context = initialized(config, fault);
  }
  if (!fault->empty()) {
    *fault = with_what_ucx_said(*fault);
    if (made.context != nullptr) ucp_cleanup(made.context);
    made.context = nullptr;
  }
  made.shares_memory = std::ranges::any_of(resources, is_shared_memory);
  return made;
}

}  // namespace

Context make_context(const Settings& settings, std::string* fault) {
  ucp_config_t* config = nullptr;
  if (const ucs_status_t status = ucp_config_read("COLLTOPO", nullptr, &config); status != UCS_OK) {
    *fault = with_what_ucx_said(fmt::format("UCX's variables cannot be read: {}", ucs_status_string(status)));
    return {};
  }
  const Context made = context_of(config, settings, fault);
  ucp_config_release(config);
  return made;
}

}  // namespace colltopo::ucx
