#pragma once
// What the handler for misuse got last, and how often.

#include <braid/base/handlers.hpp>

#include <string>

namespace braid_test {

struct misuse {
    std::string text;
    int count = 0;
    braid::assertion_handler handler() {
        return {[](void* user, const char*, const char* what, const char*, int) {
                    auto& self = *static_cast<misuse*>(user);
                    self.text = what;
                    ++self.count;
                },
                this};
    }
};

}  // namespace braid_test
