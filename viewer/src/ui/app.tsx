import { useEffect } from "preact/hooks";
import { DiagnosisBar } from "./diagnosis_bar";
import { EmptyPage } from "./empty_page";
import { FrameGraph } from "./frame_graph";
import { Help } from "./help";
import { useSession, useSessionState } from "./hooks";
import { installKeys } from "./keys";
import { Panels } from "./panels";
import { useTheme } from "./theme";
import { TimelinePane } from "./timeline_pane";
import { TopBar } from "./top_bar";

export function App() {
    const session = useSession();
    const state = useSessionState();
    useTheme();
    useEffect(() => installKeys(session), [session]);
    useEffect(() => installDrop((file) => session.openFile(file)), [session]);
    return (
        <div class="page">
            <TopBar />
            {state.model === null ? (
                <EmptyPage />
            ) : (
                <>
                    <DiagnosisBar />
                    <FrameGraph />
                    <TimelinePane />
                    <Panels />
                </>
            )}
            {state.help && <Help />}
        </div>
    );
}

function installDrop(open: (file: File) => void): () => void {
    const over = (event: DragEvent): void => {
        event.preventDefault();
        document.body.classList.add("dropping");
    };
    const leave = (event: DragEvent): void => {
        if (event.relatedTarget === null) document.body.classList.remove("dropping");
    };
    const drop = (event: DragEvent): void => {
        event.preventDefault();
        document.body.classList.remove("dropping");
        const file = event.dataTransfer?.files[0];
        if (file !== undefined) open(file);
    };
    addEventListener("dragover", over);
    addEventListener("dragleave", leave);
    addEventListener("drop", drop);
    return () => {
        removeEventListener("dragover", over);
        removeEventListener("dragleave", leave);
        removeEventListener("drop", drop);
    };
}
