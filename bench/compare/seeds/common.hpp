#pragma once
// What the five documents' designs have in common here: jobs as a function and its data.

#include "driver.hpp"

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace bench::seeds {

struct job {
    void (*function)(void*) = nullptr;
    void* data = nullptr;
    void operator()() const { function(data); }
};

/// `count` threads that run `body(i)` and are joined at the end.
class crew {
public:
    template <class Body>
    crew(unsigned count, Body body) {
        for (unsigned i = 0; i < count; ++i) threads_.emplace_back([body, i] { body(i); });
    }

private:
    std::vector<std::jthread> threads_;
};

}  // namespace bench::seeds
