// What a call says when it refuses.
#pragma once

#include <string>

#include "colltopo/error.h"

namespace colltopo {

/// The message of the Error that `call` throws; "" when it throws none.
template <typename Call>
std::string error_from(const Call& call) {
  try {
    call();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace colltopo
