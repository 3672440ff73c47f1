// A module whose code others hold: HOLDER_VALUE says which build it is.
#include "host_services.hpp"

#include <braid/reload/export.hpp>
#include <braid/reload/report.hpp>

namespace world {

void run(void* counter) { *static_cast<int*>(counter) += HOLDER_VALUE; }

int value() { return HOLDER_VALUE; }

/// The host keeps a pointer to run().
void keep(host_services& host, int& counter) { host.keep(&run, &counter); }

/// The host waits, on top of this frame.
int wait_within(host_services& host) {
    host.wait();
    return HOLDER_VALUE;
}

void register_job(host_services& host) { host.register_job(&run, "module's job"); }

#define HOLDER_TEXT(value) #value
#define HOLDER_TEXT_OF(value) HOLDER_TEXT(value)

/// Each build has another text.
const char* name_of_work() { return "work of build " HOLDER_TEXT_OF(HOLDER_VALUE); }

braid::reload::report last{};
int reloads = 0;

void reloaded(const braid::reload::report& went) {
    last = went;
    ++reloads;
#if defined(HOLDER_THROWS)
    throw 1;
#endif
}

bool was_reloaded() { return reloads == 1 && last.boundary_ns > 0; }

struct last_words {
    int* counter = nullptr;
    ~last_words() {
        if (counter != nullptr) *counter += HOLDER_VALUE;
    }
};

/// Counts when the calling thread ends.
void count_at_thread_end(int& counter) {
    thread_local last_words words;
    words.counter = &counter;
}

using runner = void(void*);
runner* give_run() { return &run; }

BRAID_RELOAD_EXPORT(value, int())
BRAID_RELOAD_EXPORT(count_at_thread_end, void(int&))
BRAID_RELOAD_EXPORT(give_run, runner*())
BRAID_RELOAD_EXPORT(keep, void(host_services&, int&))
BRAID_RELOAD_EXPORT(wait_within, int(host_services&))
BRAID_RELOAD_EXPORT(register_job, void(host_services&))
BRAID_RELOAD_EXPORT(name_of_work, const char*())
BRAID_RELOAD_EXPORT(was_reloaded, bool())
BRAID_RELOAD_EXPORT(reloaded, void(const braid::reload::report&))

}  // namespace world
