// What the kernel of the pretended machine would show: files and device nodes, as data.
//
//   proc-driver/nvidia/version, params, gpus/BUS/information    bound over /proc/driver
//   proc-devices                                                lines for /proc/devices, as "MAJOR
//   NAME" proc-modules                                                lines for /proc/modules,
//   where that exists pci/BUS/class, vendor, …                                    bound over
//   /sys/bus/pci/devices dmi/product_name                                            bound over
//   /sys/class/dmi/id, where that exists dev.list device nodes: "PATH MAJOR MINOR MODE"
//
// testing/node/dress puts them in place.
#pragma once

#include <map>
#include <string>

#include "testing/hardware/profile.h"

namespace pawl::stand_in {

// Path below the output folder → content.
std::map<std::string, std::string> RenderKernelFiles(const Profile& profile);

// "0000:1b:00.0", as sysfs and /proc/driver/nvidia/gpus name it.
std::string SysfsName(const Gpu& gpu);

}  // namespace pawl::stand_in
