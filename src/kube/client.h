// The Kubernetes client: verbs on objects as JSON values.
//
//   Result<json::value> node = co_await client.Get(kNodes, "", name);
//   if (!node && node.error().kind() == ErrorKind::kNotFound) …
//
// Arguments are used up before the call returns its Task, so they need not outlive it; the Client
// must. Every request has a deadline. 429 and 5xx answers are retried as spec/kubernetes-client.md
// §2 says, a GET also when the connection breaks, a 401 once after reading the token again; what is
// left comes back as an Error whose kind says what to do: kConflict read again and recompute,
// kNotFound, kAlreadyExists, kPermission, kInvalid the request is wrong, kUnavailable and
// kDeadlineExceeded try later (a write may have happened).
//
// Field manager and User-Agent are "pawl-<component>": one name a writer.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "base/task.h"
#include "kube/config.h"
#include "kube/resource.h"
#include "kube/status.h"
#include "kube/transport.h"

namespace pawl::kube {

class Credentials;

// How long waits between retries are. Tests pass their own, so that nothing waits.
struct Waiting {
  double pace = 1.0;               // every wait is multiplied by it
  std::function<double()> random;  // [0, 1); empty: a seeded generator of the client's own
};

struct ClientOptions {
  std::string component;            // "operator", "agent", "scout"
  std::string version;              // of pawl
  Duration request_deadline = 30s;  // each try, from connecting to the last byte
  Duration retry_window = 60s;      // no retry begins later than this after the first try
  Waiting waiting;
};

// Unknown and duplicate fields of a body: dropped, dropped with a warning in the log, refused.
enum class FieldValidation { kIgnore, kWarn, kStrict };

// Not aggregates on purpose (GCC 12 and co_await): name one, set its members, pass it.
struct CallOptions {
  CallOptions() = default;
  Duration deadline{};  // of each try; zero: the client's
  bool retry = true;    // false: one try, for those who keep their own time
};

struct WriteOptions : CallOptions {
  WriteOptions() = default;
  std::string subresource;  // "status"
  bool dry_run = false;     // everything but the storing
  bool force = true;        // Apply only: take fields that others own
  FieldValidation validation = FieldValidation::kWarn;
};

struct DeleteOptions : CallOptions {
  DeleteOptions() = default;
  std::string uid;  // only the object with this uid, else kConflict
  std::string resource_version;
  std::string propagation;  // "Background", "Foreground", "Orphan"; empty: the type's default
  int grace_seconds = -1;   // -1: the object's own
  bool dry_run = false;
};

struct ListOptions : CallOptions {
  ListOptions() = default;
  std::string label_selector;
  std::string field_selector;
  std::string resource_version;  // with not_older_than: at least this; empty: the newest
  bool metadata_only = false;    // PartialObjectMetadata
  size_t page = 500;             // 0: not paged
};

enum class PatchType { kMerge, kJson, kStrategic };

class Client {
 public:
  static Result<std::unique_ptr<Client>> Create(const Executor& executor,
                                                const ClientConfig& config, ClientOptions options);
  ~Client();

  using Object = Result<json::value>;

  Task<Object> Get(const Resource& resource, std::string_view ns, std::string_view name,
                   const CallOptions& options = CallOptions());

  // All objects, page by page. Empty `ns`: all namespaces.
  Task<Result<std::vector<json::value>>> List(const Resource& resource, std::string_view ns,
                                              const ListOptions& options = ListOptions());

  // As List, but hands over each object as it arrives and keeps none; the value is valid during the
  // call. Returns the list's resourceVersion. A failure may come after some objects.
  using Visit = std::function<void(const json::value& object)>;
  struct Listed;
  Task<Listed> ListEach(const Resource& resource, std::string_view ns, const ListOptions& options,
                        Visit visit);

  // `object` names itself in metadata; its namespace too where the resource has one.
  Task<Object> Create(const Resource& resource, const json::value& object,
                      const WriteOptions& options = WriteOptions());
  Task<Object> Replace(const Resource& resource, const json::value& object,
                       const WriteOptions& options = WriteOptions());

  // Server-side apply: `object` is all that we want, and no more (spec/kubernetes-client.md §4).
  Task<Object> Apply(const Resource& resource, const json::value& object,
                     const WriteOptions& options = WriteOptions());

  Task<Object> Patch(const Resource& resource, std::string_view ns, std::string_view name,
                     PatchType type, const json::value& patch,
                     const WriteOptions& options = WriteOptions());

  // kNotFound if it is gone already.
  Task<Status> Delete(const Resource& resource, std::string_view ns, std::string_view name,
                      const DeleteOptions& options = DeleteOptions());

  // A path of the server that is no object: "/version", "/readyz". The body as text.
  Task<Result<std::string>> GetRaw(std::string_view path);

  // For watches: opens `target` on a connection of its own. The answer of 400 and above is in
  // `refused`, without a stream.
  struct Opened {
    std::unique_ptr<HttpStream> stream;
    ApiStatus refused;
  };
  Task<Result<Opened>> OpenWatch(std::string target, bool metadata_only);

  const std::string& field_manager() const { return name_; }
  const std::string& ns() const { return namespace_; }  // our own, or the context's
  const Executor& executor() const { return executor_; }
  const Waiting& waiting() const { return options_.waiting; }
  double Random() const { return options_.waiting.random(); }

  uint64_t requests() const { return requests_; }  // sent so far, retries and watches included

 private:
  struct Call;
  struct Answer;
  using TakeBody = std::function<Status(std::string_view bytes)>;
  Client(const Executor& executor, ClientOptions options, const ClientConfig& config,
         std::unique_ptr<Transport> transport);

  Call NewCall(std::string_view method, std::string target, const CallOptions& options) const;
  Call NewWrite(std::string_view method, std::string target, const json::value& body,
                const WriteOptions& options) const;
  Status Authorize(HttpRequest& request);
  Task<Result<Answer>> Send(Call call, TakeBody take);
  Task<Result<Answer>> TryOnce(const Call& call, const TakeBody& take);
  Task<Result<std::string>> SendForText(Call call);
  Task<Object> SendForObject(Call call);
  Task<Status> SendForStatus(Call call);
  Task<Result<Opened>> OpenOnce(Call call);
  Task<Listed> ListPages(Resource resource, std::string path, ListOptions options, Visit visit);
  Task<Result<std::vector<json::value>>> Collect(Resource resource, std::string path,
                                                 ListOptions options);
  void LogWarnings(const HttpHead& head);

  Executor executor_;
  ClientOptions options_;
  std::string name_;
  std::string namespace_;
  std::unique_ptr<Credentials> credentials_;
  std::unique_ptr<Transport> transport_;
  std::map<std::string, Time> warned_;
  uint64_t requests_ = 0;
};

// How a list ended. `ok`: `resource_version` is the list's. Otherwise `error`, and `refused` where
// the server gave one (code 0: it did not).
struct Client::Listed {
  bool ok = false;
  std::string resource_version;
  ApiStatus refused;
  Error error = Error(ErrorKind::kInternal, "");
};

}  // namespace pawl::kube
