// Writes captures for tests, byte by byte as docs/design/profile.md says.

export interface TestRecord {
    time: number;
    task?: bigint;
    other?: bigint;
    aux?: number;
    core?: number;
    kind: number;
    flags?: number;
}

export class CaptureBytes {
    private parts: Uint8Array[] = [];
    private strings = new Map<string, number>();
    private types = 1;
    private readonly encoder = new TextEncoder();

    header(version = 1, recordBytes = 32, magic = "BRAIDCAP"): this {
        const view = new DataView(new ArrayBuffer(32));
        for (let i = 0; i < 8; ++i) view.setUint8(i, magic.charCodeAt(i));
        view.setUint32(8, version, true);
        view.setUint32(12, recordBytes, true);
        view.setBigUint64(16, 1_700_000_000_000_000_000n, true);
        return this.raw(new Uint8Array(view.buffer));
    }

    raw(bytes: Uint8Array): this {
        this.parts.push(bytes);
        return this;
    }

    chunk(tag: string, payload: Uint8Array): this {
        const padded = Math.ceil(payload.length / 8) * 8;
        const bytes = new Uint8Array(8 + padded);
        for (let i = 0; i < 4; ++i) bytes[i] = tag.charCodeAt(i);
        new DataView(bytes.buffer).setUint32(4, padded, true);
        bytes.set(payload, 8);
        return this.raw(bytes);
    }

    numbers(tag: string, ...values: number[]): this {
        return this.chunk(tag, new Uint8Array(Uint32Array.from(values).buffer));
    }

    string(text: string): number {
        if (text === "") return 0;
        const known = this.strings.get(text);
        if (known !== undefined) return known;
        const number = this.strings.size + 1;
        this.strings.set(text, number);
        const encoded = this.encoder.encode(text);
        const payload = new Uint8Array(12 + encoded.length);
        const view = new DataView(payload.buffer);
        view.setUint32(0, number, true);
        view.setUint32(4, 1, true);
        view.setUint32(8, encoded.length, true);
        payload.set(encoded, 12);
        this.chunk("STRS", payload);
        return number;
    }

    type(name: string, file = "", line = 0): number {
        const [nameString, fileString] = [this.string(name), this.string(file)];
        this.numbers("TYPE", this.types, 1, nameString, fileString, line, 0);
        return this.types++;
    }

    /** `switches`: the number of the level plus one; left out, as recorders did before. */
    lane(number: number, name: string, kind: number, seat = 0xffffffff, switches = 0): this {
        const nameString = this.string(name);
        const known = switches === 0 ? [] : [switches, 0];
        return this.numbers("LANE", number, nameString, kind, seat, 4000 + number, 0, ...known);
    }

    info(key: string, value: string): this {
        const keyString = this.string(key);
        return this.numbers("INFO", keyString, this.string(value));
    }

    records(lane: number, records: TestRecord[], dropped = 0, claimed = records.length): this {
        const payload = new Uint8Array(16 + records.length * 32);
        const view = new DataView(payload.buffer);
        view.setUint32(0, lane, true);
        view.setUint32(4, claimed, true);
        view.setBigUint64(8, BigInt(dropped), true);
        records.forEach((record, i) => {
            const at = 16 + i * 32;
            view.setBigUint64(at, BigInt(Math.round(record.time)), true);
            view.setBigUint64(at + 8, record.task ?? 0n, true);
            view.setBigUint64(at + 16, record.other ?? 0n, true);
            view.setUint32(at + 24, record.aux ?? 0, true);
            view.setUint16(at + 28, record.core ?? 0xffff, true);
            view.setUint8(at + 30, record.kind);
            view.setUint8(at + 31, record.flags ?? 0);
        });
        return this.chunk("EVTS", payload);
    }

    done(duration: number): this {
        return this.chunk("DONE", new Uint8Array(BigUint64Array.of(BigInt(Math.round(duration))).buffer));
    }

    bytes(): Uint8Array<ArrayBuffer> {
        const whole = new Uint8Array(this.parts.reduce((sum, part) => sum + part.length, 0));
        let at = 0;
        for (const part of this.parts) {
            whole.set(part, at);
            at += part.length;
        }
        return whole;
    }
}

/** The bits of a double, as a counter record holds them. */
export function bitsOf(value: number): bigint {
    const view = new DataView(new ArrayBuffer(8));
    view.setFloat64(0, value, true);
    return view.getBigUint64(0, true);
}
