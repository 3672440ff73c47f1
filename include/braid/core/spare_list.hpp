#pragma once
// A list of spare pieces of memory that are kept for reuse. Many threads may take from it at once.

#include "braid/base/policy.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Takes the first node of the list, or returns null if the list is empty. While threads take
/// nodes, no thread may put nodes back. So the first node cannot be one that was taken and put
/// back, and its `next` is the one that was written before the takers began.
template <class Node>
Node* take_spare(atomic<Node*>& first) {
    // relaxed, all: the thread that filled the list also started the takers.
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
