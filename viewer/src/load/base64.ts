// Decodes base64 piece by piece, so that no second copy of a long text is made.

const piece = 4 * 65536;

export function* bytesOfBase64(text: string): Generator<Uint8Array> {
    let rest = "";
    for (let at = 0; at < text.length; at += piece) {
        const clean = rest + text.slice(at, at + piece).replace(/\s+/g, "");
        const whole = at + piece >= text.length ? clean.length : clean.length - (clean.length % 4);
        rest = clean.slice(whole);
        let binary: string;
        try {
            binary = atob(clean.slice(0, whole));
        } catch {
            throw new Error("what the page holds is not base64");
        }
        const bytes = new Uint8Array(binary.length);
        for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
        yield bytes;
    }
}
