// Names that users' scripts and other programs rely on (docs/names.md). Those of objects and labels
// are upstream's.
#pragma once

#include <array>
#include <string_view>

#include "kube/resource.h"

namespace pawl::op {

inline constexpr kube::Resource kClusterPolicies{"nvidia.com", "v1", "clusterpolicies",
                                                 "ClusterPolicy", false};

inline constexpr std::string_view kLeaseName = "53822513.nvidia.com";
inline constexpr std::string_view kGpuReadyCondition = "GPUReady";

// The agent: one DaemonSet that stands for the device plugin, the toolkit, feature discovery and
// the validator. It carries the name and the `app` label of the one that users look at most.
inline constexpr std::string_view kAgentName = "nvidia-device-plugin-daemonset";
inline constexpr std::string_view kAgentContainer = "nvidia-device-plugin";
inline constexpr std::string_view kAgentServiceAccount = "nvidia-device-plugin";

// Labels of nodes.
inline constexpr std::array<std::string_view, 3> kGpuPciLabels = {
    "feature.node.kubernetes.io/pci-10de.present",
    "feature.node.kubernetes.io/pci-0302_10de.present",
    "feature.node.kubernetes.io/pci-0300_10de.present"};
inline constexpr std::string_view kGpuPresent = "nvidia.com/gpu.present";
inline constexpr std::string_view kDeployPrefix = "nvidia.com/gpu.deploy.";
inline constexpr std::string_view kDeployAgent = "nvidia.com/gpu.deploy.device-plugin";
inline constexpr std::string_view kDeployOperands = "nvidia.com/gpu.deploy.operands";
inline constexpr std::string_view kMigConfig = "nvidia.com/mig.config";

// States, as a ClusterPolicy's status names them (spec/api.md §3.2).
inline constexpr std::string_view kStatePrerequisites = "pre-requisites";
inline constexpr std::string_view kStateToolkit = "state-container-toolkit";
inline constexpr std::string_view kStateValidation = "state-operator-validation";
inline constexpr std::string_view kStateDevicePlugin = "state-device-plugin";
inline constexpr std::string_view kStateFeatureDiscovery = "gpu-feature-discovery";

}  // namespace pawl::op
