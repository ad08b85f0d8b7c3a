// The hook update-application-profile: tells the graphics libraries which GPUs the container has.
// spec/container-toolkit.md §6, vectors 35 and 52.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/container_root.h"

namespace pawl::host {

// One bit a minor. Minors of 64 and more do not fit and are returned in `dropped`.
uint64_t MinorMask(const std::vector<uint64_t>& minors, std::vector<uint64_t>& dropped);

std::string ApplicationProfile(uint64_t mask);

// Reads the minors of the character devices /dev/nvidiaN in the container; none is no work.
Status UpdateApplicationProfile(const ContainerRoot& root);

}  // namespace pawl::host
