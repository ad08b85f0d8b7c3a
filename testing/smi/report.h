// What nvidia-smi prints about GPUs, asked of NVML while it prints.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "testing/nvml/nvml_abi.h"
#include "testing/smi/options.h"

namespace pawl::smi {

std::string DriverVersion();
std::string CudaVersion();  // "12.4"
std::string NvmlVersion();  // "550.163"

// The default view.
std::string RenderTable(const std::vector<nvmlDevice_t>& devices);

// "GPU 0: Tesla T4 (UUID: GPU-…)", a line a GPU.
std::string RenderList(const std::vector<nvmlDevice_t>& devices);

// The first of the fields that there is not.
std::optional<std::string> UnknownField(const std::vector<std::string>& fields);

// Comma separated: a line of names, then a line a GPU. What NVML does not answer is "[N/A]", after
// a lost GPU
// "[GPU is lost]".
std::string RenderQuery(const std::vector<nvmlDevice_t>& devices, const Options& options);

}  // namespace pawl::smi
