// Which number a task has here, by its id of 64 bits: a table with open addressing, so that a million
// ids cost three arrays. Ids are told as two halves, because a number cannot hold 64 bits. An id may serve
// several tasks, one after the other (task_lives.ts): then the time tells which one is meant.

export interface TaskIds {
    count: number;
    low: Uint32Array;
    high: Uint32Array;
    /** Number of the task plus one, or 0; its length is a power of two. */
    slots: Uint32Array;
    /** By the first task of an id the others that it served, in order of time, and since when. */
    again: Map<number, { task: number; since: number }[]>;
}

export const none = -1;

function slotOf(low: number, high: number, mask: number): number {
    let mixed = Math.imul(low ^ Math.imul(high, 0x9e3779b1), 0x85ebca6b);
    mixed ^= mixed >>> 15;
    mixed = Math.imul(mixed, 0xc2b2ae35);
    return (mixed ^ (mixed >>> 13)) & mask;
}

export function makeTaskIds(): TaskIds {
    return { count: 0, low: new Uint32Array(512), high: new Uint32Array(512), slots: new Uint32Array(1024), again: new Map() };
}

/** The first task of that id; `none` when the id is 0 or not known. */
export function findId(ids: TaskIds, low: number, high: number): number {
    if (low === 0 && high === 0) return none;
    const mask = ids.slots.length - 1;
    for (let at = slotOf(low, high, mask); ; at = (at + 1) & mask) {
        const task = ids.slots[at]! - 1;
        if (task < 0) return none;
        if (ids.low[task] === low && ids.high[task] === high) return task;
    }
}

/** The task that had that id then. */
export function findTask(ids: TaskIds, low: number, high: number, time: number): number {
    const first = findId(ids, low, high);
    const again = first < 0 || ids.again.size === 0 ? undefined : ids.again.get(first);
    if (again === undefined) return first;
    let [from, to] = [0, again.length];
    while (from < to) {
        const middle = (from + to) >>> 1;
        if (again[middle]!.since <= time) from = middle + 1;
        else to = middle;
    }
    return from === 0 ? first : again[from - 1]!.task;
}

/** Another task of the id of `first`, later than all that it has. */
export function addTaskAgain(ids: TaskIds, first: number, since: number): number {
    const task = append(ids, ids.low[first]!, ids.high[first]!);
    const again = ids.again.get(first);
    if (again === undefined) ids.again.set(first, [{ task, since }]);
    else again.push({ task, since });
    return task;
}

/** As findId, and adds an id that is not known. */
export function addId(ids: TaskIds, low: number, high: number): number {
    if (low === 0 && high === 0) return none;
    const mask = ids.slots.length - 1;
    let at = slotOf(low, high, mask);
    for (; ids.slots[at] !== 0; at = (at + 1) & mask) {
        const task = ids.slots[at]! - 1;
        if (ids.low[task] === low && ids.high[task] === high) return task;
    }
    const task = append(ids, low, high);
    if (ids.count * 2 > ids.slots.length) rehash(ids);
    else ids.slots[at] = task + 1;
    return task;
}

function append(ids: TaskIds, low: number, high: number): number {
    const task = ids.count++;
    if (task === ids.low.length) grow(ids);
    ids.low[task] = low;
    ids.high[task] = high;
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

/** The task that had that id then, at the end where no time is said; `none` for what is no id of this capture. */
export function findTaskByText(ids: TaskIds, digits: string, time = Infinity): number {
    if (!/^\d{1,20}$/.test(digits)) return none;
    const id = BigInt(digits);
    if (id >> 64n !== 0n) return none;
    return findTask(ids, Number(id & 0xffffffffn), Number(id >> 32n), time);
}

/** All of that id, in order of time. */
export function tasksOfText(ids: TaskIds, digits: string): number[] {
    const first = findTaskByText(ids, digits, -1);
    return first < 0 ? [] : [first, ...(ids.again.get(first) ?? []).map(({ task }) => task)];
}
