// What is wrong with the frame, in one sentence: it leads the page.
import { frameAnalysis } from "../model/analysis";
import { typeName } from "../model/model";
import { countText, durationText } from "../model/time";
import { useSession, useSessionState } from "./hooks";

export function DiagnosisBar() {
    const session = useSession();
    const { model, frame, analysis, analysisNote, budget, live } = useSessionState();
    if (model === null) return null;
    const { frames } = model;
    const length = frames.end[frame]! - frames.begin[frame]!;
    const said = frameAnalysis(analysis, model.frames, frame);
    const diagnosis = said?.diagnosis ?? null;
    const isOver = frames.marked && length > budget;
    const quiet =
        analysisNote !== ""
            ? analysisNote
            : live !== null
              ? "Seen while it runs. Frames of a capture are explained when braid view opens it."
            : analysis === null
              ? "Open the capture with braid view to have its frames explained."
              : said?.sentence || "The analysis does not know this frame.";
    return (
        <section class="diagnosis">
            <button title="Previous frame (←)" onClick={() => session.selectFrame(frame - 1)}>
                ‹
            </button>
            <button title="Next frame (→)" onClick={() => session.selectFrame(frame + 1)}>
                ›
            </button>
            <span class="frame-name">{frames.marked ? `Frame ${countText(frames.number[frame]!)}` : "Whole capture"}</span>
            <span class={isOver ? "frame-length over" : "frame-length"}>{durationText(length)}</span>
            {diagnosis === null ? (
                <span class="sentence quiet">{quiet}</span>
            ) : (
                <>
                    <span class="sentence">{diagnosis.sentence}</span>
                    {diagnosis.saves > 0 && <span class="saves">would save {durationText(diagnosis.saves)}</span>}
                    <button
                        class="link"
                        title={`Find ${diagnosis.task || typeName(model, diagnosis.type)} in the capture`}
                        onClick={() => session.find(diagnosis.task || typeName(model, diagnosis.type))}
                    >
                        {diagnosis.file === "" ? diagnosis.task : `${diagnosis.file}:${diagnosis.line}`}
                    </button>
                </>
            )}
        </section>
    );
}
