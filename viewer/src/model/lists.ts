// A list for each task, packed into two arrays.
import type { Lists } from "./model";

/** `from[i]` gets `to[i]` into its list; pairs with a negative end are left out. Lists keep the order. */
export function makeLists(owners: number, from: Int32Array, to: Int32Array, count: number): Lists {
    const start = new Uint32Array(owners + 1);
    for (let i = 0; i < count; ++i) if (from[i]! >= 0 && to[i]! >= 0) start[from[i]! + 1]!++;
    for (let i = 0; i < owners; ++i) start[i + 1]! += start[i]!;
    const items = new Uint32Array(start[owners]!);
    const next = start.slice(0, owners);
    for (let i = 0; i < count; ++i) if (from[i]! >= 0 && to[i]! >= 0) items[next[from[i]!]!++] = to[i]!;
    return { start, items };
}

export function listOf(lists: Lists, owner: number): Uint32Array {
    if (owner < 0) return new Uint32Array(0);
    return lists.items.subarray(lists.start[owner]!, lists.start[owner + 1]!);
}
