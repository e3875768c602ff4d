// What the core has to reach: cases, the figure of each that counts, and its mark.
#pragma once

#include <string>
#include <vector>

#include "case.h"

namespace colltopo::bench {

/// Which number of a case's figures is held against its mark.
enum class Reading {
  us,           // of the call
  beyond_same,  // of us, what the same call does not take again
  ratio,
  held,  // bytes
  peak   // bytes
};

struct Mark {
  std::string row;  // what it is called in tables; rows of one name are variants of one thing
  Case one;
  Reading reading = Reading::us;
  double most = Figures::k_none;  // in the reading's unit; not a number: the figure is only to be known
};

const char* unit_of(Reading reading);  // "us", "times", "bytes"
double read(Reading reading, const Figures& figures);

/// All of them; those of a reduction's schedule file only where `schedule`, its path, is not empty.
std::vector<Mark> marks(const std::string& schedule);

}  // namespace colltopo::bench
