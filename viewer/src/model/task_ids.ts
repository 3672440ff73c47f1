// Which number a task has here, by its id of 64 bits: a table with open addressing, so that a million
// ids cost three arrays. Ids are told as two halves, because a number cannot hold 64 bits.

export interface TaskIds {
    count: number;
    low: Uint32Array;
    high: Uint32Array;
    /** Number of the task plus one, or 0; its length is a power of two. */
    slots: Uint32Array;
}

export const none = -1;

function slotOf(low: number, high: number, mask: number): number {
    let mixed = Math.imul(low ^ Math.imul(high, 0x9e3779b1), 0x85ebca6b);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0xc2b2ae35);
    return (mixed ^ (mixed >>> 13)) & mask;
}

export function makeTaskIds(): TaskIds {
    return { count: 0, low: new Uint32Array(512), high: new Uint32Array(512), slots: new Uint32Array(1024) };
}

/** `none` when the id is 0 or not known. */
export function findTask(ids: TaskIds, low: number, high: number): number {
    if (low === 0 && high === 0) return none;
    const mask = ids.slots.length - 1;
    for (let at = slotOf(low, high, mask); ; at = (at + 1) & mask) {
        const task = ids.slots[at]! - 1;
        if (task < 0) return none;
        if (ids.low[task] === low && ids.high[task] === high) return task;
    }
}

/** As findTask, and adds an id that is not known. */
export function addTask(ids: TaskIds, low: number, high: number): number {
    if (low === 0 && high === 0) return none;
    const mask = ids.slots.length - 1;
    let at = slotOf(low, high, mask);
    for (; ids.slots[at] !== 0; at = (at + 1) & mask) {
        const task = ids.slots[at]! - 1;
        if (ids.low[task] === low && ids.high[task] === high) return task;
    }
    const task = ids.count++;
    if (task === ids.low.length) grow(ids);
    ids.low[task] = low;
    ids.high[task] = high;
    if (ids.count * 2 > ids.slots.length) rehash(ids);
    else ids.slots[at] = task + 1;
    return task;
}

function grow(ids: TaskIds): void {
    const low = new Uint32Array(ids.low.length * 2);
    const high = new Uint32Array(ids.low.length * 2);
    low.set(ids.low);
    high.set(ids.high);
    ids.low = low;
    ids.high = high;
}

function rehash(ids: TaskIds): void {
    ids.slots = new Uint32Array(ids.slots.length * 2);
    const mask = ids.slots.length - 1;
    for (let task = 0; task < ids.count; ++task) {
        let at = slotOf(ids.low[task]!, ids.high[task]!, mask);
        while (ids.slots[at] !== 0) at = (at + 1) & mask;
        ids.slots[at] = task + 1;
    }
}

/** The id as its decimal digits, as the analysis writes them. */
export function idText(ids: TaskIds, task: number): string {
    if (task < 0) return "0";
    return ((BigInt(ids.high[task]!) << 32n) | BigInt(ids.low[task]!)).toString();
}

/** `none` for what is no id of this capture. */
export function findTaskByText(ids: TaskIds, digits: string): number {
    if (!/^\d{1,20}$/.test(digits)) return none;
    const id = BigInt(digits);
    if (id >> 64n !== 0n) return none;
    return findTask(ids, Number(id & 0xffffffffn), Number(id >> 32n));
}
