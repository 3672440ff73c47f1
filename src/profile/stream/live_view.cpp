// A live view is a hub, and a server for it.
#include "braid/profile/stream.hpp"

#include "profile/stream/guard.hpp"
#include "profile/stream/hub.hpp"
#include "profile/stream/server.hpp"

#include <algorithm>

BRAID_NAMESPACE_BEGIN
namespace profile {

struct live_view::state {
    state(std::string_view page, const live_options& options)
        : waiting(options.queue_bytes),
          own({{.path = "/", .type = "text/html; charset=utf-8", .bytes = page}}, &waiting, token,
              {.port = options.port,
               .most_clients = options.most_clients,
               .token_within = within_limits(options.token_within),
               .linger = within_limits(options.linger)}) {}

    static std::chrono::milliseconds within_limits(std::chrono::milliseconds time) {
        return std::clamp(time, std::chrono::milliseconds(0), live_options::longest_time);
    }

    const std::string token = make_token();
    hub waiting;
    server own;
    std::atomic<bool> stopped{false};
};

live_view::live_view(std::string_view page, const live_options& options)
    : state_(std::make_unique<state>(page, options)) {}
live_view::~live_view() { stop(); }

status live_view::start() { return state_->own.start(); }

void live_view::stop() {
    // relaxed: a take() that does not see it yet is harmless.
    state_->stopped.store(true, std::memory_order_relaxed);
    state_->own.stop();
}

std::uint16_t live_view::port() const { return state_->own.port(); }

std::string live_view::url() const { return port() == 0 ? "" : live_url(port(), state_->token); }

bool live_view::take(std::span<const std::byte> chunks) {
    // relaxed: see stop().
    if (state_->stopped.load(std::memory_order_relaxed)) return false;
    if (state_->waiting.take(chunks)) state_->own.wake();
    return true;
}

live_view::counts live_view::statistics() const {
    const hub::counts all = state_->waiting.statistics();
    return {all.clients, all.taken, all.sent, all.lost};
}

}  // namespace profile
BRAID_NAMESPACE_END
