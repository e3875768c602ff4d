// Packing, unpacking and transposing, all the same: a box of complex numbers from some strides to others.
#pragma once

#include <complex>

#include "plan.h"

namespace colltopo::fft3d {

/// Walks in tiles, so that source and target lines stay in cache even when one side is strided.
void copy_box(const BoxCopy& copy, const std::complex<double>* from, std::complex<double>* to);

}  // namespace colltopo::fft3d
