// Boost.Asio's coroutines, which have no channel before 1.78 (Debian 12 has 1.74, and its 1.81
// cannot be installed beside that). Two ways to be woken: a place for one handler, which is the
// least that Asio can do, and the timer that never expires, which its own examples use.
#include <coroutine>  // before Asio, which uses it without including it
#include <utility>    // for 1.74, which does the same

#if defined(__clang__)
// 1.74 looks for the headers of clang 5.
#define BOOST_ASIO_HAS_CO_AWAIT 1
#define BOOST_ASIO_HAS_STD_COROUTINE 1
#endif

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <optional>

#include "async/coroutines.hpp"

namespace bench::async {
namespace {

namespace asio = boost::asio;
using asio::awaitable;
using asio::use_awaitable;

/// A place for one number. No lock: everything here is done by one thread.
class handler_channel {
public:
    explicit handler_channel(asio::io_context& io) : executor_(io.get_executor()) {}

    void push(std::int64_t n) {
        if (value_) throw wrong_answer("the other one has not popped");
        value_ = n;
        if (waits_) asio::post(executor_, *std::exchange(waits_, std::nullopt));
    }
    awaitable<void> wait() {
        return asio::async_initiate<const asio::use_awaitable_t<>, void()>(
            [this](auto handler) { waits_.emplace(std::move(handler)); }, use_awaitable);
    }
    bool empty() const { return !value_; }
    std::int64_t pop() { return *std::exchange(value_, std::nullopt); }

private:
    asio::io_context::executor_type executor_;
    std::optional<std::int64_t> value_;
    std::optional<asio::async_result<asio::use_awaitable_t<>, void()>::handler_type> waits_;
};

class timer_channel {
public:
    explicit timer_channel(asio::io_context& io) : wake_(io) {
        wake_.expires_at(std::chrono::steady_clock::time_point::max());
    }

    void push(std::int64_t n) {
        if (value_) throw wrong_answer("the other one has not popped");
        value_ = n;
        wake_.cancel_one();
    }
    awaitable<void> wait() {
        return wake_.async_wait(asio::redirect_error(use_awaitable, ignored_));
    }
    bool empty() const { return !value_; }
    std::int64_t pop() { return *std::exchange(value_, std::nullopt); }

private:
    asio::steady_timer wake_;
    boost::system::error_code ignored_;
    std::optional<std::int64_t> value_;
};

template <class Channel>
awaitable<void> asks(Channel& to, Channel& from, std::int64_t& sum) {
    for (std::int64_t i = 0; i < exchanges; ++i) {
        to.push(i);
        while (from.empty()) co_await from.wait();
        sum += from.pop();
    }
}

template <class Channel>
awaitable<void> answers(Channel& from, Channel& to) {
    for (int i = 0; i < exchanges; ++i) {
        while (from.empty()) co_await from.wait();
        to.push(from.pop());
    }
}

template <class Channel>
double pingpong() {
    asio::io_context io;
    Channel there(io), back(io);
    std::int64_t sum = 0;
    const double ns = time_ns([&] {
        asio::co_spawn(io, answers(there, back), asio::detached);
        asio::co_spawn(io, asks(there, back, sum), asio::detached);
        io.run();
    });
    check_equal(sum, std::int64_t{exchanges} * (exchanges - 1) / 2, "the sum");
    return ns / exchanges;
}

}  // namespace

void add_asio_pingpong(row& r) {
    r.add("asio", [] { return pingpong<handler_channel>; });
    r.add("asio timer", [] { return pingpong<timer_channel>; });
}

}  // namespace bench::async
