// A program that has an event loop already, here that of Boost.Asio: its handlers complete what
// coroutines await.
#include <braid/async.hpp>
#include <braid/braid.hpp>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

namespace asio = boost::asio;

namespace {

/// The loop has a thread of its own, and ends when nobody asks it any more.
class network {
public:
    explicit network(braid::scheduler& scheduler)
        : scheduler_(scheduler), thread_([this] { loop_.run(); }) {}
    ~network() {
        open_.reset();
        thread_.join();
    }

    /// The answer comes on the loop's thread. A coroutine that is cancelled does not wait for it,
    /// so the handler owns what it writes to.
    braid::co<int> ask(int question) {
        const auto answer = std::make_shared<int>();
        const braid::completion_id came = braid::this_task::defer({.name = "answer"});
        asio::steady_timer wire(loop_, std::chrono::milliseconds(2));
        wire.async_wait([=, this](const boost::system::error_code& trouble) {
            *answer = question * 2;
            scheduler_.complete(came, {.code = trouble.value()});
        });
        co_await came.task();
        co_return *answer;
    }

private:
    braid::scheduler& scheduler_;
    asio::io_context loop_{1};
    asio::executor_work_guard<asio::io_context::executor_type> open_ = asio::make_work_guard(loop_);
    std::thread thread_;
};

braid::co<int> sum_of_answers(network& from) {
    int sum = 0;
    for (int i = 1; i <= 3; ++i) sum += co_await from.ask(i);
    co_return sum;
}

}  // namespace

int main() {
    braid::scheduler scheduler;
    network far(scheduler);
    const int sum =
        braid::co_spawn(scheduler, {.name = "sum of answers"}, sum_of_answers(far)).get();
    std::printf("sum of the answers: %d\n", sum);
    return sum == 12 ? 0 : 1;
}
