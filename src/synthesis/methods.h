// The rows of the table of routing methods (table.cpp), one function each in the file that implements it.
#pragma once

#include "colltopo/synthesis.h"

namespace colltopo {}
