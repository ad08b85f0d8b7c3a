// What the agent knows, as a file for `pawl doctor` and for the agent's next run: in
// <run_dir>/pawl/state.json, which is gone after a reboot.
#pragma once

#include <string>

#include "agent/decide/chain.h"
#include "base/clock.h"
#include "base/files.h"
#include "base/result.h"
#include "gpu/model.h"

namespace pawl::agent {

struct AgentState {
  std::string node_name;
  std::string boot_id;     // of the kernel that this was true for
  std::string updated;     // RFC 3339
  bool was_ready = false;  // the chain was once through in this boot
  Chain chain;
  gpu::Snapshot snapshot;
};

std::string StateFilePath(const std::string& run_dir);
std::string LockFilePath(const std::string& run_dir);

Result<Written> WriteState(const std::string& run_dir, const AgentState& state);

// kNotFound without an agent's file; kInvalid for one that cannot be understood.
Result<AgentState> ReadState(const std::string& run_dir);

// The kernel's boot id, empty when it cannot be read.
std::string BootId(const std::string& host_root);

// A lock that a living agent holds, so that one node never has two and others can tell that it
// lives. kUnavailable while another process has it.
Result<FileDescriptor> TakeAgentLock(const std::string& run_dir);
bool AgentIsAlive(const std::string& run_dir);

}  // namespace pawl::agent
