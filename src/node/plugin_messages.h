// Between the plain values of device_plugin.h and the messages on the wire.
#pragma once

#include "node/device_plugin.h"
#include "node/deviceplugin.pb.h"

namespace pawl::node {

v1beta1::ListAndWatchResponse ToMessage(const std::vector<PluginDevice>& devices);
v1beta1::ContainerAllocateResponse ToMessage(const AllocateAnswer& answer);
PreferredQuestion FromMessage(const v1beta1::ContainerPreferredAllocationRequest& request);

}  // namespace pawl::node
