#include "node/plugin_messages.h"

namespace pawl::node {

v1beta1::ListAndWatchResponse ToMessage(const std::vector<PluginDevice>& devices) {
  v1beta1::ListAndWatchResponse message;
  for (const PluginDevice& device : devices) {
    v1beta1::Device& entry = *message.add_devices();
    entry.set_id(device.id);
    entry.set_health(device.healthy ? "Healthy" : "Unhealthy");
    if (device.numa_node) entry.mutable_topology()->add_nodes()->set_id(*device.numa_node);
  }
  return message;
}

v1beta1::ContainerAllocateResponse ToMessage(const AllocateAnswer& answer) {
  v1beta1::ContainerAllocateResponse message;
  message.mutable_envs()->insert(answer.envs.begin(), answer.envs.end());
  message.mutable_annotations()->insert(answer.annotations.begin(), answer.annotations.end());
  for (const PluginMount& mount : answer.mounts) {
    v1beta1::Mount& entry = *message.add_mounts();
    entry.set_container_path(mount.container_path);
    entry.set_host_path(mount.host_path);
    entry.set_read_only(mount.read_only);
  }
  for (const PluginDeviceNode& node : answer.devices) {
    v1beta1::DeviceSpec& entry = *message.add_devices();
    entry.set_container_path(node.container_path);
    entry.set_host_path(node.host_path);
    entry.set_permissions(node.permissions);
  }
  for (const std::string& name : answer.cdi_devices) message.add_cdi_devices()->set_name(name);
  return message;
}

PreferredQuestion FromMessage(const v1beta1::ContainerPreferredAllocationRequest& request) {
  PreferredQuestion question;
  question.available.assign(request.available_deviceids().begin(),
                            request.available_deviceids().end());
  question.required.assign(request.must_include_deviceids().begin(),
                           request.must_include_deviceids().end());
  question.size = request.allocation_size();
  return question;
}

}  // namespace pawl::node
