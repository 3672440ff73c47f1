import { useRef } from "preact/hooks";

export function FileButton({ label, onFile, name = "open" }: { label: string; onFile(file: File): void; name?: string }) {
    const input = useRef<HTMLInputElement>(null);
    return (
        <>
            <button onClick={() => input.current?.click()}>{label}</button>
            <input
                ref={input}
                type="file"
                hidden
                class={`file-${name}`}
                accept=".braid,application/octet-stream"
                onChange={(event) => {
                    const file = event.currentTarget.files?.[0];
                    if (file !== undefined) onFile(file);
                    // The same file may be chosen again.
                    event.currentTarget.value = "";
                }}
            />
        </>
    );
}
