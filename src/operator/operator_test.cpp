// The operator against an API server within the test: what it asks, in which case it asks again,
// and that it stops.
#include "operator/operator.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/yaml.h"
#include "kube/object.h"
#include "kube/test_server.h"

namespace pawl::op {
namespace {

using kube::testing::Answer;
using kube::testing::NewClient;
using kube::testing::RunUntil;
using kube::testing::TestReply;
using kube::testing::TestServer;
using testing::HasSubstr;

constexpr const char* kPolicy = R"(
{apiVersion: nvidia.com/v1, kind: ClusterPolicy,
 metadata: {name: cluster-policy, uid: u1, generation: 1, creationTimestamp: "2026-01-01T00:00:00Z", resourceVersion: "5"},
 spec: {driver: {enabled: false}, mig: {strategy: single}}})";
constexpr const char* kNode = R"(
{apiVersion: v1, kind: Node, metadata: {name: n1, uid: u2, resourceVersion: "6",
 labels: {feature.node.kubernetes.io/pci-10de.present: "true"}}})";

class OperatorTest : public testing::Test {
 protected:
  TestReply Reply(const TestServer::Request& request) {
    if (request.method == "GET") return ReplyToGet(request.target);
    if (refuse_ != nullptr && request.target.find(refuse_) != std::string::npos) {
      return Answer(code_, R"({"kind":"Status","status":"Failure","reason":")" + reason_ +
                               R"(","message":"no","code":)" + std::to_string(code_) + "}");
    }
    return Answer(200, AfterWrite(request));
  }

  TestReply ReplyToGet(const std::string& target) const {
    if (target.find("watch=") != std::string::npos) return kube::testing::Watch({});
    json::array items;
    if (target.find("/clusterpolicies") != std::string::npos) items = {ParseYaml(kPolicy).value()};
    if (target.find("/nodes") != std::string::npos) items = {ParseYaml(kNode).value()};
    json::object list = {{"kind", "List"}, {"apiVersion", "v1"}};
    list["metadata"] = json::object{{"resourceVersion", "10"}};
    list["items"] = std::move(items);
    return Answer(200, ToJson(list));
  }

  // The object as it is after the patch, roughly: enough for the operator to believe it.
  std::string AfterWrite(const TestServer::Request& request) {
    json::object object = ParseJson(request.body).value().as_object();
    json::object& metadata = object["metadata"].as_object();
    const std::string version = std::to_string(++version_);
    if (request.target.find("/nodes/") != std::string::npos) {
      json::object node = ParseYaml(kNode).value().as_object();
      for (const auto& label : metadata["labels"].as_object()) {
        node["metadata"].at("labels").as_object()[label.key()] = label.value();
      }
      node["metadata"].as_object()["resourceVersion"] = version;
      return ToJson(node);
    }
    if (request.target.find("/status") != std::string::npos) {
      json::object policy = ParseYaml(kPolicy).value().as_object();
      policy["metadata"].as_object()["resourceVersion"] = version;
      policy["status"] = object["status"];
      return ToJson(policy);
    }
    metadata["uid"] = "made";
    metadata["resourceVersion"] = version;
    return ToJson(object);
  }

  OperatorOptions Options() const {
    OperatorOptions options;
    options.ns = "gpu-operator";
    options.agent_image = "localhost/pawl:dev";
    options.metrics_address = "0";
    options.health_address = "0";
    return options;
  }

  size_t Writes(std::string_view part) const {
    size_t count = 0;
    for (const auto& request : server_.requests()) {
      if (request.method == "PATCH" && request.target.find(part) != std::string::npos) ++count;
    }
    return count;
  }

  Task<> RunToTheEnd(Operator& work) {
    end_ = co_await work.Run();
    ended_ = true;
  }

  void Stop(Operator& work) {
    work.Stop();
    RunUntil(loop_, [this] { return ended_; });
    EXPECT_TRUE(end_);
  }

  asio::io_context loop_;
  const char* refuse_ = nullptr;
  int code_ = 403;
  std::string reason_ = "Forbidden";
  int version_ = 10;
  TestServer server_{loop_, [this](const TestServer::Request& request) { return Reply(request); }};
  std::unique_ptr<kube::Client> client_ = NewClient(loop_, server_.Url());
  bool ended_ = false;
  Status end_;
};

TEST_F(OperatorTest, DoesWhatAClusterNeedsOnceAndThenRests) {
  Operator work(loop_.get_executor(), *client_, Options());
  Spawn(loop_.get_executor(), "operator", RunToTheEnd(work));
  RunUntil(loop_, [this] { return Writes("/status") > 0 && Writes("/runtimeclasses/") == 3; });
  RunUntil(loop_, [this] { return Writes("/daemonsets/") == 1 && Writes("/nodes/n1") == 1; });
  // Whatever else it wanted to ask would be on its way by now.
  while (loop_.poll() > 0) {
  }
  EXPECT_EQ(Writes("/nodes/"), 1u);
  EXPECT_EQ(Writes("/daemonsets/"), 1u);
  EXPECT_EQ(Writes("/runtimeclasses/"), 3u);
  EXPECT_EQ(Writes("/clusterpolicies/"), 1u);
  Stop(work);
}

TEST_F(OperatorTest, RepeatsWhatWasRefusedAndSaysSo) {
  refuse_ = "/daemonsets/";
  Operator work(loop_.get_executor(), *client_, Options());
  Spawn(loop_.get_executor(), "operator", RunToTheEnd(work));
  RunUntil(loop_, [this] { return Writes("/daemonsets/") >= 2 && Writes("/status") >= 2; });
  std::string status;
  for (const auto& request : server_.requests()) {
    if (request.target.find("/status") != std::string::npos) status = request.body;
  }
  EXPECT_THAT(status, HasSubstr("Failed to reconcile state-device-plugin"));
  refuse_ = nullptr;
  const size_t before = Writes("/status");
  RunUntil(loop_, [this, before] { return Writes("/status") > before; });
  Stop(work);
}

TEST_F(OperatorTest, LooksAgainAtANodeThatHadChanged) {
  refuse_ = "/nodes/";
  code_ = 409;
  reason_ = "Conflict";
  Operator work(loop_.get_executor(), *client_, Options());
  Spawn(loop_.get_executor(), "operator", RunToTheEnd(work));
  RunUntil(loop_, [this] { return Writes("/nodes/") >= 2; });
  refuse_ = nullptr;
  const size_t before = Writes("/nodes/");
  RunUntil(loop_, [this, before] { return Writes("/nodes/") > before; });
  Stop(work);
}

}  // namespace
}  // namespace pawl::op
