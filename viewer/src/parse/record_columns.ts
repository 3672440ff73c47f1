// The records of one lane as columns that grow: a million records are nine arrays, not a million objects.

type Column = Float64Array | Uint32Array | Uint16Array | Uint8Array;

function grown<T extends Column>(column: T, make: new (length: number) => T, length: number): T {
    const wider = new make(length);
    wider.set(column);
    return wider;
}

export class RecordColumns {
    length = 0;
    time = new Float64Array(0);
    taskLow = new Uint32Array(0);
    taskHigh = new Uint32Array(0);
    otherLow = new Uint32Array(0);
    otherHigh = new Uint32Array(0);
    aux = new Uint32Array(0);
    core = new Uint16Array(0);
    kind = new Uint8Array(0);
    flags = new Uint8Array(0);

    reserve(more: number): void {
        const wanted = this.length + more;
        if (wanted <= this.time.length) return;
        const room = Math.max(wanted, this.time.length * 2, 256);
        this.time = grown(this.time, Float64Array, room);
        this.taskLow = grown(this.taskLow, Uint32Array, room);
        this.taskHigh = grown(this.taskHigh, Uint32Array, room);
        this.otherLow = grown(this.otherLow, Uint32Array, room);
        this.otherHigh = grown(this.otherHigh, Uint32Array, room);
        this.aux = grown(this.aux, Uint32Array, room);
        this.core = grown(this.core, Uint16Array, room);
        this.kind = grown(this.kind, Uint8Array, room);
        this.flags = grown(this.flags, Uint8Array, room);
    }

    /** Takes over `count` records that lie at `at`; the caller has looked that they are there. */
    append(from: DataView, at: number, count: number): void {
        this.reserve(count);
        for (let i = 0; i < count; ++i, at += 32) {
            const to = this.length + i;
            // Exact up to 2^53 ns, which are 104 days.
            this.time[to] = from.getUint32(at, true) + from.getUint32(at + 4, true) * 4294967296;
            this.taskLow[to] = from.getUint32(at + 8, true);
            this.taskHigh[to] = from.getUint32(at + 12, true);
            this.otherLow[to] = from.getUint32(at + 16, true);
            this.otherHigh[to] = from.getUint32(at + 20, true);
            this.aux[to] = from.getUint32(at + 24, true);
            this.core[to] = from.getUint16(at + 28, true);
            this.kind[to] = from.getUint8(at + 30);
            this.flags[to] = from.getUint8(at + 31);
        }
        this.length += count;
    }
}
