#include "agent/state_file.h"

#include <fcntl.h>
#include <sys/file.h>

#include "base/text.h"

namespace pawl::agent {

std::string StateFilePath(const std::string& run_dir) { return run_dir + "/pawl/state.json"; }
std::string LockFilePath(const std::string& run_dir) { return run_dir + "/pawl/agent.lock"; }

Result<Written> WriteState(const std::string& run_dir, const AgentState& state) {
  json::object object;
  object["version"] = 1;
  object["node"] = state.node_name;
  object["bootId"] = state.boot_id;
  object["updated"] = state.updated;
  object["wasReady"] = state.was_ready;
  object["chain"] = ToJsonValue(state.chain);
  object["gpus"] = ToJsonValue(state.snapshot);
  return WriteFileAtomic(StateFilePath(run_dir), ToJson(object) + "\n");
}

Result<AgentState> ReadState(const std::string& run_dir) {
  const std::string path = StateFilePath(run_dir);
  const Result<std::string> text = ReadFile(path);
  if (!text) return Fail(text.error());
  const Result<json::value> value = ParseJson(*text);
  if (!value) return Fail(value.error().With(path));
  AgentState state;
  state.node_name = TextAt(*value, {"node"});
  state.boot_id = TextAt(*value, {"bootId"});
  state.updated = TextAt(*value, {"updated"});
  const json::value* was_ready = Find(*value, "wasReady");
  state.was_ready = was_ready != nullptr && was_ready->is_bool() && was_ready->get_bool();
  const json::value* chain = Find(*value, "chain");
  const json::value* gpus = Find(*value, "gpus");
  if (chain == nullptr || gpus == nullptr) {
    return Fail(ErrorKind::kInvalid, path + ": expected the members chain and gpus");
  }
  Result<Chain> parsed_chain = ChainFromJson(*chain);
  if (!parsed_chain) return Fail(parsed_chain.error().With(path));
  Result<gpu::Snapshot> snapshot = gpu::SnapshotFromJson(*gpus);
  if (!snapshot) return Fail(snapshot.error().With(path));
  state.chain = *std::move(parsed_chain);
  state.snapshot = *std::move(snapshot);
  return state;
}

std::string BootId(const std::string& host_root) {
  const Result<std::string> text = ReadFile(Under(host_root, "/proc/sys/kernel/random/boot_id"));
  return text ? std::string(Trim(*text)) : std::string();
}

Result<FileDescriptor> TakeAgentLock(const std::string& run_dir) {
  if (Status made = MakeFolders(run_dir + "/pawl"); !made) return Fail(made.error());
  const std::string path = LockFilePath(run_dir);
  constexpr mode_t kMode = 0644;
  FileDescriptor file(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, kMode));
  if (!file.valid()) return Fail(Error::FromErrno("opening " + path));
  if (flock(file.get(), LOCK_EX | LOCK_NB) == 0) return file;
  if (errno == EWOULDBLOCK) {
    return Fail(ErrorKind::kUnavailable, path + " is held by another agent on this node");
  }
  return Fail(Error::FromErrno("locking " + path));
}

bool AgentIsAlive(const std::string& run_dir) {
  const FileDescriptor file(open(LockFilePath(run_dir).c_str(), O_RDONLY | O_CLOEXEC));
  return file.valid() && flock(file.get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

}  // namespace pawl::agent
