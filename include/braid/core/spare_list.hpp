#pragma once
// This header defines a list of spare pieces of memory that are kept for reuse. Many threads may
// take pieces from the list at the same time.

#include "braid/base/policy.hpp"

BRAID_NAMESPACE_BEGIN
namespace detail {

/// Takes the first node of the list, or returns null if the list is empty. While threads take
/// nodes, no thread may put nodes back. Therefore no node can be taken, put back and seen as the
/// first node again (no ABA problem), and the `next` of each node in the list is unchanged since
/// the list was filled.
template <class Node>
Node* take_spare(atomic<Node*>& first) {
    // relaxed, throughout: the list is filled before the threads that take from it are started, and
    // the start of a thread makes the list visible to that thread.
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
