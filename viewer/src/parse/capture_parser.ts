// Reads a capture from bytes that arrive in pieces of any size. Nothing is believed before it is
// looked at, and the first thing that is wrong ends the reading with one sentence.
import {
    captureMagic,
    captureVersion,
    headerBytes,
    isTyped,
    laneKinds,
    recordBytes,
    switchLevels,
    tagOf,
    type LaneKind,
    type SwitchLevel,
} from "./kinds";
import { Payload } from "./payload";
import { RecordColumns } from "./record_columns";

export interface RecordType {
    name: string;
    file: string;
    line: number;
}

export interface ParsedLane {
    name: string;
    kind: LaneKind;
    seat: number;
    /** The system's number, as decimal digits. */
    thread: string;
    /** Null: as the capture's. */
    switches: SwitchLevel | null;
    dropped: number;
    records: RecordColumns;
}

/** The bytes are no capture, or contradict themselves. */
export class CaptureError extends Error {}

const chunkHead = 8;
const strs = tagOf("STRS");
const type = tagOf("TYPE");
const lane = tagOf("LANE");
const evts = tagOf("EVTS");
const clck = tagOf("CLCK");
const info = tagOf("INFO");
const done = tagOf("DONE");

export class CaptureParser {
    readonly types: RecordType[] = [{ name: "", file: "", line: 0 }];
    readonly lanes: ParsedLane[] = [];
    readonly info: [string, string][] = [];
    switches: SwitchLevel = "none";
    /** Milliseconds since 1970. */
    beganAt = 0;
    /** ns; that of the last record until the end of the file has been read. */
    duration = 0;
    records = 0;
    whole = false;

    private readonly strings: string[] = [""];
    private readonly decoder = new TextDecoder();
    /** What has arrived and not been read, from `start` to `filled`. */
    private waiting = new Uint8Array(0);
    private start = 0;
    private filled = 0;
    /** Where in the file `start` is. */
    private position = 0;
    private headed = false;

    /** Throws a CaptureError, after which the parser is of no more use. */
    feed(bytes: Uint8Array): void {
        if (this.whole) return;
        if (this.filled === this.start) {
            // The usual case, a file in large pieces: read where they lie, keep only what is cut off.
            const read = this.consume(bytes);
            this.start = 0;
            this.filled = 0;
            this.keep(bytes.subarray(read));
            return;
        }
        this.keep(bytes);
        this.start += this.consume(this.waiting.subarray(this.start, this.filled));
    }

    /** No more will come. A file that is cut off was read up to the cut; `whole` is then false. */
    finish(): void {
        if (!this.headed) throw new CaptureError("This is not a capture.");
    }

    private keep(bytes: Uint8Array): void {
        if (bytes.length === 0) return;
        const kept = this.filled - this.start;
        if (this.filled + bytes.length > this.waiting.length) {
            const room = new Uint8Array(Math.max((kept + bytes.length) * 2, 4096));
            room.set(this.waiting.subarray(this.start, this.filled));
            this.waiting = room;
            this.start = 0;
            this.filled = kept;
        }
        this.waiting.set(bytes, this.filled);
        this.filled += bytes.length;
    }

    /** How many of the bytes were read. */
    private consume(bytes: Uint8Array): number {
        const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        let at = 0;
        if (!this.headed) {
            // A foreign file is told from its first bytes, however short it is.
            for (let i = 0; i < Math.min(8, bytes.length); ++i) {
                if (bytes[i] !== captureMagic.charCodeAt(i)) throw new CaptureError("This is not a capture.");
            }
            if (bytes.length < headerBytes) return 0;
            this.header(view);
            at = headerBytes;
            this.position = headerBytes;
        }
        while (!this.whole && bytes.length - at >= chunkHead) {
            const size = view.getUint32(at + 4, true);
            if (size > bytes.length - at - chunkHead) break;
            const wrong = this.chunk(view.getUint32(at, true), bytes.subarray(at + chunkHead, at + chunkHead + size));
            if (wrong !== "") throw new CaptureError(`The capture is broken at byte ${this.position}: ${wrong}.`);
            at += chunkHead + size;
            this.position += chunkHead + size;
        }
        return at;
    }

