// The hook enable-cuda-compat: where the image brings CUDA libraries that are newer than the host's
// driver and may run on it, the container's loader prefers them. Nothing is ever mounted from the
// image. spec/container-toolkit.md §6, vectors 32, 33 and 50.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "host/container_root.h"

namespace pawl::host {

struct HostCuda {
  std::string driver_version;  // "550.107.02"; empty: not known
  std::string cuda_version;    // "12.4"; empty: not known
};

// What a compat library says of where it runs: the ELF note .note.cuda.fwd_compatibility.
struct CompatNote {
  std::string cuda_version;            // "12.9"
  std::vector<int64_t> driver_majors;  // host drivers that it runs on
};

// The note's JSON. Nothing where it makes no sense.
std::optional<CompatNote> ParseCompatNote(std::string_view text);

// The note of a 64-bit little-endian ELF file; reads only what it needs, and believes no size.
std::optional<CompatNote> ReadCompatNote(int file);

// Whether a compat library of this version ("575.57.08") is to be used.
bool UseCompat(const std::string& compat_version, const std::optional<CompatNote>& note,
               const HostCuda& host);

// Writes /etc/ld.so.conf.d/00-compat-pawl.conf where the folder `compat` of the container holds
// exactly one regular libcuda.so.VERSION that is to be used; removes it otherwise.
Status EnableCudaCompat(const ContainerRoot& root, const HostCuda& host, const std::string& compat);

}  // namespace pawl::host
