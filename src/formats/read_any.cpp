// Which format a schedule file has.
#include <sstream>

#include <fmt/format.h>

#include "base/lines.h"
#include "colltopo/error.h"
#include "colltopo/formats.h"
#include "colltopo/text.h"

namespace colltopo {

Schedule read_any_schedule(const std::string& contents, const std::string& name_for_errors, std::string_view format) {
  if (!format.empty() && format != "text" && format != "msccl-xml")
    throw Error(fmt::format("format {} is unknown; expected text or msccl-xml", in_quotes(format)));
  if (format == "msccl-xml" || (format.empty() && is_msccl_xml(contents)))
    return read_msccl_xml(contents, name_for_errors);
  std::istringstream in(contents);
  return read_schedule(in, name_for_errors);
}

}  // namespace colltopo
