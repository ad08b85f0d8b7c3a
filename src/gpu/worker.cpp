#include "gpu/worker.h"

#include <malloc.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <csignal>
#include <optional>
#include <utility>

#include "base/json.h"
#include "base/memory.h"
#include "gpu/snapshot.h"
#include "gpu/worker_events.h"

namespace pawl::gpu {
namespace {

constexpr size_t kLargestRequest = 8192;

void Send(int socket, std::string_view message) {
  // Nobody there any more: the next receive says so.
  while (send(socket, message.data(), message.size(), MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

json::object ErrorAnswer(int code, std::string_view call, std::string_view message) {
  return {{"error", {{"code", code}, {"call", call}, {"message", message}}}};
}

json::object ErrorAnswer(const NvmlError& error) {
  return ErrorAnswer(static_cast<int>(error.code), error.call, error.ToError().message());
}

json::object BadRequest(std::string_view what) {
  return ErrorAnswer(static_cast<int>(nvml::Return::kInvalidArgument), "", what);
}

json::object Ok(json::value value) {
  json::object answer;
  answer["ok"] = std::move(value);
  return answer;
}

std::optional<uint32_t> Number(const json::value& request, std::string_view key) {
  const json::value* value = Find(request, key);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  boost::system::error_code error;
  const uint32_t number = value->to_number<uint32_t>(error);
  return error ? std::nullopt : std::optional<uint32_t>(number);
}

std::optional<std::vector<uint32_t>> Indexes(const json::value& request) {
  const json::value* list = Find(request, "indexes");
  if (list == nullptr || !list->is_array()) return std::nullopt;
  std::vector<uint32_t> indexes;
  for (const json::value& item : list->get_array()) {
    boost::system::error_code error;
    indexes.push_back(item.to_number<uint32_t>(error));
    if (error) return std::nullopt;
  }
  return indexes;
}

bool Flag(const json::value& request, std::string_view key) {
  const json::value* value = Find(request, key);
  return value != nullptr && value->is_bool() && value->get_bool();
}

class Worker {
 public:
  Worker(int socket, const NvmlLoader& load, std::function<void()> settled)
      : socket_(socket), load_(load), settled_(std::move(settled)) {}

  int Serve() {
    std::string request(kLargestRequest, '\0');
    while (true) {
      const ssize_t count = recv(socket_, request.data(), request.size(), 0);
      if (count < 0 && errno == EINTR) continue;
      if (count <= 0) return count == 0 ? 0 : 1;
      const Result<json::value> parsed =
          ParseJson(std::string_view(request).substr(0, static_cast<size_t>(count)));
      const json::object answer = parsed ? Answer(*parsed) : BadRequest(parsed.error().message());
      Send(socket_, json::serialize(answer));
      if (watches_ && settled_) std::exchange(settled_, nullptr)();
    }
  }

 private:
  json::object Answer(const json::value& request) {
    const std::string what = TextAt(request, {"do"});
    if (what == "init") return Init(request);
    if (!nvml_) return BadRequest("NVML is not initialized: send init first");
    if (what == "links") return Links(request);
    if (what == "watch") return Watch(request);
    const std::optional<uint32_t> index = Number(request, "index");
    if (!index) return BadRequest("index: expected a number");
    if (what == "gpu") return OneGpu(*index);
    if (what == "probe") return Probe(*index, request);
    return BadRequest("do: expected init, gpu, links, probe or watch");
  }

  json::object Init(const json::value& request) {
    root_ = TextAt(request, {"root"}, "/");
    std::vector<std::string> candidates;
    const json::value* libraries = Find(request, "libraries");
    if (libraries != nullptr && libraries->is_array()) {
      for (const json::value& library : libraries->get_array()) {
        if (library.is_string()) candidates.emplace_back(library.get_string());
      }
    }
    Result<Nvml> loaded = load_(candidates);
    if (!loaded) {
      return ErrorAnswer(static_cast<int>(nvml::Return::kLibraryNotFound), "dlopen",
                         loaded.error().message());
    }
    nvml_.emplace(std::move(*loaded));
    events_.emplace(*nvml_, [socket = socket_](std::string_view event) { Send(socket, event); });
    // After the copy for events: only calls made for a request are announced.
    nvml_->set_on_call([socket = socket_, line = std::string()](const char* call) mutable {
      line.assign(1, '>');
      line += call;
      Send(socket, line);
    });
    const NvmlStatus started = nvml_->Init();
    if (!started) return ErrorAnswer(started.error());
    const NvmlResult<SystemVersions> versions = ReadSystem(*nvml_);
    if (!versions) return ErrorAnswer(versions.error());
    return Ok({{"driver_version", versions->driver_version},
               {"cuda_version", versions->cuda_version},
               {"count", versions->gpu_count}});
  }

  json::object OneGpu(uint32_t index) {
    const NvmlResult<std::optional<Gpu>> gpu = ReadGpu(*nvml_, index, root_);
    if (!gpu) return ErrorAnswer(gpu.error());
    return Ok(*gpu ? ToJsonValue(**gpu) : json::value(nullptr));
  }

  json::object Links(const json::value& request) {
    const std::optional<uint32_t> position = Number(request, "position");
    const std::optional<std::vector<uint32_t>> indexes = Indexes(request);
    if (!position || !indexes) return BadRequest("links: expected position and indexes");
    return Ok(ToJsonValue(ReadLinks(*nvml_, *indexes, *position)));
  }

  json::object Watch(const json::value& request) {
    std::optional<std::vector<uint32_t>> indexes = Indexes(request);
    if (!indexes) return BadRequest("watch: expected indexes");
    events_->Watch(std::move(*indexes));
    watches_ = true;
    return Ok(nullptr);
  }

  json::object Probe(uint32_t index, const json::value& request) {
    const NvmlResult<GpuProbe> probe =
        ProbeGpu(*nvml_, index, Flag(request, "mig"), Flag(request, "fabric"));
    if (!probe) return ErrorAnswer(probe.error());
    json::object found;
    if (probe->mig_enabled) found["mig_enabled"] = *probe->mig_enabled;
    if (probe->fabric) found["fabric"] = ToJsonValue(*probe->fabric);
    return Ok(std::move(found));
  }

  int socket_;
  const NvmlLoader& load_;
  std::function<void()> settled_;  // empty when it has been called
  bool watches_ = false;
  std::string root_ = "/";
  std::optional<Nvml> nvml_;
  std::optional<WorkerEvents> events_;
};

}  // namespace

int ServeNvml(int socket, const NvmlLoader& load, std::function<void()> settled) {
  return Worker(socket, load, std::move(settled)).Serve();
}

std::vector<std::string> LinkRequests(const std::vector<Gpu>& gpus) {
  json::array indexes;
  for (const Gpu& gpu : gpus) indexes.emplace_back(gpu.index);
  std::vector<std::string> requests;
  for (size_t position = 0; position + 1 < gpus.size(); ++position) {
    json::object request{{"do", "links"}, {"position", position}};
    request["indexes"] = indexes;
    requests.push_back(json::serialize(request));
  }
  return requests;
}

int RunNvmlWorker(int socket) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // the agent is killed: nobody would end us
  mallopt(M_ARENA_MAX, 1);           // the event thread needs no heap of its own
  return ServeNvml(
      socket, [](const std::vector<std::string>& candidates) { return Nvml::Load(candidates); },
      ReleaseStartupMemory);
}

}  // namespace pawl::gpu
