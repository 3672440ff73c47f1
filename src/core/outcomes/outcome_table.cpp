#include "core/outcomes/outcome_table.hpp"

#include "braid/core/error.hpp"

#include <cstdio>
#include <new>
#include <utility>

BRAID_NAMESPACE_BEGIN

const char* task_cancelled::what() const noexcept { return "braid: the task was cancelled"; }
const char* task_failed::what() const noexcept {
    return "braid: what the task waits for had failed before";
}
const char* broken_promise::what() const noexcept {
    return "braid: the task ended without a value";
}

namespace detail {

namespace {

/// Writes the exception's text as ": '…'", or "" if it has none. Cuts a text that is too long.
/// Replaces line ends and quotes in the text, so that all of it is between the quotes on one line:
/// messages that differ only between their quotes are of one kind (see standard_error).
void words_of([[maybe_unused]] const std::exception_ptr& error, char* to,
              [[maybe_unused]] std::size_t room) {
    to[0] = '\0';
#if BRAID_HAS_EXCEPTIONS
    try {
        std::rethrow_exception(error);
    } catch (const std::exception& e) {
        std::snprintf(to, room - 1, ": '%s", e.what());
        char* at = to + 3;
        for (; *at != '\0'; ++at) {
            if (*at == '\'') *at = '"';
            if (static_cast<unsigned char>(*at) < ' ') *at = ' ';
        }
        at[0] = '\'';
        at[1] = '\0';
    } catch (...) {  // an exception of an unknown type has no text
    }
#endif
}

}  // namespace

outcome* outcome_table::make(std::exception_ptr error, const char* task) {
    void* bytes = memory_.allocate(sizeof(outcome), alignof(outcome), memory_tag::detail);
    if (bytes == nullptr) return nullptr;
    auto* result = ::new (bytes) outcome;
    result->error = std::move(error);
    result->task = task != nullptr ? task : "";
    return result;
}

outcome* outcome_table::share(outcome* result) {
    const locked lock(mutex_);
    ++result->references;
    return result;
}

void outcome_table::drop(outcome* result) {
    if (result == nullptr) return;
    {
        const locked lock(mutex_);
        if (--result->references != 0) return;
    }
    if (result->error != nullptr && !result->observed) {
        report_unobserved(result->task, result->error);
    }
    result->~outcome();
    memory_.release(result, sizeof(outcome), alignof(outcome), memory_tag::detail);
}

outcome* outcome_table::take(const slot& s) {
    const locked lock(mutex_);
    detail_block* const d = details_.find(s);
    return d != nullptr ? std::exchange(d->result, nullptr) : nullptr;
}

outcome* outcome_table::share(const slot& s) {
    outcome* const result = find(s);
    return result != nullptr ? share(result) : nullptr;
}

outcome* outcome_table::find(const slot& s) {
    const locked lock(mutex_);
    const detail_block* d = details_.find(s);
    if (d != nullptr && d->result != nullptr) return d->result;
    // A task that failed without memory for its outcome counts as cancelled.
    return s.has(flag_failed) ? &unrecorded_ : nullptr;
}

void outcome_table::adopt(details_part& own, std::uint32_t index, outcome* result,
                          std::uint32_t ordinal) {
    slot& s = slots_.at(index);
    outcome* loser = result;
    const bool with_error = result->error != nullptr;
    {
        const locked lock(mutex_);
        detail_block* d = details_.make(own, s);
        const auto wins = [&](const outcome& other) {
            const bool has_error = result->error != nullptr;
            if (has_error != (other.error != nullptr)) return has_error;
            return ordinal < d->result_ordinal;
        };
        if (d != nullptr && (d->result == nullptr || wins(*d->result))) {
            loser = d->result;
            d->result = result;
            d->result_ordinal = ordinal;
        }
        const std::uint16_t flags = with_error ? flag_failed | flag_error : flag_failed;
        if (d != nullptr) {
            s.mark(flags);
        } else {
            mark_unrecorded(s, flags);  // drop() reports the failure to the handler
        }
    }
    drop(loser);
}

void outcome_table::mark_unrecorded(slot& s, std::uint16_t flags) {
    s.mark(flags);
    // For speed, the thread that ends the body of a plain task does not check the flags. It does
    // check whether somebody waits for the task.
    (void)mark_waited(s.successors, s.generation());
}

outcome* outcome_table::take_failure(slot& s) {
    const locked lock(mutex_);
    s.flags.fetch_and(static_cast<std::uint16_t>(~failure_flags), relaxed);
    detail_block* const d = details_.find(s);
    return d != nullptr ? std::exchange(d->result, nullptr) : nullptr;
}

outcome* outcome_table::end(details_part& own, slot& s) {
    outcome* result = nullptr;
    const std::uint32_t block = s.detail.load(relaxed);
    if (block != no_index) {
        const locked lock(mutex_);
        result = std::exchange(details_.find(s)->result, nullptr);
        // The block is removed from the slot under the lock. So a thread that reads an outcome
        // never finds a block that another task has by then.
        s.detail.store(no_index, relaxed);
    }
    details_.free(own, block);
    return result;
}

void outcome_table::cancel_with(details_part& own, std::uint32_t index, task_id predecessor) {
    slot& s = slots_.at(index);
    s.mark(flag_cancel);
    outcome* result = nullptr;
    {
        const locked lock(mutex_);
        const detail_block* const d = details_.find(slots_.at(predecessor));
        // failure_of() is called after the block was read: if the slot still belongs to the
        // predecessor then, the block does, too.
        if (d != nullptr && slots_.failure_of(predecessor) != 0) result = d->result;
        if (result != nullptr) ++result->references;
    }
    if (result == nullptr) {
        const std::uint16_t failure = slots_.failure_of(predecessor);
        const bool threw = failure == 0 || (failure & flag_error) != 0;
        result = make(threw ? std::make_exception_ptr(task_failed{}) : nullptr, s.name);
        if (result == nullptr) return;  // the task ends as one that was cancelled
        // The original exception was delivered before, and its receivers have reported it.
        result->observed = result->stands_in = true;
    }
    // UINT32_MAX is the highest ordinal, so the outcome replaces no error that the task has
    // received itself.
    adopt(own, index, result, UINT32_MAX);
}

std::exception_ptr outcome_table::take_error(outcome* result) {
    if (result == nullptr) return nullptr;
    std::exception_ptr error;
    {
        const locked lock(mutex_);
        result->observed = true;
        error = result->error;
    }
    drop(result);
    return error;
}

void outcome_table::raise(outcome* result) {
    if (result == nullptr) return;
    [[maybe_unused]] const char* task = result->task;
    const std::exception_ptr error = take_error(result);
#if BRAID_HAS_EXCEPTIONS
    if (error != nullptr) std::rethrow_exception(error);
    throw task_cancelled{};
#else
    if (error != nullptr) {
        report_.log(log_level::error,
                    "%s: task '%s' threw; this build has no exceptions to forward it",
                    options_.name, task);
        std::terminate();
    }
#endif
}

void outcome_table::report_unobserved(const char* task, std::exception_ptr error) {
    unobserved_.fetch_add(1, relaxed);
    if (options_.unobserved_exception.function != nullptr) {
        options_.unobserved_exception.function(options_.unobserved_exception.user, task,
                                               std::move(error));
    } else {
        char words[256];
        words_of(error, words, sizeof words);
        report_.log(log_level::error, "%s: task '%s' threw and nobody was left to receive it%s",
                    options_.name, task, words);
    }
}

void outcome_table::offer(outcome& result, std::exception_ptr& place) {
    const locked lock(mutex_);
    const bool taken = result.observed && !result.stands_in;
    if (place != nullptr || result.error == nullptr || taken) return;
    place = result.error;
    result.observed = true;
}

std::exception_ptr outcome_table::take_offered(std::exception_ptr& place) {
    const locked lock(mutex_);
    return std::exchange(place, nullptr);
}

}  // namespace detail
BRAID_NAMESPACE_END
