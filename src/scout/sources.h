// Reads the parts of the machine that give labels. No driver is needed for any of it.
#pragma once

#include <string>
#include <vector>

#include "scout/labels.h"

namespace pawl::scout {

// PCI functions and the operating system below `host_root`; kernel release and modules from the
// /proc below `proc_root`, which may be our own: the kernel is the same. What cannot be read is
// said in `problems`, by source.
std::vector<Source> ReadSources(const std::string& host_root, const std::string& proc_root,
                                std::vector<std::string>& problems);

}  // namespace pawl::scout
