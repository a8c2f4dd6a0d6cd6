// Torch's headers for all of this layer, but for c10d's (process_group.cpp and its backends); precompiled. Tensors and
// autograd are enough: torch/torch.h would bring a 600 MB precompiled header that costs every file six seconds more.
#pragma once

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <ATen/autocast_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/variable.h>
#include <torch/version.h>

// For the few calls that differ between releases.
#define EUREKA_TORCH_AT_LEAST(major, minor) \
  (TORCH_VERSION_MAJOR > (major) || (TORCH_VERSION_MAJOR == (major) && TORCH_VERSION_MINOR >= (minor)))
