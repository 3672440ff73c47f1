// The payload of a chunk, from the front. What is not there reads as 0, and `short` says so.

export class Payload {
    short = false;
    at = 0;
    private readonly data: DataView;

    constructor(
        private readonly bytes: Uint8Array,
        private readonly decoder: TextDecoder,
    ) {
        this.data = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    }

    has(size: number): boolean {
        this.short ||= size > this.bytes.length - this.at;
        return !this.short;
    }

    left(): number {
        return this.bytes.length - this.at;
    }

    u32(): number {
        if (!this.has(4)) return 0;
        this.at += 4;
        return this.data.getUint32(this.at - 4, true);
    }

    /** Exact up to 2^53. */
    u64(): number {
        if (!this.has(8)) return 0;
        this.at += 8;
        return this.data.getUint32(this.at - 8, true) + this.data.getUint32(this.at - 4, true) * 4294967296;
    }

    /** A u64 as decimal digits. */
    digits(): string {
        if (!this.has(8)) return "0";
        this.at += 8;
        return this.data.getBigUint64(this.at - 8, true).toString();
    }

    text(size: number): string {
        if (!this.has(size)) return "";
        this.at += size;
        return this.decoder.decode(this.bytes.subarray(this.at - size, this.at));
    }

    view(): DataView {
        return this.data;
    }
}
