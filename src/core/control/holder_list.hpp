#pragma once
// The list of a scheduler's code holders; see braid/core/code_holders.hpp.

#include "braid/base/mutex.hpp"
#include "braid/core/code_holders.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

class holder_list {
public:
    void add(code_holder& one) {
        const locked lock(mutex_);
        one.next_ = first_;
        if (first_ != nullptr) first_->before_ = &one;
        first_ = &one;
    }
    void remove(code_holder& one) {
        const locked lock(mutex_);
        (one.before_ != nullptr ? one.before_->next_ : first_) = one.next_;
        if (one.next_ != nullptr) one.next_->before_ = one.before_;
    }
    bool any_runs_code() const {
        const locked lock(mutex_);
        for (const code_holder* one = first_; one != nullptr; one = one->next_) {
            if (one->runs_code()) return true;
        }
        return false;
    }
    void show(code_search& to) const {
        const locked lock(mutex_);
        for (const code_holder* one = first_; one != nullptr; one = one->next_) one->show_code(to);
    }

    void forget(const code_range& code) const {
        const locked lock(mutex_);
        for (code_holder* one = first_; one != nullptr; one = one->next_) one->forget_code(code);
    }

private:
    mutable mutex mutex_;
    code_holder* first_ BRAID_GUARDED_BY(mutex_) = nullptr;
};

}  // namespace detail
BRAID_NAMESPACE_END
