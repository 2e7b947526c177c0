#include "cluster/kubernetes/api/client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <fstream>

#include "cluster/kubernetes/api/fake_apiserver_test_support.h"
#include "cluster/kubernetes/api/list.h"

namespace stoker::kubernetes {
namespace {

using std::chrono::milliseconds;
using testing::ElementsAre;
using testing::HasSubstr;

struct Waits {
  std::vector<milliseconds> all;
  ClientSettings settings() {
    ClientSettings settings;
    settings.sleep = [this](milliseconds time) { all.push_back(time); };
    return settings;
  }
};

Access access_to(const FakeApiserver& server) {
  Access access;
  access.name = "test";
  access.server = server.url();
  return access;
}

std::string file_with(const std::string& name, const std::string& text) {
  const auto path = std::filesystem::temp_directory_path() /
                    fmt::format("stoker-client-test-{}-{}", ::getpid(), name);
  std::ofstream(path) << text;
  return path.string();
}

TEST(Client, AsksABusyServerAgainWhenItSays) {
  std::atomic<int> asked{0};
  const FakeApiserver server([&](const auto&, const auto&) -> FakeAnswer {
    ++asked;
    if (asked == 1) return {429, "{}", "Retry-After: 7\r\n"};
    if (asked == 2) return {503, "{}", ""};
    return {200, R"({"kind":"PodList"})", ""};
  });
  Waits waits;
  Client client(access_to(server), waits.settings());
  const auto answer = client.get("/api/v1/pods");
  ASSERT_TRUE(answer) << answer.error().describe();
  EXPECT_EQ(answer->status, 200);
  EXPECT_THAT(waits.all, ElementsAre(milliseconds(7000), milliseconds(1000)));
}

TEST(Client, GivesUpOnAServerThatStaysBusyAndNeverWaitsForHours) {
  const FakeApiserver server([](const auto&, const auto&) -> FakeAnswer {
    return {500, R"({"kind":"Status","message":"etcd is gone"})", "Retry-After: 90000\r\n"};
  });
  Waits waits;
  Client client(access_to(server), waits.settings());
  const auto answer = client.get("/api/v1/pods");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), ErrorCode::unavailable);
  EXPECT_THAT(answer.error().message(), HasSubstr("500 5 times: etcd is gone"));
  EXPECT_EQ(waits.all, std::vector(4, milliseconds(30'000)));
}

TEST(Client, ReadsATokenFileForEveryRequest) {
  const FakeApiserver server([](const auto&, const std::string& head) -> FakeAnswer {
    const auto begin = head.find("Authorization: ");
    return {200, head.substr(begin, head.find('\r', begin) - begin), ""};
  });
  Access access = access_to(server);
  access.token_file = file_with("token", "one\n");
  Client client(access);
  EXPECT_EQ(client.get("/")->body, "Authorization: Bearer one");
  file_with("token", "two\n");
  EXPECT_EQ(client.get("/")->body, "Authorization: Bearer two");
  std::filesystem::remove(access.token_file);
  EXPECT_EQ(client.get("/").error().code(), ErrorCode::not_found);
}

TEST(Client, TriesATokenThatWasRenewedAndThenSaysWhoIsNotKnown) {
  std::atomic<int> asked{0};
  const FakeApiserver server([&](const auto&, const auto&) -> FakeAnswer {
    ++asked;
    return {401, R"({"kind":"Status","message":"Unauthorized"})", ""};
  });
  Access access = access_to(server);
  access.token_file = file_with("old", "old");
  const auto answer = Client(access).get("/");
  std::filesystem::remove(access.token_file);
  EXPECT_EQ(asked, 2);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), ErrorCode::no_permission);
  EXPECT_THAT(answer.error().message(), HasSubstr("401: Unauthorized"));
}

TEST(Client, SendsNoLineBreakOfAToken) {
  const FakeApiserver server([](const auto&, const auto&) { return FakeAnswer{}; });
  Access access = access_to(server);
  access.token = "a\r\nX-Evil: 1";
  EXPECT_EQ(Client(access).get("/").error().code(), ErrorCode::invalid_input);
  EXPECT_THAT(server.asked(), testing::IsEmpty());
}

// Lists.

std::string pod(std::string_view name) {
  return fmt::format(R"({{"metadata":{{"name":"{}","managedFields":[{{"manager":"x"}}]}}}})", name);
}
std::string page_of(std::string_view items, std::string_view next) {
  return fmt::format(
      R"({{"kind":"PodList","apiVersion":"v1","metadata":{{"continue":"{}"}},"items":[{}]}})", next,
      items);
}

struct Listed {
  std::vector<std::string> objects;
  ListResult result;
};

Listed list_pods(const FakeApiserver& server, ListOptions options = {},
                 ClientSettings settings = {}) {
  Client client(access_to(server), std::move(settings));
  Listed listed;
  const Resource pods{"", "v1", "pods", "Pod", true, true};
  listed.result = list_objects(
      client, pods, options, [&](std::string_view object) { listed.objects.emplace_back(object); },
      [&] { listed.objects.clear(); });
  return listed;
}

TEST(ListObjects, GoesThroughAllPagesAndCompletesEachObject) {
  const FakeApiserver server([](const std::string& path, const auto&) -> FakeAnswer {
    if (path == "/api/v1/namespaces/ml/pods?limit=2")
      return {200, page_of(pod("a") + "," + pod("b"), "x+/="), ""};
    if (path == "/api/v1/namespaces/ml/pods?limit=2&continue=x%2B%2F%3D")
      return {200, page_of(pod("c"), ""), ""};
    return {404, "{}", ""};
  });
  const auto listed = list_pods(server, {.name_space = "ml", .limit = 2});
  EXPECT_EQ(listed.result.outcome, ListOutcome::complete) << listed.result.reason;
  EXPECT_EQ(listed.result.pages, 2U);
  EXPECT_EQ(listed.result.objects, 3U);
  ASSERT_EQ(listed.objects.size(), 3U);
  EXPECT_EQ(listed.objects[0], R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"}})");
}

TEST(ListObjects, BeginsAgainOnceWhereAPageHasExpired) {
  std::atomic<int> lists{0};
  const FakeApiserver server([&](const std::string& path, const auto&) -> FakeAnswer {
    if (path.find("continue=old") != std::string::npos)
      return {410, R"({"kind":"Status","reason":"Expired","message":"too old"})", ""};
    if (path.find("continue=new") != std::string::npos) return {200, page_of(pod("d"), ""), ""};
    return {200, ++lists == 1 ? page_of(pod("a"), "old") : page_of(pod("c"), "new"), ""};
  });
  const auto listed = list_pods(server);
  EXPECT_EQ(listed.result.outcome, ListOutcome::complete) << listed.result.reason;
  ASSERT_EQ(listed.objects.size(), 2U) << "nothing of the first list may be left";
  EXPECT_THAT(listed.objects[0], HasSubstr("\"c\""));
}

TEST(ListObjects, FailsWhereItExpiresAgain) {
  const FakeApiserver server([&](const std::string& path, const auto&) -> FakeAnswer {
    if (path.find("continue") != std::string::npos) return {410, "{}", ""};
    return {200, page_of(pod("a"), "old"), ""};
  });
  EXPECT_EQ(list_pods(server).result.outcome, ListOutcome::failed);
  EXPECT_EQ(server.asked().size(), 4U);
}

TEST(ListObjects, SaysForbiddenInTheServersWords) {
  const FakeApiserver server([](const auto&, const auto&) -> FakeAnswer {
    return {
        403,
        R"({"kind":"Status","reason":"Forbidden","message":"pods is forbidden: User \"u\" cannot"})",
        ""};
  });
  const auto listed = list_pods(server);
  EXPECT_EQ(listed.result.outcome, ListOutcome::forbidden);
  EXPECT_EQ(listed.result.reason, "pods is forbidden: User \"u\" cannot");
}

