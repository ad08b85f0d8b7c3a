// The whole agent with an API server that has one Node.
#include <gtest/gtest.h>

#include "agent/agent_fixture_test.h"
#include "kube/test_server.h"

namespace pawl::agent {
namespace {

using kube::testing::TestReply;
using kube::testing::TestServer;

class AgentWithKubernetes : public AgentFixture {
 protected:
  AgentWithKubernetes() : server_(loop_, [this](const auto& request) { return Serve(request); }) {
    options_.node_name = "n1";
    options_.between_writes = 50ms;
    kube::ClientConfig config;
    config.server = server_.Url();
    options_.kubernetes = config;
  }

  // The agent ends before the server that it speaks to.
  ~AgentWithKubernetes() override {
    if (agent_) EndAgent();
  }

  TestReply Serve(const TestServer::Request& request) {
    if (request.method == "PATCH") return ServeApply(request);
    if (request.target.find("watch=") == std::string::npos) {
      return kube::testing::Answer(
          200, R"({"kind":"NodeList","apiVersion":"v1","metadata":{"resourceVersion":")" +
                   std::to_string(version_) + R"("},"items":[)" + NodeText() + "]}");
    }
    // A short watch: it tells the state now and ends, and the next one follows.
    return kube::testing::Watch({R"({"type":"MODIFIED","object":)" + NodeText() + "}"},
                                TestReply::End::kKeep);
  }

  TestReply ServeApply(const TestServer::Request& request) {
    ++version_;
    const Result<json::value> body = ParseJson(request.body);
    EXPECT_TRUE(body) << request.body;
    EXPECT_EQ(request.Header("Content-Type"), "application/apply-patch+yaml");
    EXPECT_NE(request.target.find("fieldManager=pawl-agent"), std::string::npos);
    if (request.target.starts_with("/api/v1/nodes/n1/status?")) {
      condition_ = ToJson(body->at("status").at("conditions").at(0));
    } else {
      EXPECT_TRUE(request.target.starts_with("/api/v1/nodes/n1?")) << request.target;
      ++label_writes_;
      labels_ = body->at("metadata").at("labels").as_object();
    }
    return kube::testing::Answer(200, NodeText());
  }

  std::string NodeText() const {
    json::object node = {{"apiVersion", "v1"}, {"kind", "Node"}};
    node["metadata"] = json::object{{"name", "n1"},
                                    {"uid", "u1"},
                                    {"resourceVersion", std::to_string(version_)},
                                    {"labels", labels_}};
    json::object status;
    status["allocatable"] = json::object{{"nvidia.com/gpu", std::to_string(allocatable_)}};
    if (!condition_.empty()) status["conditions"] = json::array{*ParseJson(condition_)};
    node["status"] = std::move(status);
    return ToJson(node);
  }

  void SetAllocatable(int count) {
    allocatable_ = count;
    ++version_;
  }

  bool UntilCondition(std::string_view status, std::string_view reason) {
    return Until([this, status, reason] {
      if (condition_.empty()) return false;
      const Result<json::value> condition = ParseJson(condition_);
      return TextAt(*condition, {"status"}) == status && TextAt(*condition, {"reason"}) == reason;
    });
  }

  int version_ = 1;
  int allocatable_ = 0;
  int label_writes_ = 0;
  json::object labels_;
  std::string condition_;
  TestServer server_;
};

TEST_F(AgentWithKubernetes, LabelsTheNodeAndCallsItReadyOnceKubeletsFigureIsThere) {
  StartKubelet();
  StartAgent();
  ASSERT_TRUE(UntilListed(4));
  ASSERT_TRUE(UntilCondition("Unknown", "Booting"));
  ASSERT_TRUE(Until([this] { return label_writes_ > 0; }));
  EXPECT_EQ(labels_.at("nvidia.com/gpu.count"), "4");
  SetAllocatable(4);
  ASSERT_TRUE(UntilCondition("True", "AllHealthy"));
  EXPECT_EQ(label_writes_, 1);
}

TEST_F(AgentWithKubernetes, WritesALabelBackThatSomebodyTook) {
  SetAllocatable(4);
  StartKubelet();
  StartAgent();
  ASSERT_TRUE(UntilValidated());
  labels_.erase("nvidia.com/gpu.count");
  ++version_;
  ASSERT_TRUE(Until([this] { return labels_.contains("nvidia.com/gpu.count"); }));
}

TEST_F(AgentWithKubernetes, AnAgentThatStartsAgainDoesNotCallAReadyNodeUnready) {
  SetAllocatable(4);
  StartKubelet();
  StartAgent();
  ASSERT_TRUE(UntilCondition("True", "AllHealthy"));
  const std::string before = condition_;
  EndAgent();
  StartAgent();
  ASSERT_TRUE(UntilValidated());
  EXPECT_EQ(condition_, before);
}

TEST_F(AgentWithKubernetes, TheFailureOfOneGpuIsToldAsDegraded) {
  SetAllocatable(4);
  StartKubelet();
  StartAgent();
  ASSERT_TRUE(UntilCondition("True", "AllHealthy"));
  Break("hang-nvmlDeviceGetMemoryInfo-2");
  ASSERT_TRUE(UntilCondition("True", "Degraded"));
}

TEST_F(AgentWithKubernetes, WithoutAnApiServerTheGpusAreOfferedAllTheSame) {
  options_.kubernetes->server = "http://127.0.0.1:1";
  StartKubelet();
  StartAgent();
  ASSERT_TRUE(UntilListed(4));
  ASSERT_TRUE(Until([this] { return Stage("discovery").reason == "NodeNotRead"; }));
  EXPECT_TRUE(kubelet_->Allocate({kubelet_->Lists().back().front().id}));
}

}  // namespace
}  // namespace pawl::agent
