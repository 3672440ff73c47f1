#pragma once
// Pieces of memory that are kept for the next time, taken by many threads at once.

#include "braid/base/policy.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Null: there is none. Only takers run meanwhile: nobody puts back, so that the first node is not
/// one that was taken and put back, and its `next` is the one that was written before the takers
/// began.
template <class Node>
Node* take_spare(atomic<Node*>& first) {
    // relaxed, all: the thread that put the nodes there began the takers.
    Node* node = first.load(relaxed);
    while (node != nullptr) {
        Node* const next = node->next.load(relaxed);
        if (!first.compare_exchange_weak(node, next, relaxed, relaxed)) continue;
        node->next.store(nullptr, relaxed);
        return node;
    }
    return nullptr;
}

}  // namespace detail
BRAID_NAMESPACE_END
