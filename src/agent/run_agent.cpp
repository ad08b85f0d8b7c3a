#include <boost/asio/redirect_error.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <csignal>
#include <functional>

#include "agent/agent.h"
#include "base/log.h"

namespace pawl::agent {
namespace {

Task<> Begin(Agent& agent, asio::io_context& loop, int& exit_code) {
  bool waited = false;
  while (true) {
    const Status started = agent.Start();
    if (started) co_return;
    if (started.error().kind() != ErrorKind::kUnavailable) {
      log::Failure("the agent cannot start", {{"error", started.error()}});
      exit_code = 1;
      loop.stop();
      co_return;
    }
    if (!waited) log::Warning("waiting for the other agent", {{"error", started.error()}});
    waited = true;
    co_await Sleep(250ms);
  }
}

Task<> HandleSignals(Agent& agent, asio::io_context& loop, asio::signal_set& signals) {
  while (true) {
    boost::system::error_code error;
    const int signal =
        co_await signals.async_wait(asio::redirect_error(asio::use_awaitable, error));
    if (error) co_return;
    if (signal == SIGHUP) {
      log::Info("reading the GPUs again");
      agent.Reload();
      continue;
    }
    log::Info("ending", {{"signal", signal}});
    agent.Stop();
    loop.stop();
    co_return;
  }
}

}  // namespace

void RunAgent(const AgentOptions& options, const std::function<void(int)>& ended) {
  int exit_code = 0;
  asio::io_context loop(1);
  // Before anything else: the first process of a container gets no signal that it does not handle.
  asio::signal_set signals(loop, SIGTERM, SIGINT, SIGQUIT);
  signals.add(SIGHUP);
  Agent agent(loop.get_executor(), options);
  Spawn(loop.get_executor(), "start", Begin(agent, loop, exit_code));
  Spawn(loop.get_executor(), "signals", HandleSignals(agent, loop, signals));
  loop.run();
  agent.Stop();
  ended(exit_code);
}

}  // namespace pawl::agent
