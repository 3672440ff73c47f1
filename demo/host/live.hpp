// A browser may watch the run; where the demo was built with it.
#pragma once

#include "options.hpp"

#include <memory>

namespace arena::host {

class live_page {
public:
    static bool is_there();

    /// Prints the address. Throws when no port is free.
    live_page();
    /// Tells how much was sent.
    ~live_page();
    live_page(const live_page&) = delete;
    live_page& operator=(const live_page&) = delete;

    braid::profile::capture_sink* sink();

private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace arena::host
