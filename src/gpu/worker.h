// The process `pawl nvml`: the only one that loads NVML (spec/nvml.md §8, "GSP hang"). It answers
// requests on a SOCK_SEQPACKET socket, one JSON object a message, until the other end closes. It
// keeps no state but the loaded library, so that ending it lets go of every NVIDIA handle.
//
// Requests, each with one answer {"ok": …} or {"error": {"code", "call", "message"}}:
//   {"do":"init", "libraries":[…], "root":"/host"}  → {"driver_version", "cuda_version", "count"}
//   {"do":"gpu", "index":0}                         → a GPU as model.h writes it; null: no GPU for
//   work
//   {"do":"links", "position":0, "indexes":[0,1,2]} → [{"a","b","pcie_score","nvlinks"}]
//   {"do":"probe", "index":0, "mig":true, "fabric":false} → {"mig_enabled"?, "fabric"?}
//   {"do":"watch", "indexes":[0,1]}                 → null; from then on events of these GPUs come
// Without being asked it sends
//   >nvmlDeviceGetName     before each NVML call made for a request: where it stands
//   {"event":{"index", "type", "data", "gpu_instance"?, "compute_instance"?}}
//   {"event":{"lost":true}} when NVML says that a GPU is lost, not which
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "gpu/model.h"
#include "gpu/nvml.h"

namespace pawl::gpu {

// Serves until the other end of the socket is closed. Returns the exit code of the process. The
// caller ends the process at once by _exit: destructors could wait for a thread that hangs in NVML.
int RunNvmlWorker(int socket);

// The same with another way to get at NVML, and without touching the process: for tests.
// `settled` is called once, after the first "watch": everything has been read.
using NvmlLoader = std::function<Result<Nvml>(const std::vector<std::string>& candidates)>;
int ServeNvml(int socket, const NvmlLoader& load, std::function<void()> settled = {});

// The requests "links" that read all connections between these GPUs, one for each GPU but the last.
std::vector<std::string> LinkRequests(const std::vector<Gpu>& gpus);

// The descriptor that the agent gives the worker.
inline constexpr int kNvmlWorkerSocket = 3;

}  // namespace pawl::gpu
