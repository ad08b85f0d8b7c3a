// The question (spec/compat.md §2): any subset of a machine, a workload and a wish. What is absent
// only takes checks away.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace pawl::compat {

struct FrameworkWish {
  std::string name;          // pytorch, tensorflow, jax, onnxruntime, vllm, ollama, …
  std::string version;       // empty: the newest that runs
  std::string cuda_variant;  // "12.4"; empty: any
  std::string variant;       // cuda13 of JAX; empty: any
};

// What became of building a driver's modules here before (§4.1, the strongest evidence).
struct BuildRecord {
  std::string version, flavour, kernel;
  bool built = false;
};

struct Input {
  std::vector<std::string> gpus;        // PCI ids (1EB8, 10de:1eb8) or product names
  std::string os_id, os_version;        // as in os-release
  std::string kernel, kernel_build;     // uname -r, uname -v
  std::string compiler;                 // what would build the modules: "gcc-12"
  std::string module_flavour = "auto";  // auto, open, proprietary
  std::string driver;  // a version (check it), a branch (choose within it), or empty
  std::string cuda;    // 12.4, 12.4.1
  std::optional<FrameworkWish> framework;
  std::string image;                  // a container image that brings its own CUDA
  std::string policy = "production";  // production, ltsb, pb, latest
  std::string mode = "container";     // container, precompiled, host_packages
  bool forward_compat = true;         // the workload may use cuda-compat
  bool ngc_ready = false;  // the administrator says that workstation boards are NGC-ready
  bool needs_ptx_jit = false;
  std::string mig = "none";  // none, mixed_with_full_gpus
  bool secure_boot = false;  // enforced: modules must carry a signature that the machine trusts
  std::string platform = "x86_64";                                  // or aarch64
  std::optional<std::map<std::string, std::string>> kernel_config;  // CONFIG_…: y, m or absent
  std::vector<BuildRecord> build_records;
  std::string today;  // 2026-12-01; empty: nothing is past its end of life unless it says "ended"
};

// From an object with the field names of §2. `os` is {id, version} or "ubuntu22.04"; `framework`
// is {name, version, cuda_variant, variant} or "torch==2.5.1+cu124". kInvalid names the field;
// a field that nobody knows is an error too, so that a slip does not take a check away unseen.
Result<Input> ParseInput(const json::value& value);

// "ubuntu22.04", "ubuntu 22.04", "ubuntu:22.04", "rhel9.6" → id and version.
Status SetOs(std::string_view text, Input& input);

// "torch==2.5.1+cu124", "jax[cuda13]", "tensorflow 2.18" → a wish.
Result<FrameworkWish> ParseFramework(std::string_view text);

// "124" and "12.4" → "12.4"; empty where it is neither.
std::string CudaVariant(std::string_view text);

// "lts" and "ltsb" → "ltsb"; nothing for a word that is no policy.
std::optional<std::string> ParsePolicy(std::string_view text);

}  // namespace pawl::compat
