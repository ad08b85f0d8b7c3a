// Lists, page by page and object by object: the list itself is never held.
#include <boost/json/monotonic_resource.hpp>

#include "kube/client.h"
#include "kube/client_call.h"
#include "kube/frames.h"
#include "kube/object.h"
#include "kube/parse.h"
#include "kube/query.h"

namespace pawl::kube {
namespace {

std::string PageTarget(const std::string& path, const ListOptions& options,
                       const std::string& next) {
  Target target(path);
  target.Add("labelSelector", options.label_selector).Add("fieldSelector", options.field_selector);
  if (options.page > 0) target.Add("limit", std::to_string(options.page));
  if (!next.empty()) {
    target.Add("continue", next);
  } else if (!options.resource_version.empty()) {
    target.Add("resourceVersion", options.resource_version);
    target.Add("resourceVersionMatch", "NotOlderThan");
  }
  return target.Text();
}

// Parses one item in memory of its own and hands it over. Items of a list lack what the list says
// for all: apiVersion and kind.
void Show(std::string_view text, const Resource& resource, bool metadata_only,
          const Client::Visit& visit, Status& failed) {
  constexpr size_t kScratch = 16384;
  unsigned char scratch[kScratch];
  json::monotonic_resource memory(scratch, sizeof scratch);
  Result<json::value> item = ParseObject(text, &memory);
  if (!item || !item->is_object()) {
    if (failed) {
      failed =
          Fail(item ? Error(ErrorKind::kInternal, "an item of a list is no object") : item.error());
    }
    return;
  }
  if (!metadata_only) {
    json::object& object = item->get_object();
    if (!object.contains("apiVersion")) object["apiVersion"] = resource.ApiVersion();
    if (!object.contains("kind")) object["kind"] = resource.kind;
  }
  visit(*item);
}

}  // namespace

Task<Client::Listed> Client::ListEach(const Resource& resource, std::string_view ns,
                                      const ListOptions& options, Visit visit) {
  return ListPages(resource, resource.Path(ns), options, std::move(visit));
}

Task<Client::Listed> Client::ListPages(Resource resource, std::string path, ListOptions options,
                                       Visit visit) {
  Listed listed;
  std::string next;
  do {
    ListSplitter splitter;
    Status parsed;
    const auto take_item = [&](std::string_view text) {
      Show(text, resource, options.metadata_only, visit, parsed);
    };
    TakeBody take = [&](std::string_view bytes) { return splitter.Feed(bytes, take_item); };
    Call call = NewCall("GET", PageTarget(path, options, next), options);
    if (options.metadata_only) {
      call.request.headers[1].second =
          "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
    }
    Result<Answer> answer = co_await Send(std::move(call), std::move(take));
    if (!answer) {
      listed.error = answer.error();
      co_return listed;
    }
    if (answer->refused.code != 0) {
      listed.refused = std::move(answer->refused);
      listed.error = ToError(listed.refused, "GET", path);
      co_return listed;
    }
    const Result<json::value> envelope = ParseObject(splitter.envelope());
    if (!envelope && parsed) parsed = Fail(envelope.error());
    if (!parsed) {
      listed.error = parsed.error().With("listing " + path);
      co_return listed;
    }
    listed.resource_version = TextAt(*envelope, {"metadata", "resourceVersion"});
    next = TextAt(*envelope, {"metadata", "continue"});
  } while (!next.empty());
  listed.ok = true;
  co_return listed;
}

Task<Result<std::vector<json::value>>> Client::List(const Resource& resource, std::string_view ns,
                                                    const ListOptions& options) {
  return Collect(resource, resource.Path(ns), options);
}

Task<Result<std::vector<json::value>>> Client::Collect(Resource resource, std::string path,
                                                       ListOptions options) {
  std::vector<json::value> all;
  Visit keep = [&](const json::value& object) { all.push_back(WithoutManagedFields(object)); };
  const Listed listed =
      co_await ListPages(resource, std::move(path), std::move(options), std::move(keep));
  if (!listed.ok) co_return Fail(listed.error);
  co_return all;
}

}  // namespace pawl::kube
