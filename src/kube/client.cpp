#include "kube/client.h"

#include <random>

#include "base/log.h"
#include "kube/client_call.h"
#include "kube/credentials.h"
#include "kube/object.h"
#include "kube/parse.h"
#include "kube/query.h"
#include "kube/retry.h"

namespace pawl::kube {
namespace {

constexpr size_t kLongestAnswer = size_t{64} << 20;
constexpr size_t kLongestRefusal = size_t{1} << 20;
constexpr int kMostBreaks = 3;  // broken connections that a GET survives
constexpr Duration kAfterBreak = 1s;

std::function<double()> NewRandom() {
  std::minstd_rand generator(std::random_device{}());
  return [generator]() mutable { return std::uniform_real_distribution<double>()(generator); };
}

std::string_view Word(FieldValidation validation) {
  switch (validation) {
    case FieldValidation::kIgnore:
      return "Ignore";
    case FieldValidation::kWarn:
      return "Warn";
    case FieldValidation::kStrict:
      break;
  }
  return "Strict";
}

std::string_view ContentType(PatchType type) {
  switch (type) {
    case PatchType::kMerge:
      return "application/merge-patch+json";
    case PatchType::kJson:
      return "application/json-patch+json";
    case PatchType::kStrategic:
      break;
  }
  return "application/strategic-merge-patch+json";
}

}  // namespace

Result<std::unique_ptr<Client>> Client::Create(const Executor& executor, const ClientConfig& config,
                                               ClientOptions options) {
  Result<std::unique_ptr<Transport>> transport = Transport::Create(executor, config);
  if (!transport) return Fail(transport.error());
  if (!options.waiting.random) options.waiting.random = NewRandom();
  return std::unique_ptr<Client>(
      new Client(executor, std::move(options), config, std::move(*transport)));
}

Client::Client(const Executor& executor, ClientOptions options, const ClientConfig& config,
               std::unique_ptr<Transport> transport)
    : executor_(executor),
      options_(std::move(options)),
      name_("pawl-" + options_.component),
      namespace_(config.ns),
      credentials_(std::make_unique<Credentials>(config)),
      transport_(std::move(transport)) {}

Client::~Client() = default;

Client::Call Client::NewCall(std::string_view method, std::string target,
                             const CallOptions& options) const {
  Call call;
  call.request.method = std::string(method);
  call.request.target = std::move(target);
  call.request.headers.emplace_back("User-Agent", name_ + "/" + options_.version);
  call.request.headers.emplace_back("Accept", "application/json");
  call.deadline =
      options.deadline > Duration::zero() ? options.deadline : options_.request_deadline;
  call.retry = options.retry;
  return call;
}

Client::Call Client::NewWrite(std::string_view method, std::string target, const json::value& body,
                              const WriteOptions& options) const {
  std::string full = Target(std::move(target))
                         .Add("fieldManager", name_)
                         .Add("dryRun", options.dry_run ? "All" : "")
                         .Add("fieldValidation", Word(options.validation))
                         .Text();
  Call call = NewCall(method, std::move(full), options);
  call.request.body = ToJson(body);
  return call;
}

// Credentials go over TLS only.
Status Client::Authorize(HttpRequest& request) {
  if (!transport_->tls()) return {};
  Result<std::string> header = credentials_->Header(std::chrono::steady_clock::now());
  if (!header) return Fail(header.error());
  if (header->empty()) return {};
  for (auto& [name, value] : request.headers) {
    if (name != "Authorization") continue;
    value = std::move(*header);
    return {};
  }
  request.headers.emplace_back("Authorization", std::move(*header));
  return {};
}

void Client::LogWarnings(const HttpHead& head) {
  constexpr size_t kRemembered = 64;
  const Time now = std::chrono::steady_clock::now();
  for (const std::string& text : head.warnings) {
    const auto known = warned_.find(text);
    if (known != warned_.end() && now - known->second < 1h) continue;
    if (warned_.size() >= kRemembered) warned_.clear();
    warned_[text] = now;
    log::Warning("the API server warns", {{"warning", text}});
  }
}

Task<Result<Client::Answer>> Client::TryOnce(const Call& call, const TakeBody& take) {
  ++requests_;
  const Time deadline = std::chrono::steady_clock::now() + call.deadline;
  Result<std::unique_ptr<HttpStream>> opened =
      co_await transport_->Open(call.request, Transport::Use::kPooled, deadline);
  if (!opened) co_return Fail(opened.error());
  HttpStream& stream = **opened;
  LogWarnings(stream.head());
  Answer answer;
  const unsigned code = stream.head().code;
  constexpr unsigned kFirstRefusal = 300;
  if (code >= kFirstRefusal || !take) {
    const bool refused = code >= kFirstRefusal;
    Result<std::string> body =
        co_await stream.ReadAll(deadline, refused ? kLongestRefusal : kLongestAnswer);
    if (!body) co_return Fail(body.error());
    answer.body = std::move(*body);
    if (refused) {
      answer.refused =
          ParseStatus(code, call.request.method, answer.body, stream.head().retry_after);
    }
    co_return answer;
  }
  while (true) {
    const Result<std::string_view> bytes = co_await stream.Next(deadline);
    if (!bytes) co_return Fail(bytes.error());
    if (bytes->empty()) co_return answer;
    Status taken = take(*bytes);
    if (!taken) co_return Fail(taken.error());
  }
}

Task<Result<Client::Answer>> Client::Send(Call call, TakeBody take) {
  const Time start = std::chrono::steady_clock::now();
  int refusals = 0;
  int breaks = 0;
  bool renewed = false;
  while (true) {
    const Status authorized = Authorize(call.request);
    if (!authorized) co_return Fail(authorized.error());
    Result<Answer> answer = co_await TryOnce(call, take);
    std::optional<Duration> delay;
    if (!answer) {
      // A body that is taken as it comes cannot begin again.
      const bool again = call.retry && !take && call.request.method == "GET" &&
                         answer.error().kind() == ErrorKind::kUnavailable && breaks < kMostBreaks;
      if (again) delay = kAfterBreak;
      ++breaks;
    } else if (answer->refused.code == 0) {
      co_return answer;
    } else if (answer->refused.code == 401 && !renewed && credentials_->Expire()) {
      renewed = true;
      continue;
    } else if (call.retry) {
      delay = RetryDelay(answer->refused, refusals, Random());
      ++refusals;
    }
    const Duration spent = std::chrono::steady_clock::now() - start;
    if (!delay || spent + *delay > options_.retry_window) {
      if (answer) co_return answer;
      const std::string path = call.request.target.substr(0, call.request.target.find('?'));
      co_return Fail(answer.error().With(call.request.method + " " + path));
    }
    co_await Sleep(Scale(*delay, options_.waiting.pace));
  }
}

Task<Result<std::string>> Client::SendForText(Call call) {
  const std::string method = call.request.method;
  const std::string target = call.request.target;
  TakeBody none;
  Result<Answer> answer = co_await Send(std::move(call), std::move(none));
  if (!answer) co_return Fail(answer.error());
  if (answer->refused.code != 0) co_return Fail(ToError(answer->refused, method, target));
  co_return std::move(answer->body);
}

Task<Client::Object> Client::SendForObject(Call call) {
  Result<std::string> text = co_await SendForText(std::move(call));
  if (!text) co_return Fail(text.error());
  co_return ParseObject(*text);
}

Task<Status> Client::SendForStatus(Call call) {
  Result<std::string> text = co_await SendForText(std::move(call));
  if (!text) co_return Fail(text.error());
  co_return Status();
}

Task<Client::Object> Client::Get(const Resource& resource, std::string_view ns,
                                 std::string_view name, const CallOptions& options) {
  return SendForObject(NewCall("GET", resource.Path(ns, name), options));
}

Task<Result<std::string>> Client::GetRaw(std::string_view path) {
  return SendForText(NewCall("GET", std::string(path), CallOptions()));
}

Task<Client::Object> Client::Create(const Resource& resource, const json::value& object,
                                    const WriteOptions& options) {
  const std::string name = options.subresource.empty() ? "" : Name(object);
  Call call = NewWrite("POST", resource.Path(Namespace(object), name, options.subresource), object,
                       options);
  call.request.headers.emplace_back("Content-Type", "application/json");
  // Not again: a second object would be made; an eviction is for the caller to repeat.
  if (Name(object).empty() || options.subresource == "eviction") call.retry = false;
  return SendForObject(std::move(call));
}

Task<Client::Object> Client::Replace(const Resource& resource, const json::value& object,
                                     const WriteOptions& options) {
  Call call = NewWrite("PUT", resource.Path(Namespace(object), Name(object), options.subresource),
                       object, options);
  call.request.headers.emplace_back("Content-Type", "application/json");
  return SendForObject(std::move(call));
}

Task<Client::Object> Client::Apply(const Resource& resource, const json::value& object,
                                   const WriteOptions& options) {
  std::string target = Target(resource.Path(Namespace(object), Name(object), options.subresource))
                           .Add("force", options.force ? "true" : "false")
                           .Text();
  Call call = NewWrite("PATCH", std::move(target), object, options);
  call.request.headers.emplace_back("Content-Type", "application/apply-patch+yaml");
  return SendForObject(std::move(call));
}

Task<Client::Object> Client::Patch(const Resource& resource, std::string_view ns,
                                   std::string_view name, PatchType type, const json::value& patch,
                                   const WriteOptions& options) {
  Call call = NewWrite("PATCH", resource.Path(ns, name, options.subresource), patch, options);
  call.request.headers.emplace_back("Content-Type", ContentType(type));
  return SendForObject(std::move(call));
}

Task<Status> Client::Delete(const Resource& resource, std::string_view ns, std::string_view name,
                            const DeleteOptions& options) {
  json::object body;
  body["apiVersion"] = "v1";
  body["kind"] = "DeleteOptions";
  if (!options.propagation.empty()) body["propagationPolicy"] = options.propagation;
  if (options.grace_seconds >= 0) body["gracePeriodSeconds"] = options.grace_seconds;
  json::object preconditions;
  if (!options.uid.empty()) preconditions["uid"] = options.uid;
  if (!options.resource_version.empty()) {
    preconditions["resourceVersion"] = options.resource_version;
  }
  if (!preconditions.empty()) body["preconditions"] = std::move(preconditions);
  if (options.dry_run) body["dryRun"] = json::array{"All"};
  Call call = NewCall("DELETE", resource.Path(ns, name), options);
  call.request.body = ToJson(body);
  call.request.headers.emplace_back("Content-Type", "application/json");
  return SendForStatus(std::move(call));
}

Task<Result<Client::Opened>> Client::OpenWatch(std::string target, bool metadata_only) {
  Call call = NewCall("GET", std::move(target), CallOptions());
  if (metadata_only) {
    call.request.headers[1].second =
        "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
  }
  return OpenOnce(std::move(call));
}

Task<Result<Client::Opened>> Client::OpenOnce(Call call) {
  bool renewed = false;
  while (true) {
    const Status authorized = Authorize(call.request);
    if (!authorized) co_return Fail(authorized.error());
    ++requests_;
    const Time deadline = std::chrono::steady_clock::now() + call.deadline;
    Result<std::unique_ptr<HttpStream>> stream =
        co_await transport_->Open(call.request, Transport::Use::kOwnConnection, deadline);
    if (!stream) co_return Fail(stream.error());
    LogWarnings((*stream)->head());
    Opened opened;
    constexpr unsigned kOk = 200;
    const unsigned code = (*stream)->head().code;
    if (code == kOk) {
      opened.stream = std::move(*stream);
      co_return opened;
    }
    if (code == 401 && !renewed && credentials_->Expire()) {
      renewed = true;
      continue;
    }
    const Result<std::string> body = co_await (*stream)->ReadAll(deadline, kLongestRefusal);
    if (!body) co_return Fail(body.error());
    opened.refused = ParseStatus(code, "GET", *body, (*stream)->head().retry_after);
    co_return opened;
  }
}

}  // namespace pawl::kube
