// The compiled data as the linker embedded it (compat/data.cmake).
#pragma once

#include <cstdint>
#include <span>

namespace pawl::compat {

std::span<const uint32_t> BuiltInWords();

}  // namespace pawl::compat