TEST(ListObjects, TakesSmallerPagesWhereOneIsTooLong) {
  const FakeApiserver server([](const std::string& path, const auto&) -> FakeAnswer {
    if (path == "/api/v1/pods?limit=500")
      return {200, page_of(pod(std::string(5000, 'x')), ""), ""};
    return {200, page_of(pod("a"), ""), ""};
  });
  ClientSettings settings;
  settings.most_bytes = 4000;
  const auto listed = list_pods(server, {}, settings);
  EXPECT_EQ(listed.result.outcome, ListOutcome::complete) << listed.result.reason;
  EXPECT_THAT(server.asked(), ElementsAre("/api/v1/pods?limit=500", "/api/v1/pods?limit=250"));
}

TEST(ListObjects, DoesNotTurnInACircle) {
  const FakeApiserver server(
      [](const auto&, const auto&) -> FakeAnswer { return {200, page_of(pod("a"), "same"), ""}; });
  EXPECT_EQ(list_pods(server).result.outcome, ListOutcome::failed);
}

TEST(ListObjects, EndsWhereTheServerHasNoEnd) {
  FakeApiserver turns([](const std::string& path, const std::string&) -> FakeAnswer {
    const bool first = path.find("continue=one") != std::string::npos;
    return {200, page_of(pod("a"), first ? "two" : "one"), ""};
  });
  EXPECT_EQ(list_pods(turns).result.outcome, ListOutcome::failed);
  int pages = 0;
  FakeApiserver empty([&pages](const std::string&, const std::string&) -> FakeAnswer {
    return {200, page_of("", std::to_string(++pages)), ""};
  });
  const auto listed = list_pods(empty);
  EXPECT_EQ(listed.result.outcome, ListOutcome::failed);
  EXPECT_THAT(listed.result.reason, HasSubstr("no end"));
}

