#include "live.hpp"

#ifdef ARENA_HAS_LIVE
#include <fmt/core.h>
#include <braid/profile/stream.hpp>
#include <braid/profile/viewer_page.hpp>
#endif

#include <cstdio>
#include <stdexcept>

namespace arena::host {

#ifdef ARENA_HAS_LIVE

bool live_page::is_there() { return true; }

struct live_page::state {
    braid::profile::live_view view{braid::profile::viewer_page()};
};

live_page::live_page() : state_(std::make_unique<state>()) {
    if (const braid::status went = state_->view.start(); !went) {
        throw std::runtime_error(went.text + ".");
    }
    fmt::print("Live at {}\n", state_->view.url());
    std::fflush(stdout);  // somebody wants to open it now
}

live_page::~live_page() {
    state_->view.stop();
    const braid::profile::live_view::counts all = state_->view.statistics();
    fmt::print("Live: {} bytes recorded, {} sent, {} lost by slow pages\n", all.taken, all.sent,
               all.lost);
}

braid::profile::capture_sink* live_page::sink() { return &state_->view; }

#else

struct live_page::state {};
bool live_page::is_there() { return false; }
live_page::live_page() { throw std::logic_error("--live is not in this build."); }
live_page::~live_page() = default;
braid::profile::capture_sink* live_page::sink() { return nullptr; }

#endif

}  // namespace arena::host