    private header(view: DataView): void {
        const version = view.getUint32(8, true);
        if (version !== captureVersion) {
            throw new CaptureError(
                `This capture has version ${version}, this page reads version ${captureVersion}.`,
            );
        }
        if (view.getUint32(12, true) !== recordBytes) throw new CaptureError("Its records have another size.");
        this.beganAt = Number(view.getBigUint64(16, true) / 1000000n);
        this.headed = true;
    }

    /** Empty, or what is wrong. */
    private chunk(tag: number, bytes: Uint8Array): string {
        const from = new Payload(bytes, this.decoder);
        const wrong = this.read(tag, from);
        if (wrong === "" && from.short) return "a chunk is shorter than what it holds";
        return wrong;
    }

    private read(tag: number, from: Payload): string {
        switch (tag) {
            case strs:
                return this.readStrings(from);
            case type:
                return this.readTypes(from);
            case lane:
                return this.readLane(from);
            case evts:
                return this.readRecords(from);
            case info:
                return this.readInfo(from);
            case clck:
                from.u64();
                from.u64();
                return "";
            case done:
                this.duration = Math.max(this.duration, from.u64());
                this.whole = !from.short;
                return "";
            default:
                return "";
        }
    }

    private readStrings(from: Payload): string {
        const first = from.u32();
        const count = from.u32();
        if (!from.short && first !== this.strings.length) return "strings are not numbered in order";
        for (let i = 0; i < count && !from.short; ++i) this.strings.push(from.text(from.u32()));
        return "";
    }

    private readTypes(from: Payload): string {
        const first = from.u32();
        const count = from.u32();
        if (!from.short && first !== this.types.length) return "types are not numbered in order";
        for (let i = 0; i < count && from.has(16); ++i) {
            const name = this.strings[from.u32()];
            const file = this.strings[from.u32()];
            const line = from.u32();
            from.u32();
            if (name === undefined || file === undefined) return "a type has a name that is not there";
            this.types.push({ name, file, line });
        }
        return "";
    }

    private readLane(from: Payload): string {
        const number = from.u32();
        const name = this.strings[from.u32()];
        const kind = laneKinds[from.u32()];
        const seat = from.u32();
        const thread = from.digits();
        if (from.short) return "";
        // Recorders before did not tell it.
        const switches = from.left() < 8 ? null : (switchLevels[from.u32() - 1] ?? null);
        if (name === undefined) return "a lane has a name that is not there";
        if (kind === undefined) return "a lane is of no known kind";
        // Told again when more is known of it, such as its name.
        if (number > this.lanes.length) return "lanes are not numbered in order";
        const known = this.lanes[number];
        if (known === undefined) {
            this.lanes.push({ name, kind, seat, thread, switches, dropped: 0, records: new RecordColumns() });
        } else {
            Object.assign(known, { name, kind, seat, thread, switches: switches ?? known.switches });
        }
        return "";
    }

    private readRecords(from: Payload): string {
        const number = from.u32();
        const count = from.u32();
        const dropped = from.u64();
        if (from.short) return "";
        const to = this.lanes[number];
        if (to === undefined) return "records are of a lane that is not there";
        if (!from.has(count * recordBytes)) return "";
        to.dropped += dropped;
        const columns = to.records;
        const before = columns.length;
        columns.append(from.view(), from.at, count);
        this.records += count;
        let last = before > 0 ? columns.time[before - 1]! : 0;
        for (let i = before; i < columns.length; ++i) {
            const time = columns.time[i]!;
            if (time < last) return "records are not in order of time";
            last = time;
            if (isTyped(columns.kind[i]!) && columns.aux[i]! >= this.types.length) {
                return "a record is of a type that is not there";
            }
        }
        this.duration = Math.max(this.duration, last);
        return "";
    }

    private readInfo(from: Payload): string {
        const key = this.strings[from.u32()];
        const value = this.strings[from.u32()];
        if (from.short) return "";
        if (key === undefined || value === undefined) return "a fact has a name that is not there";
        if (key === "switches") this.switches = switchLevels.find((level) => level === value) ?? this.switches;
        this.info.push([key, value]);
        return "";
    }
}
