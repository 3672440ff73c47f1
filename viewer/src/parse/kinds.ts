// The numbers of the file, as include/braid/profile/capture.hpp has them.

// ---- scripts/kinds.py writes this
export const RecordKind = {
    spawned: 1,
    edge: 2,
    ready: 3,
    started: 4,
    ended: 5,
    completed: 6,
    cancelled: 7,
    waitBegin: 8,
    waitEnd: 9,
    stolen: 10,
    searching: 11,
    parked: 12,
    unparked: 13,
    eventSet: 14,
    eventTaken: 15,
    acquired: 16,
    released: 17,
    forked: 18,
    joined: 19,
    jobStarted: 20,
    jobEnded: 21,
    frameBegin: 32,
    frameEnd: 33,
    scopeBegin: 34,
    scopeEnd: 35,
    counter: 36,
    switchedOut: 37,
    switchedIn: 38,
    switches: 39,
    deferred: 40,
    settled: 41,
    suspended: 42,
    resumed: 43,
} as const;
// ---- as far as here

export const SpawnFlag = { priority: 3, restricted: 4, background: 8 } as const;
export const EndFlag = { failed: 1, switched: 2 } as const;
export const SwitchFlag = { preempted: 1 } as const;

export const noCore = 0xffff;
export const noSeat = 0xffffffff;
export const recordBytes = 32;
export const headerBytes = 32;
export const captureVersion = 1;
export const captureMagic = "BRAIDCAP";

export const laneKinds = ["other", "worker", "main", "reserve", "background", "guest", "device"] as const;
export type LaneKind = (typeof laneKinds)[number];

export const switchLevels = ["none", "flag", "count", "exact"] as const;
export type SwitchLevel = (typeof switchLevels)[number];

/** Kinds whose `aux` is the number of a type. */
export function isTyped(kind: number): boolean {
    return (
        kind === RecordKind.spawned ||
        kind === RecordKind.started ||
        kind === RecordKind.acquired ||
        kind === RecordKind.released ||
        (kind >= RecordKind.frameBegin && kind <= RecordKind.counter)
    );
}

export function tagOf(text: string): number {
    return (
        (text.charCodeAt(0) | (text.charCodeAt(1) << 8) | (text.charCodeAt(2) << 16) | (text.charCodeAt(3) << 24)) >>> 0
    );
}
