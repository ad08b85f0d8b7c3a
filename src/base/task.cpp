#include "base/task.h"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <cstdlib>
#include <exception>
#include <string>

#include "base/log.h"

namespace pawl {

void Spawn(const Executor& executor, std::string_view name, Task<> task) {
  auto ended = [label = std::string(name)](const std::exception_ptr& thrown) {
    if (!thrown) return;
    try {
      std::rethrow_exception(thrown);
    } catch (const boost::system::system_error& error) {
      if (error.code() == asio::error::operation_aborted) return;
      log::Failure("a task ended by an exception", {{"task", label}, {"error", error.what()}});
    } catch (const std::exception& error) {
      log::Failure("a task ended by an exception", {{"task", label}, {"error", error.what()}});
    }
    std::abort();
  };
  asio::co_spawn(executor, std::move(task), std::move(ended));
}

Task<> Sleep(Duration duration) {
  const Executor executor = co_await asio::this_coro::executor;
  asio::steady_timer timer(executor, duration);
  boost::system::error_code ignored;
  co_await timer.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
}

void Event::Notify() {
  set_ = true;
  timer_.cancel();
}

Task<> Event::Wait() {
  while (!set_) {
    boost::system::error_code ignored;
    co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  set_ = false;
}

Task<bool> Event::WaitFor(Duration duration) {
  const Time deadline = std::chrono::steady_clock::now() + duration;
  const Executor executor = co_await asio::this_coro::executor;
  asio::steady_timer alarm(executor, deadline);
  bool late = false;
  alarm.async_wait([this, &late](const boost::system::error_code& error) {
    if (error) return;
    late = true;
    timer_.cancel();
  });
  while (!set_ && !late) {
    boost::system::error_code ignored;
    co_await timer_.async_wait(asio::redirect_error(asio::use_awaitable, ignored));
  }
  if (!late && alarm.cancel() == 0) {
    // The alarm has fired already and its handler, which points into this frame, is still to run.
    while (!late) co_await asio::post(executor, asio::use_awaitable);
  }
  const bool notified = set_;
  set_ = false;
  co_return notified;
}

}  // namespace pawl
