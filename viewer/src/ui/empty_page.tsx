import { countText } from "../model/time";
import { FileButton } from "./file_button";
import { useSession, useSessionState } from "./hooks";

export function EmptyPage() {
    const session = useSession();
    const { phase, sentence, progress, live } = useSessionState();
    return (
        <main class="empty">
            {phase === "loading" ? (
                <p class="loading">
                    {live !== null ? "Waiting for the program" : "Reading"}
                    {progress > 0 ? ` · ${countText(progress)} records` : "…"}
                </p>
            ) : (
                <>
                    {phase === "failed" && <p class="failure">{sentence}</p>}
                    <p class="lead">Drop a capture here</p>
                    <FileButton label="Open a .braid file…" onFile={(file) => session.openFile(file)} name="first" />
                    <p class="hint">
                        A program writes one with <code>BRAID_CAPTURE=FILE</code>. <code>braid view FILE</code> opens it here together with
                        what is wrong with each frame. Nothing leaves this machine.
                    </p>
                </>
            )}
        </main>
    );
}