TEST(FindServed, NamesOnlyWhatTheServerHasByItsPreferredVersion) {
  const FakeApiserver server([](const std::string& path, const auto&) -> FakeAnswer {
    if (path == "/apis") {
      return {
          200,
          R"({"kind":"APIGroupList","groups":[{"name":"apps","preferredVersion":{"groupVersion":"apps/v1","version":"v1"}},
                 {"name":"kubeflow.org","preferredVersion":{"version":"v1"}},{"name":"ray.io","preferredVersion":{"version":"v1"}}]})",
          ""};
    }
    if (path == "/apis/apps/v1") {
      return {
          200,
          R"({"groupVersion":"apps/v1","resources":[{"name":"deployments/status","kind":"Deployment","namespaced":true,"verbs":["get"]},
                 {"name":"deployments","kind":"Deployment","namespaced":true,"verbs":["get","list"]},
                 {"name":"controllerrevisions","kind":"ControllerRevision","namespaced":true,"verbs":["get"]}]})",
          ""};
    }
    if (path == "/apis/kubeflow.org/v1")
      return {200, R"({"groupVersion":"kubeflow.org/v1","resources":[]})", ""};
    if (path == "/apis/ray.io/v1") return {403, R"({"kind":"Status","message":"no"})", ""};
    return {404, "{}", ""};
  });
  Client client(access_to(server));
  const auto served = find_served(client, {{"apps", "Deployment"},
                                           {"apps", "ControllerRevision"},
                                           {"kubeflow.org", "PyTorchJob"},
                                           {"batch.volcano.sh", "Job"},
                                           {"ray.io", "RayJob"},
                                           {"ray.io", "RayCluster"}});
  ASSERT_TRUE(served) << served.error().describe();
  ASSERT_EQ(served->resources.size(), 1U);
  EXPECT_EQ(path_of(served->resources[0], "ml"), "/apis/apps/v1/namespaces/ml/deployments");
  EXPECT_EQ(served->absent.size(), 3U);
  EXPECT_THAT(served->unknown, ElementsAre(testing::Pair("ray.io", "no")));
}

}  // namespace
}  // namespace stoker::kubernetes
